// A plug-in with its own device code, like ggml's: its kernels are registered when it is loaded,
// unregistered when it is closed.
// shared
// link: amdhip64
// kernel: 0 first _Z5firstPfi pi
// kernel: 1 second _Z6secondPfi pi
#include "plugin.fatbin.h"

// Launches both kernels n times; returns the number of failures.
int run(int n)
{
    float *x = NULL;
    void *args[] = {&x, &n};
    int failed = 0;
    for (int i = 0; i < n; i++) {
        failed += !!hipLaunchKernel(&first, (dim3){i + 1, 1, 1}, (dim3){64, 1, 1}, args, 0, NULL);
        failed += !!hipLaunchKernel(&second, (dim3){1, i + 1, 1}, (dim3){128, 1, 1}, args, 0, NULL);
    }
    return failed;
}
