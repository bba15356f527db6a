// The kernels of hip_module.c: one with a C name, one with a C++ name. They need no header and no
// library: clang -x hip --offload-arch=gfx1100 --cuda-device-only --no-gpu-bundle-output -nogpuinc
// -nogpulib -O2 -o vectors-gfx1100.co vectors.hip
#define KERNEL __attribute__((global))

static __attribute__((device)) int item(void)
{
    return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

extern "C" KERNEL void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = item();
    if (i < n)
        c[i] = a[i] + b[i];
}

template <int Factor> KERNEL void vector_scale(float *a, int n)
{
    int i = item();
    if (i < n)
        a[i] *= Factor;
}
template KERNEL void vector_scale<2>(float *a, int n);
