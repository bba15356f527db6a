// The launch calls of the HIP stand-in: they check what the runtime checks, run nothing, and log.
#include "standin.h"
#include <errno.h>
#include <signal.h>

__thread const char *standin_through;

static void (*on_launch)(void *);
static void *on_launch_arg;

PUBLIC void standin_on_launch(void (*callback)(void *), void *arg)
{
    on_launch = callback;
    on_launch_arg = arg;
    standin.watched = standin.log || standin.set_errno || standin.die_at || callback;
}

struct shape {
    uint32_t gx, gy, gz, bx, by, bz;
    size_t shared;
    hipStream_t stream;
};

static inline hipError_t check(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, void **params, void **extra)
{
    if (!f || !f->module)
        return hipErrorInvalidHandle;
    if (f->status)
        return f->status;
    if (!gx || !gy || !gz || !bx || !by || !bz)
        return hipErrorInvalidConfiguration;
    if (params && extra)
        return hipErrorInvalidValue;
    if (extra && (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE || extra[4] != HIP_LAUNCH_PARAM_END))
        return hipErrorInvalidValue;
    return hipSuccess;
}

// The rest of a launch that failed or is watched. Nothing is held here: the callback may throw or jump away.
static __attribute__((noinline)) hipError_t launched(const char *api, hipFunction_t f, const struct shape *s, hipError_t status)
{
    static unsigned long launches;
    if (standin.log)
        standin_log(STANDIN_LAUNCH, standin_through ? standin_through : api, "%s\t%u %u %u\t%u %u %u\t%zu\t%#lx\t%d", f && f->module ? f->name : "-", s->gx, s->gy, s->gz,
                    s->bx, s->by, s->bz, s->shared, (unsigned long)s->stream, status);
    if (standin.die_at && __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED) == standin.die_at) {
        standin_log_flush();
        raise(SIGKILL);
    }
    if (on_launch)
        on_launch(on_launch_arg);
    if (standin.set_errno)
        errno = standin.set_errno;
    return status ? standin_fail(status) : hipSuccess;
}

#define LAUNCH(api, f, gx, gy, gz, bx, by, bz, shared, stream, params, extra) do { \
        hipFunction_t f_ = (f); \
        hipError_t status_ = check(f_, gx, gy, gz, bx, by, bz, params, extra); \
        if (likely(!status_ && !standin.watched)) \
            return hipSuccess; \
        return launched(api, f_, &(struct shape){gx, gy, gz, bx, by, bz, shared, stream}, status_); \
    } while (0)

PUBLIC hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void **params, void **extra)
{
    LAUNCH("hipModuleLaunchKernel", f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void **params)
{
    LAUNCH("hipModuleLaunchCooperativeKernel", f, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}

// These four take global sizes in work-items.
PUBLIC hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags)
{
    (void)start, (void)stop, (void)flags;
    LAUNCH("hipExtModuleLaunchKernel", f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop)
{
    (void)start, (void)stop;
    LAUNCH("hipHccModuleLaunchKernel", f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipExtModuleLaunchKernel_cxx(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags)
{
    (void)start, (void)stop, (void)flags;
    LAUNCH("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j", f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipHccModuleLaunchKernel_cxx(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop)
{
    (void)start, (void)stop;
    LAUNCH("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_", f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

// Launches by host stub: a stub that was never registered is hipErrorInvalidDeviceFunction.
static inline hipFunction_t stub(const void *host_function)
{
    static struct ihipModuleSymbol_t unknown = {(struct ihipModule_t *)-1, "-", hipErrorInvalidDeviceFunction, NULL};
    hipFunction_t f = standin_stub(host_function);
    return f ? f : &unknown;
}

PUBLIC hipError_t hipLaunchKernel(const void *function_address, dim3 g, dim3 b, void **args, size_t shared, hipStream_t stream)
{
    LAUNCH("hipLaunchKernel", stub(function_address), g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, args, NULL);
}

PUBLIC hipError_t hipLaunchKernel_spt(const void *function_address, dim3 g, dim3 b, void **args, size_t shared, hipStream_t stream)
{
    LAUNCH("hipLaunchKernel_spt", stub(function_address), g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, args, NULL);
}

PUBLIC hipError_t hipExtLaunchKernel(const void *function_address, dim3 g, dim3 b, void **args, size_t shared, hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags)
{
    (void)start, (void)stop, (void)flags;
    LAUNCH("hipExtLaunchKernel", stub(function_address), g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, args, NULL);
}

PUBLIC hipError_t hipLaunchCooperativeKernel(const void *f, dim3 g, dim3 b, void **params, unsigned shared, hipStream_t stream)
{
    LAUNCH("hipLaunchCooperativeKernel", stub(f), g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, params, NULL);
}

PUBLIC hipError_t hipLaunchCooperativeKernel_spt(const void *f, dim3 g, dim3 b, void **params, unsigned shared, hipStream_t stream)
{
    LAUNCH("hipLaunchCooperativeKernel_spt", stub(f), g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, params, NULL);
}
