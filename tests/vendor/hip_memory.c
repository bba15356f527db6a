// Memory of the HIP stand-in: "device" memory is the heap. Copies and fills are done at once, or
// become nodes of a graph.
#include "graph.h"

void standin_copy(const struct standin_copy *c)
{
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove((char *)c->dst + z * c->dslice + y * c->dpitch, (const char *)c->src + z * c->sslice + y * c->spitch, c->width);
}

void standin_set(const struct standin_set *s)
{
    for (size_t y = 0; y < s->height; y++)
        for (size_t x = 0; x < s->width; x++)
            memcpy((char *)s->dst + y * s->pitch + x * s->element, &s->value, s->element);
}

enum when { NOW = -2 }; // in place of a stream's per_thread: synchronous, on the legacy stream

static hipError_t copy(const char *api, const struct standin_copy *c, hipStream_t stream, int per_thread)
{
    size_t bytes = c->width * c->height * c->depth;
    hipError_t status = per_thread == NOW ? standin_sync_now(hipErrorStreamCaptureImplicit) : hipSuccess;
    if (!status && bytes && (!c->dst || !c->src))
        status = hipErrorInvalidValue;
    hipGraphNode_t node = status || per_thread == NOW ? NULL : standin_captured(stream, per_thread, hipGraphNodeTypeMemcpy, &status);
    if (node)
        node->as.copy = *c;
    else if (!status && bytes)
        standin_copy(c);
    return standin_called(api, status, "dst=%#lx src=%#lx bytes=%zu kind=%d stream=%#lx captured=%d", HEX(c->dst), HEX(c->src), bytes, c->kind, HEX(stream), !!node);
}

static hipError_t set(const char *api, const struct standin_set *s, hipStream_t stream, int per_thread)
{
    size_t bytes = s->element * s->width * s->height;
    hipError_t status = per_thread == NOW ? standin_sync_now(hipErrorStreamCaptureImplicit) : hipSuccess;
    if (!status && bytes && !s->dst)
        status = hipErrorInvalidValue;
    hipGraphNode_t node = status || per_thread == NOW ? NULL : standin_captured(stream, per_thread, hipGraphNodeTypeMemset, &status);
    if (node)
        node->as.set = *s;
    else if (!status && bytes)
        standin_set(s);
    return standin_called(api, status, "dst=%#lx value=%#x element=%zu bytes=%zu stream=%#lx captured=%d", HEX(s->dst), s->value, s->element, bytes, HEX(stream), !!node);
}

// One row per function: name, arguments, what is copied, on which stream, and whether the null
// stream is the thread's own.
#define LINE(dst, src, bytes, kind) {dst, src, 0, 0, 0, 0, bytes, 1, 1, kind}
#define ROWS(dst, dpitch, src, spitch, width, height, kind) {dst, src, dpitch, spitch, 0, 0, width, height, 1, kind}
#define VOLUME(p) {p->dstPtr.ptr, p->srcPtr.ptr, p->dstPtr.pitch, p->srcPtr.pitch, p->dstPtr.pitch * p->dstPtr.ysize, p->srcPtr.pitch * p->srcPtr.ysize, p->extent.width, p->extent.height, p->extent.depth, p->kind}
#define COPY(name, params, what, ...) PUBLIC hipError_t name params { return copy(__func__, &(struct standin_copy)what, __VA_ARGS__); }
#define K hipMemcpyKind kind
#define D2 void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind
#define IN2 ROWS(dst, dpitch, src, spitch, width, height, kind)
COPY(hipMemcpy, (void *dst, const void *src, size_t n, K), LINE(dst, src, n, kind), NULL, NOW)
COPY(hipMemcpy_spt, (void *dst, const void *src, size_t n, K), LINE(dst, src, n, kind), NULL, NOW)
COPY(hipMemcpyAsync, (void *dst, const void *src, size_t n, K, hipStream_t stream), LINE(dst, src, n, kind), stream, 0)
COPY(hipMemcpyAsync_spt, (void *dst, const void *src, size_t n, K, hipStream_t stream), LINE(dst, src, n, kind), stream, 1)
COPY(hipMemcpyWithStream, (void *dst, const void *src, size_t n, K, hipStream_t stream), LINE(dst, src, n, kind), stream, 0)
COPY(hipMemcpyHtoD, (hipDeviceptr_t dst, void *src, size_t n), LINE(dst, src, n, hipMemcpyHostToDevice), NULL, NOW)
COPY(hipMemcpyDtoH, (void *dst, hipDeviceptr_t src, size_t n), LINE(dst, src, n, hipMemcpyDeviceToHost), NULL, NOW)
COPY(hipMemcpyDtoD, (hipDeviceptr_t dst, hipDeviceptr_t src, size_t n), LINE(dst, src, n, hipMemcpyDeviceToDevice), NULL, NOW)
COPY(hipMemcpyHtoDAsync, (hipDeviceptr_t dst, void *src, size_t n, hipStream_t stream), LINE(dst, src, n, hipMemcpyHostToDevice), stream, 0)
COPY(hipMemcpyDtoHAsync, (void *dst, hipDeviceptr_t src, size_t n, hipStream_t stream), LINE(dst, src, n, hipMemcpyDeviceToHost), stream, 0)
COPY(hipMemcpyDtoDAsync, (hipDeviceptr_t dst, hipDeviceptr_t src, size_t n, hipStream_t stream), LINE(dst, src, n, hipMemcpyDeviceToDevice), stream, 0)
COPY(hipMemcpyPeer, (void *dst, int dstDevice, const void *src, int srcDevice, size_t n), LINE(dst, src, n, hipMemcpyDeviceToDevice), ((void)dstDevice, (void)srcDevice, NULL), NOW)
COPY(hipMemcpyPeerAsync, (void *dst, int dstDevice, const void *src, int srcDevice, size_t n, hipStream_t stream), LINE(dst, src, n, hipMemcpyDeviceToDevice), ((void)dstDevice, (void)srcDevice, stream), 0)
COPY(hipMemcpy2D, (D2), IN2, NULL, NOW)
COPY(hipMemcpy2D_spt, (D2), IN2, NULL, NOW)
COPY(hipMemcpy2DAsync, (D2, hipStream_t stream), IN2, stream, 0)
COPY(hipMemcpy2DAsync_spt, (D2, hipStream_t stream), IN2, stream, 1)
COPY(hipMemcpy3D, (const hipMemcpy3DParms *p), VOLUME(p), NULL, NOW)
COPY(hipMemcpy3D_spt, (const hipMemcpy3DParms *p), VOLUME(p), NULL, NOW)
COPY(hipMemcpy3DAsync, (const hipMemcpy3DParms *p, hipStream_t stream), VOLUME(p), stream, 0)
COPY(hipMemcpy3DAsync_spt, (const hipMemcpy3DParms *p, hipStream_t stream), VOLUME(p), stream, 1)

