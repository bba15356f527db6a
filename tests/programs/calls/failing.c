// Launches and lookups that fail, each for another reason, with the result of hipGetLastError after
// each.
// link: amdhip64
#include "code_object.h"
#include "hip.h"

static void show(const char *what, hipError_t status)
{
    hipError_t peeked = hipPeekAtLastError(), last = hipGetLastError(), after = hipGetLastError();
    printf("%-22s %3d %s, last %d %d, then %d\n", what, status, hipGetErrorName(status), peeked, last, after);
}

int main(void)
{
    struct co_kernel kernel = {"k", "pi"};
    static char never_registered;
    void *p = NULL, *params[] = {&p, &p}, *not_extra[] = {NULL, NULL, NULL, NULL, NULL};
    size_t size = 12;
    char buffer[12] = {0};
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    hipModule_t module;
    hipFunction_t f;
    show("load", hipModuleLoadData(&module, co_module(&kernel, 1)));
    show("load of nothing", hipModuleLoadData(&module, NULL));
    show("load of text", hipModuleLoadData(&(hipModule_t){0}, "this is no code object at all, and long enough to be read as one"));
    show("load of no file", hipModuleLoad(&(hipModule_t){0}, "/nonexistent/kernel.co"));
    show("lookup", hipModuleGetFunction(&f, module, "k"));
    show("lookup, not there", hipModuleGetFunction(&(hipFunction_t){0}, module, "absent"));
    show("launch", hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    show("null function", hipModuleLaunchKernel(NULL, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    show("zero block", hipModuleLaunchKernel(f, 1, 1, 1, 0, 1, 1, 0, NULL, params, NULL));
    show("zero grid", hipModuleLaunchKernel(f, 1, 0, 1, 64, 1, 1, 0, NULL, params, NULL));
    show("params and extra", hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, extra));
    show("extra out of order", hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, not_extra));
    show("ext, null function", hipExtModuleLaunchKernel(NULL, 64, 1, 1, 64, 1, 1, 0, NULL, NULL, extra, NULL, NULL, 0));
    show("unregistered stub", hipLaunchKernel(&never_registered, (dim3){1, 1, 1}, (dim3){64, 1, 1}, params, 0, NULL));
    show("unload", hipModuleUnload(module));
    show("unload again", hipModuleUnload(module));
    show("after unload", hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    show("no such device", hipSetDevice(99));
    return 0;
}
