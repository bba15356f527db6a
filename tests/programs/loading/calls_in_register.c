// A tool to preload that calls HIP while HIP's dispatch table is being registered, which no tool
// may do.
// shared
#include "hip.h"
#include <dlfcn.h>

__attribute__((visibility("default"))) uint32_t rocprofiler_register_library_api_table(const char *lib_name, uint32_t (*import_func)(void), uint32_t lib_version, void **api_tables, uint64_t api_table_length, uint64_t *register_id)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_LAZY | RTLD_NOLOAD);
    __typeof__(&hipGetDeviceCount) count = hip ? (__typeof__(count))dlsym(hip, "hipGetDeviceCount") : NULL;
    int devices;
    (void)lib_name, (void)import_func, (void)lib_version, (void)api_tables, (void)api_table_length, (void)register_id;
    return count ? count(&devices) : 0;
}
