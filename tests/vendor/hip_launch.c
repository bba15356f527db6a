// The launch functions of the HIP stand-in: they check what the runtime checks, execute nothing,
// and log.
#include "graph.h"
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

enum form { BLOCKS, ITEMS, PER_THREAD }; // the grid in blocks or work-items; the null stream is the thread's own
struct shape {
    uint32_t gx, gy, gz, bx, by, bz;
    size_t shared;
    hipStream_t stream;
    const void *func; // as it was passed
    enum form form;
};

// The launch parameters that a graph's node keeps.
static hipKernelNodeParams node_params(const struct shape *s)
{
    dim3 block = {s->bx, s->by, s->bz}, grid = {s->gx, s->gy, s->gz};
    if (s->form == ITEMS)
        grid = (dim3){(s->gx + s->bx - 1) / s->bx, (s->gy + s->by - 1) / s->by, (s->gz + s->bz - 1) / s->bz};
    return (hipKernelNodeParams){.blockDim = block, .func = (void *)s->func, .gridDim = grid, .sharedMemBytes = s->shared};
}

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

// Completes a launch that failed or is watched. No lock is held here: the callback may throw or
// jump away.
static __attribute__((noinline)) hipError_t launched(const char *api, hipFunction_t f, const struct shape *s, hipError_t status)
{
    static unsigned long launches;
    hipGraphNode_t node = status ? NULL : standin_captured(s->stream, s->form == PER_THREAD, hipGraphNodeTypeKernel, &status);
    if (node)
        node->as.kernel = node_params(s);
    if (standin.log)
        standin_log(node ? STANDIN_CAPTURED : STANDIN_LAUNCH, standin_through ? standin_through : api, "%s\t%u %u %u\t%u %u %u\t%zu\t%#lx\t%d", f && f->module ? f->name : "-", s->gx, s->gy, s->gz,
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

#define LAUNCH(api, f, func, form, gx, gy, gz, bx, by, bz, shared, stream, params, extra) do { \
        hipFunction_t f_ = (f); \
        hipError_t status_ = check(f_, gx, gy, gz, bx, by, bz, params, extra); \
        if (likely(!status_ && !standin.watched && !__atomic_load_n(&standin_captures, __ATOMIC_RELAXED))) \
            return hipSuccess; \
        return launched(api, f_, &(struct shape){gx, gy, gz, bx, by, bz, shared, stream, func, form}, status_); \
    } while (0)

PUBLIC hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void **params, void **extra)
{
    LAUNCH("hipModuleLaunchKernel", f, f, BLOCKS, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void **params)
{
    LAUNCH("hipModuleLaunchCooperativeKernel", f, f, BLOCKS, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}

// These four take global sizes in work-items.
PUBLIC hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags)
{
    (void)start, (void)stop, (void)flags;
    LAUNCH("hipExtModuleLaunchKernel", f, f, ITEMS, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop)
{
    (void)start, (void)stop;
    LAUNCH("hipHccModuleLaunchKernel", f, f, ITEMS, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipExtModuleLaunchKernel_cxx(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags)
{
    (void)start, (void)stop, (void)flags;
    LAUNCH("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j", f, f, ITEMS, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

PUBLIC hipError_t hipHccModuleLaunchKernel_cxx(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop)
{
    (void)start, (void)stop;
    LAUNCH("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_", f, f, ITEMS, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
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
    LAUNCH("hipLaunchKernel", stub(function_address), function_address, BLOCKS, g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, args, NULL);
}

PUBLIC hipError_t hipLaunchKernel_spt(const void *function_address, dim3 g, dim3 b, void **args, size_t shared, hipStream_t stream)
{
    LAUNCH("hipLaunchKernel_spt", stub(function_address), function_address, PER_THREAD, g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, args, NULL);
}

PUBLIC hipError_t hipExtLaunchKernel(const void *function_address, dim3 g, dim3 b, void **args, size_t shared, hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags)
{
    (void)start, (void)stop, (void)flags;
    LAUNCH("hipExtLaunchKernel", stub(function_address), function_address, BLOCKS, g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, args, NULL);
}

PUBLIC hipError_t hipLaunchCooperativeKernel(const void *f, dim3 g, dim3 b, void **params, unsigned shared, hipStream_t stream)
{
    LAUNCH("hipLaunchCooperativeKernel", stub(f), f, BLOCKS, g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, params, NULL);
}

PUBLIC hipError_t hipLaunchCooperativeKernel_spt(const void *f, dim3 g, dim3 b, void **params, unsigned shared, hipStream_t stream)
{
    LAUNCH("hipLaunchCooperativeKernel_spt", stub(f), f, PER_THREAD, g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, params, NULL);
}

// Launches with a configuration (ROCm 7.0).
PUBLIC hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *fPtr, void **args)
{
    if (!config)
        return standin_fail(hipErrorInvalidConfiguration);
    dim3 g = config->gridDim, b = config->blockDim;
    LAUNCH("hipLaunchKernelExC", stub(fPtr), fPtr, BLOCKS, g.x, g.y, g.z, b.x, b.y, b.z, config->dynamicSmemBytes, config->stream, args, NULL);
}

PUBLIC hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t f, void **params, void **extra)
{
    if (!config)
        return standin_fail(hipErrorInvalidConfiguration);
    LAUNCH("hipDrvLaunchKernelEx", f, f, BLOCKS, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, params, extra);
}

// Launches on several devices at once: each on its own stream, all checked before the first is
// launched.
static hipError_t on_devices(const char *api, const struct shape *shapes, hipFunction_t *functions, int n)
{
    hipError_t status = hipSuccess;
    for (int i = 0; i < n; i++) {
        if (!shapes[i].stream)
            return standin_fail(hipErrorInvalidHandle);
        for (int j = 0; j < i; j++)
            if (hipGetStreamDeviceId(shapes[i].stream) == hipGetStreamDeviceId(shapes[j].stream))
                return standin_fail(hipErrorInvalidDevice);
    }
    for (int i = 0; i < n && !status; i++) {
        const struct shape *s = &shapes[i];
        status = launched(api, functions[i], s, check(functions[i], s->gx, s->gy, s->gz, s->bx, s->by, s->bz, NULL, NULL));
    }
    return status;
}

static hipError_t stubs_on_devices(const char *api, const hipLaunchParams *list, int n)
{
    struct shape shapes[16];
    hipFunction_t functions[16];
    if (!list || n < 1 || n > standin.devices || n > 16)
        return standin_fail(hipErrorInvalidValue);
    for (int i = 0; i < n; i++) {
        const hipLaunchParams *p = &list[i];
        shapes[i] = (struct shape){p->gridDim.x, p->gridDim.y, p->gridDim.z, p->blockDim.x, p->blockDim.y, p->blockDim.z, p->sharedMem, p->stream, p->func, BLOCKS};
        functions[i] = stub(p->func);
    }
    return on_devices(api, shapes, functions, n);
}

PUBLIC hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices, unsigned flags) { return (void)flags, stubs_on_devices(__func__, launchParamsList, numDevices); }
PUBLIC hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices, unsigned flags) { return (void)flags, stubs_on_devices(__func__, launchParamsList, numDevices); }

PUBLIC hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams *launchParamsList, unsigned numDevices, unsigned flags)
{
    struct shape shapes[16];
    hipFunction_t functions[16];
    (void)flags;
    if (!launchParamsList || !numDevices || numDevices > (unsigned)standin.devices || numDevices > 16)
        return standin_fail(hipErrorInvalidValue);
    for (unsigned i = 0; i < numDevices; i++) {
        const hipFunctionLaunchParams *p = &launchParamsList[i];
        shapes[i] = (struct shape){p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ, p->sharedMemBytes, p->hStream, p->function, BLOCKS};
        functions[i] = p->function;
    }
    return on_devices(__func__, shapes, functions, numDevices);
}
