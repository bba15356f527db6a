// A program with many threads that have launched, for the section memory of scripts/bench.
//   resident THREADS LAUNCHES REST_MS
//
// Each of THREADS threads launches ten times; then, all at once and without a pause, LAUNCHES
// times. It prints what the process has resident and mapped, in KiB, at each point after REST_MS of
// rest, except just after the burst:
//
//   bare RSS MAPPED       no thread has begun
//   idle RSS MAPPED       each has launched ten times
//   burst RSS MAPPED      at the end of the burst
//   rest RSS MAPPED       after it, and the rest
//   events N              what a tracer must have recorded
#include "code_object.h"
#include "hip.h"
#include "status.h"
#include <pthread.h>
#include <unistd.h>

static hipFunction_t f;
static int launches;
static pthread_barrier_t all_here;

static void report(const char *what) { printf("%s %ld %ld\n", what, status_of("VmRSS"), status_of("VmSize")); }

static void launch(int times)
{
    for (int i = 0; i < times; i++)
        hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void *work(void *arg)
{
    launch(10);
    pthread_barrier_wait(&all_here); // idle
    pthread_barrier_wait(&all_here); // the burst begins
    launch(launches);
    pthread_barrier_wait(&all_here); // and ends
    pthread_barrier_wait(&all_here);
    return arg;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, rest_us = (argc > 3 ? atoi(argv[3]) : 3000) * 1000;
    struct co_kernel k = {"of_many_threads", ""};
    hipModule_t module;
    pthread_attr_t attributes;
    launches = argc > 2 ? atoi(argv[2]) : 1000;
    pthread_t *ids = calloc(threads, sizeof *ids);
    pthread_barrier_init(&all_here, NULL, threads + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    report("bare");
    if (hipModuleLoadData(&module, co_module(&k, 1)) || hipModuleGetFunction(&f, module, k.name))
        return 1;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], &attributes, work, NULL))
            return 2;
    pthread_barrier_wait(&all_here);
    usleep(rest_us);
    report("idle");
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&all_here);
    report("burst");
    usleep(rest_us);
    report("rest");
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("events %d\n", 1 + threads * (10 + launches));
    return 0;
}
