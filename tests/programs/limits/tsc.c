// Disables RDTSC for itself: before its first launch, or after; in one thread, while others keep
// launching. tsc before|after|thread
// link: amdhip64
#include "launching.h"
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static hipFunction_t f;
static int stop;

static void *launches(void *forbids)
{
    launch(f, 100);
    if (forbids && prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
        failed++;
    for (int i = 0; i < 200 && (forbids || !__atomic_load_n(&stop, __ATOMIC_RELAXED)); i++, usleep(100))
        launch(f, 100);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "after";
    pthread_t threads[2];
    if (!strcmp(when, "before") && prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
        return printf("cannot be forbidden\n"), 0;
    f = kernel("without_the_counter");
    launch(f, 1000);
    usleep(strcmp(when, "after") ? 0 : 20000);
    if (!strcmp(when, "thread")) {
        pthread_create(&threads[0], NULL, launches, NULL);
        pthread_create(&threads[1], NULL, launches, &stop);
        pthread_join(threads[1], NULL);
        __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
        pthread_join(threads[0], NULL);
    } else {
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    }
    launch(f, 1000);
    launch(kernel("later"), 1000);
    printf("failed %d\n", failed);
    return 0;
}
