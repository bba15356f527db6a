// Looks up functions that not every HIP has, by weak reference and by dlsym, and launches by the
// C++ names of ROCm 6.0.
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include <dlfcn.h>

#pragma weak hipExtLaunchKernel
#pragma weak hipExtModuleLaunchKernel

int main(int argc, char **argv)
{
    static const char *const NAMES[] = {"hipModuleLaunchKernel", "hipExtLaunchKernel", "hipExtModuleLaunchKernel", "hipGetProcAddress", "hipLaunchKernelExC",
                                        "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"};
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    struct co_kernel kernel = {"by_cxx_name", "pi"};
    struct { void *p; int i; } buffer = {NULL, 3};
    size_t size = sizeof buffer;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    hipModule_t module;
    hipFunction_t f;
    for (unsigned i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        printf("%s: %s\n", NAMES[i], dlsym(hip, NAMES[i]) ? "yes" : "no");
    int failed = !!hipModuleLoadData(&module, co_module(&kernel, 1)) + !!hipModuleGetFunction(&f, module, "by_cxx_name");
    for (int i = 1; i <= 5; i++) {
        failed += !!hipExtModuleLaunchKernel_cxx(f, 64 * i, 1, 1, 64, 1, 1, 0, NULL, NULL, extra, NULL, NULL, 0);
        failed += !!hipHccModuleLaunchKernel_cxx(f, 32 * i, 1, 1, 32, 1, 1, 0, NULL, NULL, extra, NULL, NULL);
        failed += !!hipModuleLaunchKernel(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, extra);
    }
    printf("failed %d\n", failed);
    if (argc > 1 && !strcmp(argv[1], "weak")) // a preloaded library that exports a name defines it
        printf("weak: %d %d\n", !!hipExtLaunchKernel, !!hipExtModuleLaunchKernel);
    return 0;
}
