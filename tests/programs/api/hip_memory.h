// More of the HIP API: allocations, copies and sets in all their forms, streams, events and host
// functions.
#ifndef HIP_MEMORY_H
#define HIP_MEMORY_H

#include "hip_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *hipDeviceptr_t;
typedef struct ihipMemPoolHandle_t *hipMemPool_t;
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *userData);
#define hipStreamPerThread ((hipStream_t)2)
#define hipStreamLegacy ((hipStream_t)1)
enum { hipStreamNonBlocking = 1, hipEventDisableTiming = 2 };

hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream);
hipError_t hipMallocManaged(void **dev_ptr, size_t size, unsigned int flags);
hipError_t hipMallocFromPoolAsync(void **dev_ptr, size_t size, hipMemPool_t mem_pool, hipStream_t stream);
hipError_t hipMallocHost(void **ptr, size_t size);
hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags);
hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags);
hipError_t hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height);
hipError_t hipFreeAsync(void *dev_ptr, hipStream_t stream);
hipError_t hipHostFree(void *ptr);
hipError_t hipMemGetInfo(size_t *free, size_t *total);

HIP_AND_SPT(hipMemcpy, void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind);
HIP_AND_SPT(hipMemcpyAsync, void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream);
HIP_AND_SPT(hipMemcpy2D, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind);
HIP_AND_SPT(hipMemcpy2DAsync, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream);
HIP_AND_SPT(hipMemcpy3D, const hipMemcpy3DParms *p);
HIP_AND_SPT(hipMemcpy3DAsync, const hipMemcpy3DParms *p, hipStream_t stream);
hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, void *src, size_t sizeBytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, void *src, size_t sizeBytes, hipStream_t stream);
hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes);
hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);
hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes);
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);
hipError_t hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId, size_t sizeBytes);
hipError_t hipMemcpyPeerAsync(void *dst, int dstDeviceId, const void *src, int srcDevice, size_t sizeBytes, hipStream_t stream);

HIP_AND_SPT(hipMemset, void *dst, int value, size_t sizeBytes);
HIP_AND_SPT(hipMemsetAsync, void *dst, int value, size_t sizeBytes, hipStream_t stream);
HIP_AND_SPT(hipMemset2D, void *dst, size_t pitch, int value, size_t width, size_t height);
HIP_AND_SPT(hipMemset2DAsync, void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream);
hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count);
hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count, hipStream_t stream);
hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count);
hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count, hipStream_t stream);
hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count);
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream);

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority);
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t cuMaskSize, const uint32_t *cuMask);
hipError_t hipStreamGetDevice(hipStream_t stream, int *device);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int *flags);
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority);
hipError_t hipStreamGetId(hipStream_t stream, unsigned long long *streamId);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamQuery_spt(hipStream_t stream);
hipError_t hipStreamSynchronize_spt(hipStream_t stream);
hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int flags);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream);
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags);
HIP_AND_SPT(hipLaunchHostFunc, hipStream_t stream, hipHostFn_t fn, void *userData);
HIP_AND_SPT(hipStreamAddCallback, hipStream_t stream, hipStreamCallback_t callback, void *userData, unsigned int flags);
hipError_t hipDeviceReset(void);

#ifdef __cplusplus
}
#endif
#endif
