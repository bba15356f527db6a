// GEMMs of several types and layouts through rocBLAS on a stream, some of which fail.
// link: amdhip64 rocblas
#include "rocblas.h"
#include <stdio.h>

int main(void)
{
    const rocblas_operation N = rocblas_operation_none, T = rocblas_operation_transpose;
    const rocblas_datatype f16 = rocblas_datatype_f16_r, f32 = rocblas_datatype_f32_r, i8 = rocblas_datatype_i8_r;
    rocblas_handle handle;
    hipStream_t stream, got = NULL;
    float one = 1, zero = 0;
    void *a, *b, *c;
    hipMalloc(&a, 1 << 20), hipMalloc(&b, 1 << 20), hipMalloc(&c, 1 << 20);
    void *as[] = {a, a, a}, *bs[] = {b, b, b}, *cs[] = {c, c, c};
    hipStreamCreate(&stream);
    printf("create %d\n", rocblas_create_handle(&handle));
    printf("set stream %d\n", rocblas_set_stream(handle, stream));
    printf("get stream %d\n", rocblas_get_stream(handle, &got));
    printf("the same %d\n", got == stream);
    printf("f32 NN %d\n", rocblas_gemm_ex(handle, N, N, 128, 64, 32, &one, a, f32, 128, b, f32, 32, &zero, c, f32, 128, c, f32, 128, f32, 0, 0, 0));
    printf("f16 TN %d\n", rocblas_gemm_ex(handle, T, N, 256, 48, 64, &one, a, f16, 64, b, f16, 64, &zero, c, f16, 256, c, f16, 256, f32, 0, 0, 0));
    printf("f16 TN, solution 2 %d\n", rocblas_gemm_ex(handle, T, N, 256, 48, 64, &one, a, f16, 64, b, f16, 64, &zero, c, f16, 256, c, f16, 256, f32, 1, 2, 0));
    printf("batched %d\n", rocblas_gemm_batched_ex(handle, N, N, 16, 16, 16, &one, as, f32, 16, bs, f32, 16, &zero, cs, f32, 16, cs, f32, 16, 3, f32, 0, 0, 0));
    printf("strided batched %d\n", rocblas_gemm_strided_batched_ex(handle, N, T, 32, 16, 8, &one, a, f16, 32, 256, b, f16, 16, 128, &zero, c, f32, 32, 512, c, f32, 32, 512, 5, f32, 0, 0, 0));
    printf("sgemm %d\n", rocblas_sgemm(handle, T, T, 24, 40, 56, &one, a, 56, b, 40, &zero, c, 24));
    printf("empty %d\n", rocblas_sgemm(handle, N, N, 0, 8, 8, &one, a, 8, b, 8, &zero, c, 8));
    printf("invalid size %d\n", rocblas_gemm_ex(handle, N, N, -1, 64, 32, &one, a, f32, 128, b, f32, 32, &zero, c, f32, 128, c, f32, 128, f32, 0, 0, 0));
    printf("no handle %d\n", rocblas_sgemm(NULL, N, N, 8, 8, 8, &one, a, 8, b, 8, &zero, c, 8));
    printf("no such type %d\n", rocblas_gemm_ex(handle, N, N, 8, 8, 8, &one, a, i8, 8, b, i8, 8, &zero, c, i8, 8, c, i8, 8, f32, 0, 0, 0));
    printf("last error %d\n", hipGetLastError());
    printf("destroy %d\n", rocblas_destroy_handle(handle));
    return 0;
}
