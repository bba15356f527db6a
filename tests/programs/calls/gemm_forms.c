// Every entry point of rocBLAS and hipBLAS that computes a GEMM, once, with distinct arguments.
// link: amdhip64 rocblas hipblas
#include "hipblas.h"
#include "rocblas.h"
#include <stdio.h>

static void *a, *b, *c, *d;
static int calls, sum;

// The sizes change from call to call.
#define SIZES 16 + calls, 8, 4
#define ROCBLAS handle, rocblas_operation_transpose, rocblas_operation_none, SIZES, alpha
#define HIPBLAS handle, HIPBLAS_OP_N, HIPBLAS_OP_T, SIZES, alpha
#define F16 rocblas_datatype_f16_r
#define F32 rocblas_datatype_f32_r
#define DO(call) (sum = 31 * sum + (call), calls++)

static void rocblas(rocblas_handle handle, const void *alpha, const void *beta)
{
    const void *as[] = {a, a, a}, *bs[] = {b, b, b};
    void *cs[] = {c, c, c}, *ds[] = {d, d, d};
#define EX(suffix, compute)                                                                                                                                                       \
    DO(rocblas_gemm_##suffix(ROCBLAS, a, F16, 5, b, F16, 6, beta, c, F16, 300, d, F16, 301, compute, rocblas_gemm_algo_standard, 0, 0));                                          \
    DO(rocblas_gemm_batched_##suffix(ROCBLAS, as, F16, 5, bs, F16, 6, beta, cs, F16, 300, ds, F16, 301, 3, compute, rocblas_gemm_algo_solution_index, 2, 4));                     \
    DO(rocblas_gemm_strided_batched_##suffix(ROCBLAS, a, F16, 5, 50, b, F16, 6, 60, beta, c, F32, 300, 70, d, F32, 301, 80, 3, compute, rocblas_gemm_algo_standard, 0, 0));
    EX(ex, F32)
    EX(ex_64, F32)
    EX(ex3, rocblas_compute_type_f32)
    DO(rocblas_gemm_ext2(handle, SIZES, alpha, a, F32, 1, 300, b, F32, 1, 6, beta, c, F32, 1, 301, d, F32, 1, 302, F32, rocblas_gemm_algo_standard, 0, 0));
    DO(rocblas_gemm_ex3(ROCBLAS, a, F16, 5, b, F16, 6, beta, c, F16, 300, d, F16, 301, rocblas_compute_type_f8_f8_f32, 0, 0, 0));
#define TYPED(name, suffix)                                                                                                     \
    DO(rocblas_##name##suffix(ROCBLAS, a, 5, b, 6, beta, c, 300));                                                              \
    DO(rocblas_##name##_batched##suffix(ROCBLAS, (const void *)as, 5, (const void *)bs, 6, beta, (const void *)cs, 300, 3));    \
    DO(rocblas_##name##_strided_batched##suffix(ROCBLAS, a, 5, 50, b, 6, 60, beta, c, 300, 70, 3));
    TYPED(hgemm, ) TYPED(hgemm, _64)
    TYPED(sgemm, ) TYPED(sgemm, _64)
    TYPED(dgemm, ) TYPED(dgemm, _64)
    TYPED(cgemm, ) TYPED(cgemm, _64)
    TYPED(zgemm, ) TYPED(zgemm, _64)
#undef TYPED
#undef EX
}

static void hipblas(hipblasHandle_t handle, const void *alpha, const void *beta)
{
    const void *as[] = {a, a, a}, *bs[] = {b, b, b};
    void *cs[] = {c, c, c};
#define EX(suffix, f16, f32, compute, ...)                                                                                                                                  \
    DO(hipblasGemmEx##suffix(HIPBLAS, a, (hipDataType)f16, 300, b, (hipDataType)f16, 301, beta, c, (hipDataType)f32, 302, compute, HIPBLAS_GEMM_DEFAULT __VA_ARGS__));                                                 \
    DO(hipblasGemmBatchedEx##suffix(HIPBLAS, as, (hipDataType)f16, 300, bs, (hipDataType)f16, 301, beta, cs, (hipDataType)f32, 302, 3, compute, HIPBLAS_GEMM_DEFAULT __VA_ARGS__));                                   \
    DO(hipblasGemmStridedBatchedEx##suffix(HIPBLAS, a, (hipDataType)f16, 300, 50, b, (hipDataType)f16, 301, 60, beta, c, (hipDataType)f32, 302, 70, 3, compute, HIPBLAS_GEMM_DEFAULT __VA_ARGS__));
#define OLD HIPBLAS_R_16F, HIPBLAS_R_32F, (hipblasComputeType_t)HIPBLAS_R_32F
#define NEW HIP_R_16F, HIP_R_32F, HIPBLAS_COMPUTE_32F
#define FORMS(...) EX(__VA_ARGS__)
    FORMS(, OLD) FORMS(, NEW) FORMS(_v2, NEW) FORMS(_64, OLD) FORMS(_v2_64, NEW)
    FORMS(WithFlags, NEW, , HIPBLAS_GEMM_FLAGS_USE_CU_EFFICIENCY)
    FORMS(WithFlags_v2, NEW, , HIPBLAS_GEMM_FLAGS_NONE)
    FORMS(WithFlags_64, OLD, , HIPBLAS_GEMM_FLAGS_USE_CU_EFFICIENCY)
    FORMS(WithFlags_v2_64, NEW, , HIPBLAS_GEMM_FLAGS_USE_CU_EFFICIENCY)
    DO(hipblasGemmEx(HIPBLAS, a, HIP_R_8F_E4M3, 300, b, HIP_R_8F_E4M3_FNUZ, 301, beta, c, HIP_R_16BF, 302, HIPBLAS_COMPUTE_32F_FAST_16F, HIPBLAS_GEMM_DEFAULT)); // not supported by rocBLAS
#define TYPED(name, suffix)                                                                                                                 \
    DO(hipblas##name##suffix(HIPBLAS, a, 300, b, 301, beta, c, 302));                                                                       \
    DO(hipblas##name##Batched##suffix(HIPBLAS, (const void *)as, 300, (const void *)bs, 301, beta, (const void *)cs, 302, 3));              \
    DO(hipblas##name##StridedBatched##suffix(HIPBLAS, a, 300, 50, b, 301, 60, beta, c, 302, 70, 3));
    TYPED(Hgemm, ) TYPED(Hgemm, _64)
    TYPED(Sgemm, ) TYPED(Sgemm, _64)
    TYPED(Dgemm, ) TYPED(Dgemm, _64)
    TYPED(Cgemm, ) TYPED(Cgemm, _64) TYPED(Cgemm, _v2) TYPED(Cgemm, _v2_64)
    TYPED(Zgemm, ) TYPED(Zgemm, _64) TYPED(Zgemm, _v2) TYPED(Zgemm, _v2_64)
}

int main(void)
{
    double one[2] = {1}, zero[2] = {0};
    rocblas_handle rocblas_handle;
    hipblasHandle_t hipblas_handle;
    hipMalloc(&a, 1 << 20), hipMalloc(&b, 1 << 20), hipMalloc(&c, 1 << 20), hipMalloc(&d, 1 << 20);
    if (rocblas_create_handle(&rocblas_handle) || hipblasCreate(&hipblas_handle))
        return 1;
    rocblas(rocblas_handle, one, zero);
    hipblas(hipblas_handle, one, zero);
    rocblas_destroy_handle(rocblas_handle);
    hipblasDestroy(hipblas_handle);
    printf("%d calls, %d\n", calls, sum);
    return 0;
}
