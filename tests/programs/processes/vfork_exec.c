// Launches, then starts itself by vfork and exec, many times over, while a thread launches.
// link: amdhip64
#include "launching.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static hipFunction_t f;
static int stop;

static void *launches(void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        launch(f, 100);
    return arg;
}

int main(int argc, char **argv)
{
    int status;
    volatile int well = 0; // across vfork
    pthread_t thread;
    f = kernel(argc > 1 ? "by_child" : "by_parent");
    launch(f, 10);
    if (argc > 1)
        return failed;
    pthread_create(&thread, NULL, launches, NULL);
    for (int i = 0; i < 10; i++) {
        pid_t pid = vfork();
        if (!pid) {
            execl("/proc/self/exe", argv[0], "child", NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
        well += WIFEXITED(status) && !WEXITSTATUS(status);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    launch(f, 10);
    printf("children that ended well %d, failed %d\n", well, failed);
    return failed;
}
