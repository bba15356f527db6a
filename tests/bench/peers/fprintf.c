// The launch hook as users write it: a line of text per call, flushed so that nothing is lost in a
// crash.
#define _GNU_SOURCE
#include "hip.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static __typeof__(&hipModuleLaunchKernel) real;
static FILE *file;

static __attribute__((constructor)) void find(void)
{
    real = (__typeof__(real))dlsym(RTLD_NEXT, "hipModuleLaunchKernel");
    file = fopen(getenv("PEER_FILE"), "w");
    if (!file)
        perror("PEER_FILE"), _exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((visibility("default"))) hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void **params, void **extra)
{
    double start = now();
    hipError_t status = real(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    fprintf(file, "[%.9f] hipModuleLaunchKernel(%p, {%u,%u,%u}, {%u,%u,%u}, %u, %p) = %d, %.9f s\n", start, (void *)f, gx, gy, gz, bx, by, bz, shared, (void *)stream, status, now() - start);
    fflush(file);
    return status;
}
