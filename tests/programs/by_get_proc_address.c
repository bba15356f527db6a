// Only hipGetProcAddress comes from dlsym, everything else from hipGetProcAddress, as Triton does.
// link: none
#include "code_object.h"
#include "hip.h"
#include <dlfcn.h>

int main(void)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_LAZY | RTLD_LOCAL), *absent = NULL;
    if (!hip)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    __typeof__(&hipGetProcAddress) address = (__typeof__(address))dlsym(hip, "hipGetProcAddress");
    __typeof__(&hipModuleLoadDataEx) load;
    __typeof__(&hipModuleGetFunction) get;
    __typeof__(&hipModuleLaunchKernel) launch;
    struct co_kernel kernel = {"through_get_proc_address", ""};
    hipModule_t module;
    hipFunction_t f;
    int status = -1;
    int failed = !!address("hipModuleLoadDataEx", (void **)&load, 60342134, 0, &status) + !!address("hipModuleGetFunction", (void **)&get, 60342134, 0, NULL) +
                 !!address("hipModuleLaunchKernel", (void **)&launch, 60342134, 0, NULL);
    printf("failed %d, status %d\n", failed, status);
    printf("a name that is not there: %d", address("hipNoSuchFunction", &absent, 60342134, 0, &status));
    printf(", status %d, %s\n", status, absent ? "found" : "not found");
    failed += !!load(&module, co_module(&kernel, 1), 0, NULL, NULL) + !!get(&f, module, "through_get_proc_address");
    for (int i = 1; i <= 10; i++)
        failed += !!launch(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    printf("failed %d\n", failed);
    return failed;
}
