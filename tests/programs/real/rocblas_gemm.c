// One GEMM of each kind that inference uses, on the real rocBLAS.
// link: amdhip64 rocblas
#include "../api/rocblas.h"
#include <stdio.h>

int main(void)
{
    const rocblas_operation N = rocblas_operation_none, T = rocblas_operation_transpose;
    const rocblas_datatype f16 = rocblas_datatype_f16_r, f32 = rocblas_datatype_f32_r;
    rocblas_handle handle;
    float one = 1, zero = 0;
    void *a, *b, *c, *pointers;
    hipMalloc(&a, 4 << 20), hipMalloc(&b, 4 << 20), hipMalloc(&c, 4 << 20), hipMalloc(&pointers, 4096);
    void *as[] = {a, a, a}, *bs[] = {b, b, b}, *cs[] = {c, c, c};
    void **device_as = pointers, **device_bs = device_as + 3, **device_cs = device_bs + 3;
    hipMemcpy(device_as, as, sizeof as, hipMemcpyHostToDevice);
    hipMemcpy(device_bs, bs, sizeof bs, hipMemcpyHostToDevice);
    hipMemcpy(device_cs, cs, sizeof cs, hipMemcpyHostToDevice);
    printf("create %d\n", rocblas_create_handle(&handle));
    printf("f32 NN %d\n", rocblas_gemm_ex(handle, N, N, 512, 512, 512, &one, a, f32, 512, b, f32, 512, &zero, c, f32, 512, c, f32, 512, f32, 0, 0, 0));
    printf("f16 TN %d\n", rocblas_gemm_ex(handle, T, N, 512, 16, 256, &one, a, f16, 256, b, f16, 256, &zero, c, f16, 512, c, f16, 512, f32, 0, 0, 0));
    printf("strided batched %d\n", rocblas_gemm_strided_batched_ex(handle, T, N, 64, 32, 128, &one, a, f16, 128, 64 * 128, b, f16, 128, 32 * 128, &zero, c, f32, 64, 64 * 32, c, f32, 64, 64 * 32, 4, f32, 0, 0, 0));
    printf("batched %d\n", rocblas_gemm_batched_ex(handle, T, N, 64, 32, 128, &one, device_as, f16, 128, device_bs, f16, 128, &zero, device_cs, f16, 64, device_cs, f16, 64, 3, f16, 0, 0, 0));
    printf("invalid size %d\n", rocblas_gemm_ex(handle, N, N, -1, 512, 512, &one, a, f32, 512, b, f32, 512, &zero, c, f32, 512, c, f32, 512, f32, 0, 0, 0));
    printf("synchronize %d\n", hipDeviceSynchronize());
    printf("destroy %d\n", rocblas_destroy_handle(handle));
    return 0;
}
