// Threads that launch, compute GEMMs, copy and wait as fast as they can: busy THREADS MICROSECONDS
// [kill]. Then they stop and the process exits, or, with `kill`, SIGKILL arrives at any point.
// link: amdhip64 rocblas
#include "code_object.h"
#include "hip_memory.h"
#include "rocblas.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { MOST = 64 };

static hipFunction_t plain, with_arguments;
static int is_over;

static void *work(void *arg)
{
    rocblas_handle handle;
    float one = 1, zero = 0, matrix[64] = {0}, copy[64];
    void *pointer = matrix;
    int number = 7;
    void *params[] = {&pointer, &number};
    rocblas_create_handle(&handle);
    for (unsigned i = 1; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
        hipModuleLaunchKernel(plain, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
        hipModuleLaunchKernel(with_arguments, i, 1, 1, 64, 1, 1, 0, NULL, params, NULL);
        if (i % 8 == 0)
            rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero, matrix, 8);
        if (i % 16 == 0)
            hipMemcpy(copy, matrix, sizeof copy, hipMemcpyHostToHost);
    }
    return arg;
}

int main(int argc, char **argv)
{
    struct co_kernel kernels[] = {{"plain", ""}, {"with_arguments", "pi"}};
    unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, us = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
    pthread_t ids[MOST];
    hipModule_t module;
    hipModuleLoadData(&module, co_module(kernels, 2));
    hipModuleGetFunction(&plain, module, "plain");
    hipModuleGetFunction(&with_arguments, module, "with_arguments");
    for (unsigned long i = 0; i < threads && i < MOST; i++)
        pthread_create(&ids[i], NULL, work, NULL);
    usleep(us);
    if (argc > 3)
        raise(SIGKILL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (unsigned long i = 0; i < threads && i < MOST; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
