// Memory, streams, events, devices and errors of the HIP stand-in: "device" memory is the heap, everything is done at once.
#include "standin.h"
#include "code_object.h"
#include <time.h>

static __thread hipError_t last_error;
static __thread int device;

hipError_t standin_fail(hipError_t error) { return last_error = error; }
static hipError_t done(hipError_t error) { return error ? standin_fail(error) : hipSuccess; }

struct ihipStream_t { int flags; };
struct ihipEvent_t { struct timespec at; };

PUBLIC hipError_t hipMalloc(void **ptr, size_t size)
{
    if (!ptr)
        return done(hipErrorInvalidValue);
    *ptr = size ? malloc(size) : NULL;
    return done(size && !*ptr ? hipErrorOutOfMemory : hipSuccess);
}

PUBLIC hipError_t hipFree(void *ptr)
{
    free(ptr);
    return hipSuccess;
}

PUBLIC hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    (void)kind;
    if (sizeBytes && (!dst || !src))
        return done(hipErrorInvalidValue);
    if (sizeBytes)
        memmove(dst, src, sizeBytes);
    return hipSuccess;
}

PUBLIC hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream)
{
    (void)stream;
    return hipMemcpy(dst, src, sizeBytes, kind);
}

PUBLIC hipError_t hipMemset(void *dst, int value, size_t sizeBytes)
{
    if (sizeBytes && !dst)
        return done(hipErrorInvalidValue);
    if (sizeBytes)
        memset(dst, value, sizeBytes);
    return hipSuccess;
}

PUBLIC hipError_t hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    (void)stream;
    return hipMemset(dst, value, sizeBytes);
}

PUBLIC hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags)
{
    if (!stream)
        return done(hipErrorInvalidValue);
    *stream = malloc(sizeof **stream);
    (*stream)->flags = flags;
    return hipSuccess;
}

PUBLIC hipError_t hipStreamCreate(hipStream_t *stream) { return hipStreamCreateWithFlags(stream, 0); }

PUBLIC hipError_t hipStreamDestroy(hipStream_t stream)
{
    if (!stream || stream == (hipStream_t)1 || stream == (hipStream_t)2)
        return done(hipErrorInvalidHandle);
    free(stream);
    return hipSuccess;
}

PUBLIC hipError_t hipStreamSynchronize(hipStream_t stream) { return (void)stream, hipSuccess; }
PUBLIC hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) { return (void)stream, (void)flags, done(event ? hipSuccess : hipErrorInvalidHandle); }
PUBLIC hipError_t hipDeviceSynchronize(void) { return hipSuccess; }
PUBLIC int hipGetStreamDeviceId(hipStream_t stream) { return (void)stream, device; }

PUBLIC hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
    (void)flags;
    if (!event)
        return done(hipErrorInvalidValue);
    *event = calloc(1, sizeof **event);
    return hipSuccess;
}

PUBLIC hipError_t hipEventCreate(hipEvent_t *event) { return hipEventCreateWithFlags(event, 0); }

PUBLIC hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    (void)stream;
    if (!event)
        return done(hipErrorInvalidHandle);
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return hipSuccess;
}

PUBLIC hipError_t hipEventSynchronize(hipEvent_t event) { return done(event ? hipSuccess : hipErrorInvalidHandle); }

PUBLIC hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
    if (!ms || !start || !stop)
        return done(hipErrorInvalidHandle);
    *ms = (stop->at.tv_sec - start->at.tv_sec) * 1e3f + (stop->at.tv_nsec - start->at.tv_nsec) / 1e6f;
    return hipSuccess;
}

PUBLIC hipError_t hipEventDestroy(hipEvent_t event)
{
    free(event);
    return done(event ? hipSuccess : hipErrorInvalidHandle);
}

PUBLIC hipError_t hipInit(unsigned flags) { return done(flags ? hipErrorInvalidValue : standin.devices ? hipSuccess : hipErrorNoDevice); }

PUBLIC hipError_t hipGetDeviceCount(int *count)
{
    *count = standin.devices;
    return done(standin.devices ? hipSuccess : hipErrorNoDevice);
}

PUBLIC hipError_t hipGetDevice(int *deviceId)
{
    *deviceId = device;
    return done(standin.devices ? hipSuccess : hipErrorNoDevice);
}

PUBLIC hipError_t hipSetDevice(int deviceId)
{
    if (deviceId < 0 || deviceId >= standin.devices)
        return done(standin.devices ? hipErrorInvalidDevice : hipErrorNoDevice);
    device = deviceId;
    return hipSuccess;
}

static int wave(void) { return strncmp(co_gfx(), "gfx9", 4) ? 32 : 64; }

PUBLIC hipError_t hipDeviceGetName(char *name, int len, int deviceId)
{
    if (!name || len < 1 || deviceId < 0 || deviceId >= standin.devices)
        return done(hipErrorInvalidDevice);
    snprintf(name, len, "Stand-in %s", co_gfx());
    return hipSuccess;
}

PUBLIC hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *prop, int deviceId)
{
    if (!prop || deviceId < 0 || deviceId >= standin.devices)
        return done(hipErrorInvalidDevice);
    *prop = (hipDeviceProp_tR0000){.totalGlobalMem = (size_t)16 << 30, .warpSize = wave(), .multiProcessorCount = 48};
    hipDeviceGetName(prop->name, sizeof prop->name, deviceId);
    snprintf(prop->gcnArchName, sizeof prop->gcnArchName, "%s", co_gfx());
    return hipSuccess;
}

// The plain name is the old layout in every release.
PUBLIC hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *prop, int deviceId) { return hipGetDevicePropertiesR0000(prop, deviceId); }

PUBLIC hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *prop, int deviceId)
{
    if (!prop || deviceId < 0 || deviceId >= standin.devices)
        return done(hipErrorInvalidDevice);
    *prop = (hipDeviceProp_tR0600){.totalGlobalMem = (size_t)16 << 30, .warpSize = wave(), .multiProcessorCount = 48, .pciBusID = 3 + deviceId};
    hipDeviceGetName(prop->name, sizeof prop->name, deviceId);
    snprintf(prop->gcnArchName, sizeof prop->gcnArchName, "%s", co_gfx());
    return hipSuccess;
}

PUBLIC hipError_t hipRuntimeGetVersion(int *runtimeVersion) { return *runtimeVersion = 60342134, hipSuccess; }
PUBLIC hipError_t hipDriverGetVersion(int *driverVersion) { return *driverVersion = 60342134, hipSuccess; }

PUBLIC const char *hipGetErrorName(hipError_t error)
{
    switch (error) {
#define NAME(e) case e: return #e;
        NAME(hipSuccess) NAME(hipErrorInvalidValue) NAME(hipErrorOutOfMemory) NAME(hipErrorInvalidConfiguration)
        NAME(hipErrorInvalidDeviceFunction) NAME(hipErrorNoDevice) NAME(hipErrorInvalidDevice) NAME(hipErrorInvalidImage)
        NAME(hipErrorNoBinaryForGpu) NAME(hipErrorFileNotFound) NAME(hipErrorInvalidHandle) NAME(hipErrorIllegalState) NAME(hipErrorNotFound)
#undef NAME
    }
    return "hipErrorUnknown";
}

PUBLIC const char *hipGetErrorString(hipError_t error) { return hipGetErrorName(error); }

PUBLIC hipError_t hipGetLastError(void)
{
    hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

PUBLIC hipError_t hipPeekAtLastError(void) { return last_error; }
