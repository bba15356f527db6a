// A module is unloaded and the next one gets the same handles for other kernels.
// link: amdhip64
#include "code_object.h"
#include "hip.h"

int main(void)
{
    struct co_kernel kernels[] = {{"in_first_module", ""}, {"in_second_module", ""}, {"in_third_module", ""}};
    hipModule_t modules[3];
    hipFunction_t f[3];
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        failed += !!hipModuleLoadData(&modules[i], co_module(&kernels[i], 1)) + !!hipModuleGetFunction(&f[i], modules[i], kernels[i].name);
        for (int n = 0; n <= i; n++)
            failed += !!hipModuleLaunchKernel(f[i], i + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
        failed += !!hipModuleUnload(modules[i]);
    }
    printf("failed %d, function handles %s, module handles %s\n", failed, f[0] == f[1] && f[1] == f[2] ? "reused" : "differ",
           modules[0] == modules[1] && modules[1] == modules[2] ? "reused" : "differ");
    return 0;
}
