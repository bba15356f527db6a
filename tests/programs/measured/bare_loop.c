// The cost of a launch: bare_loop [LAUNCHES [BURST [THREADS [module|stub]]]] times bursts and
// prints ns per launch.
// link: amdhip64
// kernel: 0 by_stub by_stub -
#include "code_object.h"
#include "bare_loop.fatbin.h"
#include <pthread.h>
#include <time.h>

static unsigned long launches = 10000000, burst = 1000;
static int stubs;
static hipFunction_t f;

static unsigned long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ul + t.tv_nsec;
}

static int by_value(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static void *loop(void *number)
{
    unsigned long bursts = launches / burst, begin = now();
    double *times = calloc(bursts + 1, sizeof *times);
    for (unsigned long b = 0; b < bursts; b++) {
        unsigned long start = now();
        if (stubs)
            for (unsigned long i = 0; i < burst; i++)
                hipLaunchKernel(&by_stub, (dim3){i + 1, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL);
        else
            for (unsigned long i = 0; i < burst; i++)
                hipModuleLaunchKernel(f, i + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
        times[b] = (double)(now() - start) / burst;
    }
    double mean = (double)(now() - begin) / (bursts * burst);
    qsort(times, bursts, sizeof *times, by_value);
    printf("thread %lu: launches %lu, burst %lu, ns per launch: min %.2f median %.2f p99 %.2f max %.2f mean %.2f\n", (unsigned long)number, bursts * burst, burst, times[0],
           times[bursts / 2], times[bursts * 99 / 100], times[bursts - 1], mean);
    return NULL;
}

int main(int argc, char **argv)
{
    launches = argc > 1 ? strtoul(argv[1], NULL, 10) : launches;
    burst = argc > 2 ? strtoul(argv[2], NULL, 10) : burst;
    unsigned long threads = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    stubs = argc > 4 && !strcmp(argv[4], "stub");
    struct co_kernel kernel = {"by_module", ""};
    hipModule_t module;
    pthread_t ids[64];
    if (!burst || launches < burst || threads < 1 || threads > 64 || hipModuleLoadData(&module, co_module(&kernel, 1)) || hipModuleGetFunction(&f, module, "by_module"))
        return 2;
    for (unsigned long t = 1; t < threads; t++)
        pthread_create(&ids[t], NULL, loop, (void *)t);
    loop(NULL);
    for (unsigned long t = 1; t < threads; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
