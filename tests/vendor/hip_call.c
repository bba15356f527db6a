// The launch configuration of the HIP stand-in: a stack per thread, pushed by `<<<>>>`, popped by
// the host stub. It is allocated at the thread's first push: thread-local memory would lie on the
// stack of threads whose stack is as small as the system allows.
#include "standin.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static __thread struct configuration {
    dim3 grid, block;
    size_t shared;
    hipStream_t stream;
    size_t size; // of the arguments
    char arguments[4096];
} *configurations;
static __thread int configured;
static pthread_key_t key;

static void thread_ends(void *all)
{
    free(all);
    configurations = NULL;
    configured = 0;
}

__attribute__((constructor)) static void make_key(void) { pthread_key_create(&key, thread_ends); }

__attribute__((destructor)) static void free_own(void)
{
    free(configurations);
    configurations = NULL;
    pthread_key_delete(key);
}

PUBLIC hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream)
{
    if (configured == 8)
        return standin_fail(hipErrorInvalidValue);
    if (!configurations) {
        configurations = calloc(8, sizeof *configurations);
        pthread_setspecific(key, configurations);
    }
    configurations[configured].grid = gridDim;
    configurations[configured].block = blockDim;
    configurations[configured].shared = sharedMem;
    configurations[configured].size = 0;
    configurations[configured++].stream = stream;
    return hipSuccess;
}

PUBLIC hipError_t __hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, hipStream_t *stream)
{
    if (!configured)
        return standin_fail(hipErrorInvalidValue);
    *gridDim = configurations[--configured].grid;
    *blockDim = configurations[configured].block;
    *sharedMem = configurations[configured].shared;
    *stream = configurations[configured].stream;
    return hipSuccess;
}

PUBLIC hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream)
{
    return __hipPushCallConfiguration(gridDim, blockDim, sharedMem, stream);
}

PUBLIC hipError_t hipSetupArgument(const void *arg, size_t size, size_t offset)
{
    if (!configured || !arg || offset + size > sizeof configurations->arguments)
        return standin_fail(hipErrorInvalidValue);
    memcpy(configurations[configured - 1].arguments + offset, arg, size);
    if (configurations[configured - 1].size < offset + size)
        configurations[configured - 1].size = offset + size;
    return hipSuccess;
}

// The launch inside is logged under the name of the function that the program called.
static void leave(const char ***through) { **through = NULL; }

PUBLIC hipError_t hipLaunchByPtr(const void *func)
{
    __attribute__((cleanup(leave))) const char **through = &standin_through;
    dim3 g, b;
    size_t shared;
    hipStream_t stream;
    if (__hipPopCallConfiguration(&g, &b, &shared, &stream))
        return hipErrorInvalidValue;
    hipFunction_t f = standin_stub(func);
    if (!f)
        return standin_fail(hipErrorInvalidDeviceFunction);
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, configurations[configured].arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &configurations[configured].size, HIP_LAUNCH_PARAM_END};
    *through = "hipLaunchByPtr";
    return hipModuleLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, NULL, extra);
}
