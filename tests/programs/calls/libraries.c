// Kernels of a library (ROCm 7.2), of a module loaded from a fat binary, and launches with a
// configuration.
// link: amdhip64
// kernel: 0 by_stub _Z7by_stubi i
#include "code_object.h"
#include "libraries.fatbin.h"
#include "hip_memory.h"

int main(void)
{
    struct co_kernel kernels[] = {{"first_of_library", "i"}, {"second_of_library", ""}};
    const char *name = "";
    hipLibrary_t library, same = NULL;
    hipKernel_t kernel, all[4] = {NULL};
    hipModule_t module;
    hipFunction_t f, of_stub;
    unsigned count = 0, functions = 0;
    int failed = 0, n = 7;
    void *params[] = {&n};
    failed += !!hipLibraryLoadData(&library, co_module(kernels, 2), NULL, NULL, 0, NULL, NULL, 0) + !!hipLibraryGetKernelCount(&count, library) + !!hipLibraryEnumerateKernels(all, 4, library);
    failed += !!hipLibraryGetKernel(&kernel, library, "second_of_library") + !!hipKernelGetName(&name, kernel) + !!hipKernelGetLibrary(&same, kernel);
    printf("kernels %u, the second %s %d, of the same library %d, none such %d\n", count, name, kernel == all[1], same == library, hipLibraryGetKernel(&kernel, library, "none_such"));
    failed += !!hipLibraryGetKernel(&kernel, library, "first_of_library") + !!hipModuleLaunchKernel((hipFunction_t)kernel, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL);
    failed += !!hipModuleLoadFatBinary(&module, &hip_wrapper_0) + !!hipModuleGetFunctionCount(&functions, module) + !!hipModuleGetFunction(&f, module, "_Z7by_stubi") + !!hipGetFuncBySymbol(&of_stub, &by_stub);
    HIP_LAUNCH_CONFIG config = {.gridDimX = 2, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 2, .blockDimZ = 1, .sharedMemBytes = 64};
    hipLaunchConfig_t c = {.gridDim = {3, 1, 1}, .blockDim = {16, 1, 1}, .dynamicSmemBytes = 128};
    failed += !!hipDrvLaunchKernelEx(&config, f, params, NULL) + !!hipDrvLaunchKernelEx(&config, of_stub, params, NULL) + !!hipLaunchKernelExC(&c, &by_stub, params);
    printf("functions %u, without a configuration %d %d, failed %d\n", functions, hipDrvLaunchKernelEx(NULL, f, params, NULL), hipLaunchKernelExC(NULL, &by_stub, params), failed);
    return failed + !!hipLibraryUnload(library) + !!hipModuleUnload(module);
}