#define SET(name, params, dst, value, element, width, height, pitch, ...)                                                      \
    PUBLIC hipError_t name params { return set(__func__, &(struct standin_set){dst, value, element, width, height, pitch}, __VA_ARGS__); }
SET(hipMemset, (void *dst, int value, size_t n), dst, value & 0xff, 1, n, 1, n, NULL, NOW)
SET(hipMemset_spt, (void *dst, int value, size_t n), dst, value & 0xff, 1, n, 1, n, NULL, NOW)
SET(hipMemsetAsync, (void *dst, int value, size_t n, hipStream_t stream), dst, value & 0xff, 1, n, 1, n, stream, 0)
SET(hipMemsetAsync_spt, (void *dst, int value, size_t n, hipStream_t stream), dst, value & 0xff, 1, n, 1, n, stream, 1)
SET(hipMemset2D, (void *dst, size_t pitch, int value, size_t width, size_t height), dst, value & 0xff, 1, width, height, pitch, NULL, NOW)
SET(hipMemset2D_spt, (void *dst, size_t pitch, int value, size_t width, size_t height), dst, value & 0xff, 1, width, height, pitch, NULL, NOW)
SET(hipMemset2DAsync, (void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream), dst, value & 0xff, 1, width, height, pitch, stream, 0)
SET(hipMemset2DAsync_spt, (void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream), dst, value & 0xff, 1, width, height, pitch, stream, 1)
SET(hipMemsetD8, (hipDeviceptr_t dst, unsigned char value, size_t n), dst, value, 1, n, 1, n, NULL, NOW)
SET(hipMemsetD8Async, (hipDeviceptr_t dst, unsigned char value, size_t n, hipStream_t stream), dst, value, 1, n, 1, n, stream, 0)
SET(hipMemsetD16, (hipDeviceptr_t dst, unsigned short value, size_t n), dst, value, 2, n, 1, n, NULL, NOW)
SET(hipMemsetD16Async, (hipDeviceptr_t dst, unsigned short value, size_t n, hipStream_t stream), dst, value, 2, n, 1, n, stream, 0)
SET(hipMemsetD32, (hipDeviceptr_t dst, int value, size_t n), dst, value, 4, n, 1, n, NULL, NOW)
SET(hipMemsetD32Async, (hipDeviceptr_t dst, int value, size_t n, hipStream_t stream), dst, value, 4, n, 1, n, stream, 0)

