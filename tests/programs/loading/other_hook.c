// Another tracer to preload, before or after ours: it wraps a launch by RTLD_NEXT and prints its
// number of calls at the end.
// shared
#include "hip.h"
#include <dlfcn.h>
#include <stdio.h>

static int calls;

__attribute__((visibility("default"))) hipError_t hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args, size_t sharedMemBytes, hipStream_t stream)
{
    static __typeof__(&hipLaunchKernel) next;
    if (!next)
        next = (__typeof__(next))dlsym(RTLD_NEXT, "hipLaunchKernel");
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return next(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream);
}

__attribute__((destructor)) static void tell(void) { printf("the other tracer saw %d\n", calls); }
