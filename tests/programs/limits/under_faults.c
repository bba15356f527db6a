// Three threads launch at once, twice, with a pause between; then a child of this process does, and
// the process itself, repeatedly, more in all than a small ring holds. It prints what its calls
// returned and whether errno was kept.
// link: amdhip64
#include "launching.h"
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, LAUNCHES = 400, ROUNDS = 5, PAUSE_US = 15000 };

static hipFunction_t f;
static int changed; // times that errno was changed

static void *work(void *arg)
{
    for (int i = 0; i < LAUNCHES; i++) {
        errno = 77;
        launch(f, 1);
        if (errno != 77)
            __atomic_add_fetch(&changed, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

static void together(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int end(const char *who)
{
    printf("%s: failed %d, errno changed %d\n", who, failed, changed);
    fflush(stdout);
    return 5 + failed + changed;
}

int main(void)
{
    int status = 0;
    errno = 77;
    f = kernel("under_faults");
    changed += errno != 77;
    together();
    usleep(PAUSE_US);
    together();
    pid_t child = fork();
    if (!child) {
        together();
        exit(end("child"));
    }
    waitpid(child, &status, 0);
    printf("the child ended with %d\n", status);
    for (int i = 0; i < ROUNDS; i++) {
        work(NULL);
        usleep(PAUSE_US);
    }
    return end("parent");
}
