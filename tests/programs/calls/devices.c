// Launches on several devices, one by one and on all at once; for STANDIN_DEVICES=3.
// link: amdhip64
// kernel: 0 on_device _Z9on_devicev -
#include "code_object.h"
#include "devices.fatbin.h"
#include "hip_memory.h"

int main(void)
{
    struct co_kernel kernel = {"of_a_module", ""};
    int count = 0, failed = !!hipGetDeviceCount(&count), got = -1;
    hipStream_t streams[16];
    hipLaunchParams stubs[16] = {0};
    hipFunctionLaunchParams functions[16] = {0};
    for (int i = 0; i < count; i++) {
        hipModule_t module;
        hipFunction_t f;
        failed += !!hipSetDevice(i) + !!hipStreamCreate(&streams[i]) + !!hipStreamGetDevice(streams[i], &got) + (got != i || hipGetStreamDeviceId(streams[i]) != i);
        failed += !!hipModuleLoadData(&module, co_module(&kernel, 1)) + !!hipModuleGetFunction(&f, module, "of_a_module");
        failed += !!hipLaunchKernel(&on_device, (dim3){i + 1, 1, 1}, (dim3){64, 1, 1}, NULL, 0, streams[i]) + !!hipLaunchKernel(&on_device, (dim3){1, i + 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL);
        failed += !!hipModuleLaunchKernel(f, 1, 1, i + 1, 32, 1, 1, 0, streams[i], NULL, NULL);
        stubs[i] = (hipLaunchParams){(void *)&on_device, {10 + i, 1, 1}, {128, 1, 1}, NULL, 16, streams[i]};
        functions[i] = (hipFunctionLaunchParams){f, 20 + i, 1, 1, 256, 1, 1, 8, streams[i], NULL};
    }
    failed += !!hipLaunchCooperativeKernelMultiDevice(stubs, count, 0) + !!hipExtLaunchMultiKernelMultiDevice(stubs, count, 0) + !!hipModuleLaunchCooperativeKernelMultiDevice(functions, count, 0);
    stubs[count - 1].stream = streams[0];
    printf("devices %d, twice the same %d, too many %d, failed %d\n", count, count > 1 ? hipLaunchCooperativeKernelMultiDevice(stubs, count, 0) : hipErrorInvalidDevice,
           hipLaunchCooperativeKernelMultiDevice(stubs, count + 1, 0), failed);
    return failed;
}
