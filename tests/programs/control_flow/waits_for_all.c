// One thread blocks all signals and waits for any, by the system call, which knows those that the C
// library keeps for itself; another launches, rests for longer than a collector needs to become
// idle, and launches again.
// link: amdhip64
#include "launching.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is_over, received;

static void *waits(void *arg)
{
    unsigned long all = ~0ul;
    struct timespec moment = {0, 20000000};
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        received += syscall(SYS_rt_sigtimedwait, &all, NULL, &moment, sizeof all) > 0;
    return arg;
}

int main(void)
{
    pthread_t thread;
    hipFunction_t f = kernel("beside_one_that_waits");
    pthread_create(&thread, NULL, waits, NULL);
    launch(f, 1000);
    usleep(1500000);
    launch(f, 1000);
    usleep(100000);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("received %d, failed %d\n", received, failed);
    return 0;
}
