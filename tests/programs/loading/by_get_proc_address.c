// Takes only hipGetProcAddress from dlsym, everything else from hipGetProcAddress, as Triton does.
// link: none
#include "code_object.h"
#include "hip.h"
#include "plugin.h"
#include <stddef.h>

static __typeof__(&hipGetProcAddress) address;

// Looks a name up at a version of HIP, for functions that are not hooked: the real name behind the
// result.
static void show(const char *name, int version)
{
    void *found = (void *)-1;
    Dl_info info = {0};
    int status = -1, error = address(name, &found, version, 0, &status);
    if (found && found != (void *)-1)
        dladdr(found, &info);
    printf("%s at %d: %d, status %d, %s\n", name, version, error, status, info.dli_sname ? info.dli_sname : found ? "untouched" : "not found");
}

// The structure's layout at a version of HIP is the one that the function fills.
static void ask(int version, size_t target_at, size_t size)
{
    char *properties = calloc(1, size);
    __typeof__(&hipGetDeviceProperties) get = NULL;
    int error = address("hipGetDeviceProperties", (void **)&get, version, 0, NULL);
    error += get((void *)properties, 0);
    printf("hipGetDeviceProperties at %d: %d, %s\n", version, error, properties + target_at);
    free(properties);
}

int main(void)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_LAZY | RTLD_LOCAL), *self = NULL, *by_entry = NULL, *by_entry_spt = NULL;
    if (!hip)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    address = (__typeof__(address))dlsym(hip, "hipGetProcAddress");
    __typeof__(&hipModuleLoadDataEx) load;
    __typeof__(&hipModuleGetFunction) get;
    __typeof__(&hipModuleLaunchKernel) launch;
    __typeof__(&hipModuleLaunchCooperativeKernel) cooperative;
    __typeof__(&hipGetDriverEntryPoint) entry;
    struct co_kernel kernel = {"through_get_proc_address", ""};
    hipModule_t module;
    hipFunction_t f;
    int status = -1;
    int failed = !!address("hipModuleLoadDataEx", (void **)&load, 60342134, 0, &status) + !!address("hipModuleGetFunction", (void **)&get, 60342134, 0, NULL) +
                 !!address("hipModuleLaunchKernel", (void **)&launch, 60342134, 0, NULL) + !!address("hipModuleLaunchCooperativeKernel", (void **)&cooperative, 60342134, 0, NULL);
    printf("failed %d, status %d\n", failed, status);
    ask(500, offsetof(hipDeviceProp_tR0000, gcnArchName), sizeof(hipDeviceProp_tR0000));
    ask(600, offsetof(hipDeviceProp_tR0600, gcnArchName), sizeof(hipDeviceProp_tR0600));
    show("hipChooseDevice", 599), show("hipChooseDevice", 60342134);
    show("hipNoSuchFunction", 60342134), show("", 60342134);
    printf("of nothing %d %d\n", address(NULL, &self, 600, 0, &status), address("hipInit", NULL, 600, 0, &status));
    failed += !!load(&module, co_module(&kernel, 1), 0, NULL, NULL) + !!get(&f, module, "through_get_proc_address");
    for (int i = 1; i <= 10; i++)
        failed += !!launch(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL) + !!cooperative(f, 1, i, 1, 64, 1, 1, 0, NULL, NULL);
    // Itself, and the functions it returned, through itself and through its successor.
    failed += !!address("hipGetProcAddress", &self, 60342134, 0, NULL) + !!((__typeof__(address))self)("hipModuleLaunchKernel", &self, 60342134, 0, NULL);
    failed += !!address("hipGetDriverEntryPoint", (void **)&entry, 70151803, 0, NULL);
    failed += !!entry("hipModuleLaunchKernel", &by_entry, hipEnableDefault, &status) + !!entry("hipLaunchKernel", &by_entry_spt, hipEnablePerThreadDefaultStream, &status);
    printf("the same %d %d, per thread %d\n", self == (void *)launch, by_entry == (void *)launch, by_entry_spt == dlsym(hip, "hipLaunchKernel_spt"));
    printf("no such entry %d", entry("hipNoSuchFunction", &by_entry, 0, &status));
    printf(", status %d; no such flags %d\n", status, entry("hipInit", &by_entry, 7, NULL));
    failed += !!((__typeof__(launch))self)(f, 11, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    printf("failed %d\n", failed);
    return failed;
}
