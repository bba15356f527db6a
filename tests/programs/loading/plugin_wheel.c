// A plug-in of a wheel: it has its own libamdhip64, under the name without a version.
// shared
// link: wheel
// kernel: 0 wheel_first _Z11wheel_firstPfi pi
// kernel: 1 wheel_second _Z12wheel_secondPfi pi
#include "code_object.h"
#include "plugin_wheel.fatbin.h"

// Launches both kernels and a module's n times; returns the number of failures.
int run(int n)
{
    float *x = NULL;
    void *args[] = {&x, &n};
    struct co_kernel kernel = {"wheel_module", ""};
    hipModule_t module;
    hipFunction_t f;
    int failed = !!hipModuleLoadData(&module, co_module(&kernel, 1)) + !!hipModuleGetFunction(&f, module, "wheel_module");
    for (int i = 0; i < n; i++) {
        failed += !!hipLaunchKernel(&wheel_first, (dim3){i + 1, 2, 1}, (dim3){64, 1, 1}, args, 0, NULL);
        failed += !!hipLaunchKernel(&wheel_second, (dim3){1, i + 1, 2}, (dim3){128, 1, 1}, args, 0, NULL);
        failed += !!hipModuleLaunchKernel(f, i + 1, 1, 3, 32, 1, 1, 0, NULL, NULL, NULL);
    }
    return failed + !!hipModuleUnload(module);
}
