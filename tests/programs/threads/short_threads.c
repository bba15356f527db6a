// Threads that come, launch a little and go, four at a time: short_threads [THREADS [LAUNCHES-EACH
// [measure]]]. With the last it says how much shared memory there is at the end, MiB.
// link: amdhip64
#include "launching.h"
#include <pthread.h>

static hipFunction_t f;
static unsigned long launches = 3;

static void *launch_some(void *number)
{
    for (unsigned long i = 1; i <= launches; i++)
        if (hipModuleLaunchKernel(f, i, 1 + (unsigned long)number, 1, 32, 1, 1, 0, NULL, NULL, NULL))
            __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 400;
    launches = argc > 2 ? strtoul(argv[2], NULL, 10) : launches;
    pthread_t ids[4];
    f = kernel("brief");
    for (unsigned long t = 0; t < threads; t++) {
        if (t >= 4)
            pthread_join(ids[t % 4], NULL);
        pthread_create(&ids[t % 4], NULL, launch_some, (void *)t);
    }
    for (unsigned long t = 0; t < 4 && t < threads; t++)
        pthread_join(ids[t], NULL);
    printf("threads %lu, launches %lu, failed %d\n", threads, threads * launches, failed);
    if (argc > 3)
        printf("shared %ld\n", status_of("RssShmem") / 1024);
    return 0;
}
