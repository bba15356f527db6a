// Very many threads alive at once, each of which has launched: many_alive [THREADS]. `many_alive
// THREADS measure` says besides what they take: MiB of memory and shared memory, open files.
// link: amdhip64
#include "launching.h"
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

static hipFunction_t f;
static pthread_barrier_t all_have, all_may_go;

static void *launches(void *arg)
{
    launch(f, 3);
    pthread_barrier_wait(&all_have);
    pthread_barrier_wait(&all_may_go);
    launch(f, 3);
    return arg;
}

static int files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n - 3; // itself, . and ..
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2000, started = 0;
    pthread_t *ids = calloc(threads, sizeof *ids);
    pthread_attr_t attr;
    f = kernel("of_many");
    pthread_barrier_init(&all_have, NULL, threads + 1);
    pthread_barrier_init(&all_may_go, NULL, threads + 1);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 128 * 1024);
    for (int t = 0; t < threads; t++)
        started += !pthread_create(&ids[t], &attr, launches, NULL);
    if (started != threads)
        return printf("only %d threads\n", started), 2;
    pthread_barrier_wait(&all_have);
    if (argc > 2)
        printf("MiB %ld, shared %ld, files %d\n", status_of("VmRSS") / 1024, status_of("RssShmem") / 1024, files());
    pthread_barrier_wait(&all_may_go);
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    printf("threads %d, failed %d\n", threads, failed);
    return 0;
}
