// Entry points by name, and devices by property, in the HIP stand-in.
#include "standin.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { FOUND = 0, NOT_FOUND = 1 }; // symbolStatus

static void *own_symbol(const char *name)
{
    static void *own;
    Dl_info here;
    if (!own && dladdr((void *)standin_fail, &here))
        own = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return own ? dlsym(own, name) : NULL;
}

static hipError_t answer(void *function, void **pfn, int *symbolStatus)
{
    *pfn = function;
    if (symbolStatus)
        *symbolStatus = function ? FOUND : NOT_FOUND;
    return function ? hipSuccess : standin_fail(hipErrorInvalidValue);
}

PUBLIC hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags, int *symbolStatus)
{
    (void)flags;
    if (!symbol || !*symbol || !pfn)
        return standin_fail(hipErrorInvalidValue);
    if (hipVersion >= 600 && !strcmp(symbol, "hipGetDeviceProperties"))
        symbol = "hipGetDevicePropertiesR0600";
    else if (hipVersion >= 600 && !strcmp(symbol, "hipChooseDevice"))
        symbol = "hipChooseDeviceR0600";
    return answer(own_symbol(symbol), pfn, symbolStatus);
}

// The per-thread form of a name, if it exists and is requested.
static hipError_t entry_point(const char *symbol, void **funcPtr, int per_thread, int *driverStatus)
{
    char spt[256];
    void *function = NULL;
    if (!symbol || !*symbol || !funcPtr)
        return standin_fail(hipErrorInvalidValue);
    if (per_thread && (size_t)snprintf(spt, sizeof spt, "%s_spt", symbol) < sizeof spt)
        function = own_symbol(spt);
    return answer(function ? function : own_symbol(symbol), funcPtr, driverStatus);
}

PUBLIC hipError_t hipGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags, int *driverStatus)
{
    return flags > hipEnablePerThreadDefaultStream ? standin_fail(hipErrorInvalidValue) : entry_point(symbol, funcPtr, flags == hipEnablePerThreadDefaultStream, driverStatus);
}

PUBLIC hipError_t hipGetDriverEntryPoint_spt(const char *symbol, void **funcPtr, unsigned long long flags, int *driverStatus)
{
    return flags > hipEnablePerThreadDefaultStream ? standin_fail(hipErrorInvalidValue) : entry_point(symbol, funcPtr, flags != hipEnableLegacyStream, driverStatus);
}

// All devices are equal.
static hipError_t choose(int *device, const void *prop)
{
    if (!device || !prop)
        return standin_fail(hipErrorInvalidValue);
    *device = 0;
    return hipSuccess;
}

PUBLIC hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_tR0000 *prop) { return choose(device, prop); }
PUBLIC hipError_t hipChooseDevice(int *device, const hipDeviceProp_tR0000 *prop) { return choose(device, prop); }
PUBLIC hipError_t hipChooseDeviceR0600(int *device, const hipDeviceProp_tR0600 *prop) { return choose(device, prop); }
