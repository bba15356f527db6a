// A process that launches N kernels and then ends abruptly: kill_self N
// kill|segv|abort|uncaught|memory|exit|_exit|quick_exit|thread. `thread`: another thread keeps
// launching when SIGKILL arrives. `memory`: in a cgroup with little memory. To die inside a call
// instead, set STANDIN_DIE_AT.
// link: amdhip64 rocblas
#include "code_object.h"
#include "deaths.h"
#include "rocblas.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static hipFunction_t f;

static void *launch_for_ever(void *arg)
{
    while (!hipModuleLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
        ;
    return arg;
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    const char *how = argc > 2 ? argv[2] : "kill";
    struct co_kernel kernel = {"last_words", ""};
    float one = 1, zero = 0, matrix[64];
    rocblas_handle handle;
    hipModule_t module;
    pthread_t thread;
    hipModuleLoadData(&module, co_module(&kernel, 1));
    hipModuleGetFunction(&f, module, "last_words");
    for (unsigned long i = 1; i <= n; i++)
        hipModuleLaunchKernel(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    printf("launched %lu, then %s\n", n, how);
    fflush(stdout);
    if (!strcmp(how, "thread")) {
        pthread_create(&thread, NULL, launch_for_ever, NULL);
        usleep(20000);
        raise(SIGKILL);
    }
    if (!strcmp(how, "gemm") && !rocblas_create_handle(&handle)) // with STANDIN_DIE_AT=N+1: dies inside it
        rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero, matrix, 8);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "uncaught"))
        throw_uncaught();
    if (!strcmp(how, "memory"))
        take_all_memory();
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "quick_exit"))
        quick_exit(4);
    exit(5);
}
