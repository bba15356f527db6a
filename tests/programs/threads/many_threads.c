// Many threads launch at once, random kernels among 500 with random shapes: many_threads [THREADS
// [LAUNCHES-EACH [SEED]]].
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include <pthread.h>

enum { KERNELS = 500, STREAMS = 8 };
static hipFunction_t kernels[KERNELS];
static hipStream_t streams[STREAMS];
static unsigned long launches = 25000, seed = 1, failed;

static unsigned long next(unsigned long *state) // xorshift
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void *launch_all(void *number)
{
    unsigned long state = (seed << 32) + (unsigned long)number * 0x9e3779b97f4a7c15u + 1;
    for (unsigned long i = 0; i < launches; i++) {
        unsigned long r = next(&state), shape = next(&state);
        if (hipModuleLaunchKernel(kernels[r % KERNELS], 1 + shape % 1000, 1 + (shape >> 10) % 16, 1 + (shape >> 14) % 4, 1 + (shape >> 16) % 256, 1 + (shape >> 24) % 4, 1,
                                  (shape >> 26) % 65536, streams[(r >> 10) % STREAMS], NULL, NULL))
            __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
    launches = argc > 2 ? strtoul(argv[2], NULL, 10) : launches;
    seed = argc > 3 ? strtoul(argv[3], NULL, 10) : seed;
    static char names[KERNELS][32];
    struct co_kernel all[KERNELS];
    pthread_t *ids = calloc(threads, sizeof *ids);
    hipModule_t module;
    for (int i = 0; i < KERNELS; i++) {
        snprintf(names[i], sizeof names[i], "kernel_%03d", i);
        all[i] = (struct co_kernel){names[i], ""};
    }
    if (hipModuleLoadData(&module, co_module(all, KERNELS)))
        return 1;
    for (int i = 0; i < KERNELS; i++)
        failed += !!hipModuleGetFunction(&kernels[i], module, names[i]);
    for (int i = 1; i < STREAMS; i++)
        hipStreamCreate(&streams[i]);
    for (unsigned long t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, launch_all, (void *)t);
    for (unsigned long t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    printf("threads %lu, launches %lu, failed %lu\n", threads, threads * launches, failed);
    return failed != 0;
}
