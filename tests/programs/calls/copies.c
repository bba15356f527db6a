// Every copy, fill and allocation once, each with its own size, with the streams, events and waits
// around them.
// link: amdhip64
#include "hip_memory.h"
#include <stdio.h>
#include <stdlib.h>

static void on_host(void *count) { ++*(int *)count; }
static void on_stream(hipStream_t stream, hipError_t status, void *count) { *(int *)count += stream && !status; }

int main(void)
{
    char *x, *y, *h, *p, host[4096] = "from the host";
    int failed = 0, calls = 0;
    size_t pitch;
    float ms = -1;
    hipStream_t s, t;
    hipEvent_t e, f;
    failed += !!hipMalloc((void **)&x, 8192) + !!hipMallocManaged((void **)&y, 8192, 1) + !!hipHostMalloc((void **)&h, 4096, 0) + !!hipMallocPitch((void **)&p, &pitch, 100, 16);
    failed += !!hipStreamCreateWithPriority(&s, hipStreamNonBlocking, -1) + !!hipStreamCreate(&t) + !!hipEventCreateWithFlags(&e, hipEventDisableTiming) + !!hipEventCreate(&f);

    failed += !!hipMemcpy(x, host, 101, hipMemcpyHostToDevice) + !!hipMemcpyAsync(y, x, 102, hipMemcpyDeviceToDevice, s) + !!hipMemcpyWithStream(h, y, 103, hipMemcpyDeviceToHost, s);
    failed += !!hipMemcpy_spt(x, host, 104, hipMemcpyDefault) + !!hipMemcpyAsync_spt(x, host, 105, hipMemcpyHostToDevice, NULL);
    failed += !!hipMemcpyHtoD(x, host, 106) + !!hipMemcpyHtoDAsync(x, host, 107, s) + !!hipMemcpyDtoH(h, x, 108) + !!hipMemcpyDtoHAsync(h, x, 109, s);
    failed += !!hipMemcpyDtoD(y, x, 110) + !!hipMemcpyDtoDAsync(y, x, 111, s) + !!hipMemcpyPeer(y, 0, x, 0, 112) + !!hipMemcpyPeerAsync(y, 0, x, 0, 113, s);
    failed += !!hipMemcpy2D(p, pitch, x, 100, 100, 3, hipMemcpyDeviceToDevice) + !!hipMemcpy2DAsync(p, pitch, x, 100, 100, 4, hipMemcpyDeviceToDevice, s);
    hipMemcpy3DParms volume = {.srcPtr = {x, 10, 10, 5}, .dstPtr = {y, 20, 20, 5}, .extent = {10, 5, 6}, .kind = hipMemcpyDeviceToDevice};
    failed += !!hipMemcpy3D(&volume) + !!hipMemcpy3DAsync(&volume, s);
    failed += !!hipMemset(x, 0x101, 114) + !!hipMemsetAsync(x, 2, 115, s) + !!hipMemset2D(p, pitch, 3, 100, 5) + !!hipMemset2DAsync(p, pitch, 4, 100, 6, s);
    failed += !!hipMemsetD8(x, 5, 116) + !!hipMemsetD8Async(x, 6, 117, s) + !!hipMemsetD16(x, 7, 118) + !!hipMemsetD16Async(x, 8, 119, s) + !!hipMemsetD32(x, 9, 120) + !!hipMemsetD32Async(x, 10, 121, s);
    printf("copied %.13s, set %d, wrong pointers %d %d\n", h, ((int *)x)[120], hipMemcpy(NULL, x, 1, hipMemcpyDefault), hipMemset(NULL, 0, 1));
    (void)hipGetLastError();

    failed += !!hipEventRecord(e, s) + !!hipStreamWaitEvent(t, e, 0) + !!hipEventQuery(e) + !!hipEventSynchronize(e) + !!hipEventRecord(f, NULL) + !!hipEventElapsedTime(&ms, e, f);
    failed += !!hipStreamQuery(s) + !!hipStreamSynchronize(s) + !!hipStreamSynchronize(NULL) + !!hipStreamSynchronize_spt(NULL) + !!hipDeviceSynchronize();
    failed += !!hipLaunchHostFunc(s, on_host, &calls) + !!hipStreamAddCallback(s, on_stream, &calls, 0);
    failed += !!hipMallocAsync((void **)&p, 122, s) + !!hipFreeAsync(p, s) + !!hipEventDestroy(e) + !!hipEventDestroy(f) + !!hipStreamDestroy(s) + !!hipStreamDestroy(t) + !!hipFree(x) + !!hipFree(y) + !!hipHostFree(h);
    printf("host calls %d, time %d, after its end %d, failed %d\n", calls, ms >= 0, hipStreamSynchronize(s), failed);
    return failed;
}
