// Devices and errors of the HIP stand-in.
#include "hip_memory.h"
#include "standin.h"
#include "code_object.h"

static __thread hipError_t last_error;
static __thread int device;

hipError_t standin_fail(hipError_t error) { return last_error = error; }
static hipError_t done(hipError_t error) { return error ? standin_fail(error) : hipSuccess; }

int standin_device(void) { return device; }

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
    if (standin.log)
        standin_log(STANDIN_CALL, __func__, "device=%d\t0", deviceId);
    return hipSuccess;
}

PUBLIC hipError_t hipDeviceReset(void) { return done(standin.devices ? hipSuccess : hipErrorNoDevice); }

static int wave(void) { return strncmp(co_gfx(), "gfx9", 4) ? 32 : 64; }

static void name_of(char *name, int len) { snprintf(name, len, "Stand-in %s", co_gfx()); }

PUBLIC hipError_t hipDeviceGetName(char *name, int len, int deviceId)
{
    if (!name || len < 1 || deviceId < 0 || deviceId >= standin.devices)
        return done(hipErrorInvalidDevice);
    name_of(name, len);
    return hipSuccess;
}

PUBLIC hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *prop, int deviceId)
{
    if (!prop || deviceId < 0 || deviceId >= standin.devices)
        return done(hipErrorInvalidDevice);
    *prop = (hipDeviceProp_tR0000){.totalGlobalMem = (size_t)16 << 30, .warpSize = wave(), .multiProcessorCount = 48};
    name_of(prop->name, sizeof prop->name);
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
    name_of(prop->name, sizeof prop->name);
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
        NAME(hipErrorContextIsDestroyed) NAME(hipErrorNotSupported) NAME(hipErrorStreamCaptureUnsupported) NAME(hipErrorStreamCaptureInvalidated)
        NAME(hipErrorStreamCaptureUnmatched) NAME(hipErrorStreamCaptureUnjoined) NAME(hipErrorStreamCaptureIsolation) NAME(hipErrorStreamCaptureImplicit)
        NAME(hipErrorCapturedEvent) NAME(hipErrorStreamCaptureWrongThread) NAME(hipErrorGraphExecUpdateFailure)
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
