// Every launch function once, with distinct grid, block, shared memory and stream.
// link: amdhip64
// kernel: 0 add _Z3addPfS_i ppi
// kernel: 0 scale _Z5scalePff pi
// kernel: 1 fill _Z4fillPfih pih
#include "code_object.h"
#include "launch_forms.fatbin.h"

static float *x;
static int n = 7;

// `add<<<g, b, shared, stream>>>(x, x, n)` as hipcc compiles it.
static hipError_t add_stub(void)
{
    dim3 grid, block;
    size_t shared;
    hipStream_t stream;
    void *args[] = {&x, &x, &n};
    if (__hipPopCallConfiguration(&grid, &block, &shared, &stream))
        return hipErrorInvalidValue;
    return hipLaunchKernel(&add, grid, block, args, shared, stream);
}

int main(void)
{
    struct co_kernel kernels[] = {{"by_params", "ppi"}, {"by_extra", "pi"}, {"_Z5plainv", ""}};
    struct { void *p; int i; } buffer = {NULL, 3};
    size_t size = sizeof buffer;
    void *params[] = {&x, &x, &n}, *scale_args[] = {&x, &n};
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    unsigned char *image = co_module(kernels, 3);
    hipModule_t module, module_ex;
    hipFunction_t f, g, h;
    hipStream_t s, per_thread = (hipStream_t)2;
    int failed = 0;
    hipMalloc((void **)&x, 64);
    hipStreamCreate(&s);
    failed += !!hipModuleLoadData(&module, image) + !!hipModuleLoadDataEx(&module_ex, image, 0, NULL, NULL);
    failed += !!hipModuleGetFunction(&f, module, "by_params") + !!hipModuleGetFunction(&g, module, "by_extra") + !!hipModuleGetFunction(&h, module_ex, "_Z5plainv");

    failed += !!hipModuleLaunchKernel(f, 1, 2, 3, 32, 2, 1, 0, NULL, params, NULL);
    failed += !!hipModuleLaunchKernel(g, 2, 1, 1, 64, 1, 1, 128, s, NULL, extra);
    failed += !!hipModuleLaunchKernel(h, 3, 1, 1, 8, 8, 1, 0, per_thread, NULL, NULL);
    failed += !!hipModuleLaunchCooperativeKernel(f, 4, 1, 1, 128, 1, 1, 256, s, params);
    failed += !!hipExtModuleLaunchKernel(g, 5 * 64, 2, 2, 64, 2, 1, 512, s, NULL, extra, NULL, NULL, 0); // work-items
    failed += !!hipHccModuleLaunchKernel(g, 6 * 64, 1, 1, 64, 1, 1, 0, NULL, NULL, extra, NULL, NULL);
    failed += !!hipExtModuleLaunchKernel_cxx(f, 7 * 64, 1, 1, 64, 1, 1, 1024, s, params, NULL, NULL, NULL, 1);
    failed += !!hipHccModuleLaunchKernel_cxx(f, 8 * 64, 1, 1, 64, 1, 1, 0, s, params, NULL, NULL, NULL);

    __hipPushCallConfiguration((dim3){9, 1, 1}, (dim3){256, 1, 1}, 2048, s);
    failed += !!add_stub();
    failed += !!hipLaunchKernel(&scale, (dim3){10, 2, 1}, (dim3){16, 16, 1}, scale_args, 0, NULL);
    failed += !!hipLaunchKernel_spt(&fill, (dim3){11, 1, 1}, (dim3){32, 1, 1}, scale_args, 64, per_thread);
    failed += !!hipExtLaunchKernel(&scale, (dim3){12, 1, 1}, (dim3){32, 1, 1}, scale_args, 0, s, NULL, NULL, 0);
    failed += !!hipLaunchCooperativeKernel(&fill, (dim3){13, 1, 1}, (dim3){32, 1, 1}, scale_args, 96, s);
    failed += !!hipLaunchCooperativeKernel_spt(&fill, (dim3){14, 1, 1}, (dim3){32, 1, 1}, scale_args, 0, per_thread);
    printf("launches 14, failed %d\n", failed);
    return failed;
}
