// Opens HIP with dlopen(RTLD_LOCAL) and calls it through dlsym, as ctypes and JAX do.
// link: none
#include "code_object.h"
#include "hip.h"
#include <dlfcn.h>

int main(void)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!hip)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    __typeof__(&hipModuleLoadData) load = (__typeof__(load))dlsym(hip, "hipModuleLoadData");
    __typeof__(&hipModuleGetFunction) get = (__typeof__(get))dlsym(hip, "hipModuleGetFunction");
    __typeof__(&hipModuleLaunchKernel) launch = (__typeof__(launch))dlsym(hip, "hipModuleLaunchKernel");
    struct co_kernel kernel = {"through_dlsym", ""};
    hipModule_t module;
    hipFunction_t f;
    int failed = !!load(&module, co_module(&kernel, 1)) + !!get(&f, module, "through_dlsym");
    for (int i = 1; i <= 10; i++)
        failed += !!launch(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    printf("failed %d, a name that is not there %s\n", failed, dlsym(hip, "hipNoSuchFunction") ? "found" : "not found");
    return failed;
}
