// Kernels that are launched for the first time, under a given number of callers, and then again:
// first KERNELS DEPTH. Prints the mean of either in ns of CPU time.
#include "launching.h"
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static int under(long callers, hipFunction_t f, void **params)
{
    volatile int below = 0;
    if (callers > 1)
        return under(callers - 1, f, params) + below;
    return hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL) + below;
}

int main(int argc, char **argv)
{
    long kernels = argc > 1 ? atol(argv[1]) : 1000, depth = argc > 2 ? atol(argv[2]) : 16, value = 7;
    struct co_kernel *k = calloc((size_t)kernels, sizeof *k);
    hipFunction_t *f = calloc((size_t)kernels, sizeof *f);
    void *params[] = {&value};
    hipModule_t module;
    int failures = 0;
    for (long i = 0; i < kernels; i++) {
        char *name = malloc(24);
        snprintf(name, 24, "k%ld", i);
        k[i] = (struct co_kernel){name, "i"};
    }
    failures += !!hipModuleLoadData(&module, co_module(k, (int)kernels));
    for (long i = 0; i < kernels; i++)
        failures += !!hipModuleGetFunction(&f[i], module, k[i].name);
    for (int again = 0; again < 2; again++) {
        double begun = now();
        for (long i = 0; i < kernels; i++)
            failures += !!under(depth, f[i], params);
        printf("%s %.1f\n", again ? "again" : "first", (now() - begun) / (double)kernels);
    }
    return failures;
}
