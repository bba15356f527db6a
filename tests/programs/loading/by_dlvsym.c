// HIP opened RTLD_LOCAL and called through dlvsym with the version that each function has.
// link: none
#include "code_object.h"
#include "hip.h"
#include "plugin.h"

int main(void)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!hip)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    __typeof__(&hipModuleLoadData) load = (__typeof__(load))dlvsym(hip, "hipModuleLoadData", "hip_4.2");
    __typeof__(&hipModuleGetFunction) get = (__typeof__(get))dlvsym(hip, "hipModuleGetFunction", "hip_4.2");
    __typeof__(&hipModuleLaunchKernel) launch = (__typeof__(launch))dlvsym(hip, "hipModuleLaunchKernel", "hip_4.2");
    __typeof__(&hipModuleLaunchCooperativeKernel) cooperative = (__typeof__(cooperative))dlvsym(hip, "hipModuleLaunchCooperativeKernel", "hip_5.5");
    struct co_kernel kernel = {"through_dlvsym", ""};
    hipModule_t module;
    hipFunction_t f;
    int failed = !!load(&module, co_module(&kernel, 1)) + !!get(&f, module, "through_dlvsym");
    for (int i = 1; i <= 10; i++)
        failed += !!launch(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL) + !!cooperative(f, 1, i, 1, 32, 1, 1, 0, NULL, NULL);
    printf("failed %d, by a wrong version %s, the other way round %s\n", failed, dlvsym(hip, "hipModuleLaunchKernel", "hip_9.9") ? "found" : "not found",
           dlvsym(hip, "hipModuleLaunchCooperativeKernel", "hip_4.2") ? "found" : "not found");
    return failed;
}
