// The launch hook as one writes it with LTTng-UST: an event on entry with the launch's fields, one
// on exit with its result.
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "launch_events.h"

#include "hip.h"
#include <dlfcn.h>

static __typeof__(&hipModuleLaunchKernel) real;

static __attribute__((constructor)) void find(void) { real = (__typeof__(real))dlsym(RTLD_NEXT, "hipModuleLaunchKernel"); }

__attribute__((visibility("default"))) hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void **params, void **extra)
{
    lttng_ust_tracepoint(hip, launch_entry, f, gx, gy, gz, bx, by, bz, shared, stream);
    hipError_t status = real(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    lttng_ust_tracepoint(hip, launch_exit, status);
    return status;
}