static hipError_t allocate(const char *api, void **ptr, size_t size)
{
    hipError_t status = ptr ? standin_unsafe_now() : hipErrorInvalidValue;
    if (!status)
        *ptr = size ? malloc(size) : NULL;
    if (!status && size && !*ptr)
        status = hipErrorOutOfMemory;
    return standin_called(api, status, "ptr=%#lx bytes=%zu", ptr && !status ? HEX(*ptr) : 0, size);
}

PUBLIC hipError_t hipMalloc(void **ptr, size_t size) { return allocate(__func__, ptr, size); }
PUBLIC hipError_t hipMallocHost(void **ptr, size_t size) { return allocate(__func__, ptr, size); }
PUBLIC hipError_t hipHostMalloc(void **ptr, size_t size, unsigned flags) { return (void)flags, allocate(__func__, ptr, size); }
PUBLIC hipError_t hipMallocManaged(void **ptr, size_t size, unsigned flags) { return (void)flags, allocate(__func__, ptr, size); }
PUBLIC hipError_t hipExtMallocWithFlags(void **ptr, size_t size, unsigned flags) { return (void)flags, allocate(__func__, ptr, size); }

PUBLIC hipError_t hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
    if (!pitch)
        return standin_fail(hipErrorInvalidValue);
    *pitch = (width + 127) / 128 * 128;
    return allocate(__func__, ptr, *pitch * height);
}

static hipError_t release(const char *api, void *ptr)
{
    hipError_t status = standin_called(api, standin_unsafe_now(), "ptr=%#lx", HEX(ptr));
    if (!status)
        free(ptr);
    return status;
}

PUBLIC hipError_t hipFree(void *ptr) { return release(__func__, ptr); }
PUBLIC hipError_t hipHostFree(void *ptr) { return release(__func__, ptr); }

// In stream order: a captured allocation is made at once and freed with the process.
static hipError_t allocate_in_order(const char *api, void **ptr, size_t size, hipStream_t stream)
{
    hipError_t status = ptr ? hipSuccess : hipErrorInvalidValue;
    hipGraphNode_t node = status ? NULL : standin_captured(stream, 0, hipGraphNodeTypeMemAlloc, &status);
    if (!status)
        *ptr = size ? malloc(size) : NULL;
    return standin_called(api, status, "ptr=%#lx bytes=%zu stream=%#lx captured=%d", ptr && !status ? HEX(*ptr) : 0, size, HEX(stream), !!node);
}

PUBLIC hipError_t hipMallocAsync(void **ptr, size_t size, hipStream_t stream) { return allocate_in_order(__func__, ptr, size, stream); }
PUBLIC hipError_t hipMallocFromPoolAsync(void **ptr, size_t size, hipMemPool_t pool, hipStream_t stream) { return (void)pool, allocate_in_order(__func__, ptr, size, stream); }

PUBLIC hipError_t hipFreeAsync(void *ptr, hipStream_t stream)
{
    hipError_t status = hipSuccess;
    hipGraphNode_t node = standin_captured(stream, 0, hipGraphNodeTypeMemFree, &status);
    status = CALLED(status, "ptr=%#lx stream=%#lx captured=%d", HEX(ptr), HEX(stream), !!node);
    if (!node && !status)
        free(ptr);
    return status;
}

PUBLIC hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    if (!free_bytes || !total)
        return standin_fail(hipErrorInvalidValue);
    *total = *free_bytes = (size_t)16 << 30;
    return hipSuccess;
}

// Host functions in stream order: called at once, or a node.
static hipError_t host(const char *api, hipStream_t stream, hipHostFn_t fn, void *data, int per_thread)
{
    hipError_t status = fn ? hipSuccess : hipErrorInvalidValue;
    hipGraphNode_t node = status ? NULL : standin_captured(stream, per_thread, hipGraphNodeTypeHost, &status);
    if (node)
        node->as.host = (hipHostNodeParams){fn, data};
    else if (!status)
        fn(data);
    return standin_called(api, status, "stream=%#lx captured=%d", HEX(stream), !!node);
}

PUBLIC hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *userData) { return host(__func__, stream, fn, userData, 0); }
PUBLIC hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t fn, void *userData) { return host(__func__, stream, fn, userData, 1); }

static hipError_t call_back(const char *api, hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned flags, int per_thread)
{
    hipError_t status = callback && !flags ? standin_wait_now(stream, per_thread) : hipErrorInvalidValue;
    if (!status)
        callback(stream, hipSuccess, data);
    return standin_called(api, status, "stream=%#lx", HEX(stream));
}

PUBLIC hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData, unsigned flags) { return call_back(__func__, stream, callback, userData, flags, 0); }
PUBLIC hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback, void *userData, unsigned flags) { return call_back(__func__, stream, callback, userData, flags, 1); }
