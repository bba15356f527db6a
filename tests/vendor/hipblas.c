// libhipblas stand-in: every call continues in rocBLAS through the PLT, on the same handle, as in
// the real library.
#include "hipblas.h"
#include "rocblas.h"
#include "standin.h"

static hipblasStatus_t translated(rocblas_status status)
{
    switch (status) {
    case rocblas_status_success: return HIPBLAS_STATUS_SUCCESS;
    case rocblas_status_invalid_handle: return HIPBLAS_STATUS_NOT_INITIALIZED;
    case rocblas_status_not_implemented: return HIPBLAS_STATUS_NOT_SUPPORTED;
    case rocblas_status_internal_error: return HIPBLAS_STATUS_INTERNAL_ERROR;
    case rocblas_status_invalid_pointer: case rocblas_status_invalid_size: case rocblas_status_invalid_value: return HIPBLAS_STATUS_INVALID_VALUE;
    }
    return HIPBLAS_STATUS_UNKNOWN;
}

static rocblas_datatype type(int number)
{
    switch (number) {
    case HIP_R_16F: return rocblas_datatype_f16_r;
    case HIP_R_32F: return rocblas_datatype_f32_r;
    case HIP_R_64F: return rocblas_datatype_f64_r;
    case HIP_C_32F: return rocblas_datatype_f32_c;
    case HIP_C_64F: return rocblas_datatype_f64_c;
    case HIP_R_8I: return rocblas_datatype_i8_r;
    case HIP_R_32I: return rocblas_datatype_i32_r;
    case HIP_R_16BF: return rocblas_datatype_bf16_r;
    }
    return (rocblas_datatype)number;
}

static rocblas_datatype compute(int number)
{
    switch (number) {
    case HIPBLAS_COMPUTE_16F: return rocblas_datatype_f16_r;
    case HIPBLAS_COMPUTE_32F: return rocblas_datatype_f32_r;
    case HIPBLAS_COMPUTE_64F: return rocblas_datatype_f64_r;
    }
    return (rocblas_datatype)number;
}

#define HEX(pointer) ((unsigned long)(pointer))

// Writes the log line of a call that has returned. Fields are as passed; d is c, and arguments that
// the function does not have are 0 (batch_count 1).
static hipblasStatus_t logged(const char *api, rocblas_status status, hipblasHandle_t handle, int ta, int tb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int a_type, int64_t lda, int64_t sa, const void *b, int b_type, int64_t ldb, int64_t sb, const void *beta, const void *c, int c_type, int64_t ldc, int64_t sc, int64_t batch, int computeType, int algo, unsigned flags)
{
    hipblasStatus_t result = translated(status);
    hipStream_t stream = NULL;
    if (handle)
        rocblas_get_stream(handle, &stream);
    if (standin_logging())
        standin_log(STANDIN_GEMM, api,
                    "handle=%#lx transA=%d transB=%d m=%ld n=%ld k=%ld alpha=%#lx a=%#lx a_type=%d lda=%ld stride_a=%ld b=%#lx b_type=%d ldb=%ld stride_b=%ld beta=%#lx "
                    "c=%#lx c_type=%d ldc=%ld stride_c=%ld d=%#lx d_type=%d ldd=%ld stride_d=%ld batch_count=%ld compute_type=%d algo=%d solution_index=0 flags=%u\t%#lx\t-\t%d",
                    HEX(handle), ta, tb, m, n, k, HEX(alpha), HEX(a), a_type, lda, sa, HEX(b), b_type, ldb, sb, HEX(beta), HEX(c), c_type, ldc, sc, HEX(c), c_type, ldc, sc, batch, computeType, algo, flags, HEX(stream), result);
    return result;
}

// ---- element types as arguments ----

#define EX(name, real, int, flags, ...)                                                                                                                                                    \
    PUBLIC hipblasStatus_t name(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const void *alpha, const void *A, hipDataType aType, int lda, const void *B, hipDataType bType, int ldb, const void *beta, void *C, hipDataType cType, int ldc, hipblasComputeType_t computeType, hipblasGemmAlgo_t algo __VA_ARGS__) \
    {                                                                                                                                                                                       \
        rocblas_status status = real(handle, (rocblas_operation)transA, (rocblas_operation)transB, m, n, k, alpha, A, type(aType), lda, B, type(bType), ldb, beta, C, type(cType), ldc, C, type(cType), ldc, compute(computeType), rocblas_gemm_algo_standard, 0, flags); \
        return logged(#name, status, handle, transA, transB, m, n, k, alpha, A, aType, lda, 0, B, bType, ldb, 0, beta, C, cType, ldc, 0, 1, computeType, algo, flags);                      \
    }
#define EX_BATCHED(name, real, int, flags, ...)                                                                                                                                            \
    PUBLIC hipblasStatus_t name(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const void *alpha, const void **A, hipDataType aType, int lda, const void **B, hipDataType bType, int ldb, const void *beta, void **C, hipDataType cType, int ldc, int batchCount, hipblasComputeType_t computeType, hipblasGemmAlgo_t algo __VA_ARGS__) \
    {                                                                                                                                                                                       \
        rocblas_status status = real(handle, (rocblas_operation)transA, (rocblas_operation)transB, m, n, k, alpha, A, type(aType), lda, B, type(bType), ldb, beta, C, type(cType), ldc, C, type(cType), ldc, batchCount, compute(computeType), rocblas_gemm_algo_standard, 0, flags); \
        return logged(#name, status, handle, transA, transB, m, n, k, alpha, A, aType, lda, 0, B, bType, ldb, 0, beta, C, cType, ldc, 0, batchCount, computeType, algo, flags);             \
    }
#define EX_STRIDED(name, real, int, flags, ...)                                                                                                                                            \
    PUBLIC hipblasStatus_t name(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const void *alpha, const void *A, hipDataType aType, int lda, hipblasStride strideA, const void *B, hipDataType bType, int ldb, hipblasStride strideB, const void *beta, void *C, hipDataType cType, int ldc, hipblasStride strideC, int batchCount, hipblasComputeType_t computeType, hipblasGemmAlgo_t algo __VA_ARGS__) \
    {                                                                                                                                                                                       \
        rocblas_status status = real(handle, (rocblas_operation)transA, (rocblas_operation)transB, m, n, k, alpha, A, type(aType), lda, strideA, B, type(bType), ldb, strideB, beta, C, type(cType), ldc, strideC, C, type(cType), ldc, strideC, batchCount, compute(computeType), rocblas_gemm_algo_standard, 0, flags); \
        return logged(#name, status, handle, transA, transB, m, n, k, alpha, A, aType, lda, strideA, B, bType, ldb, strideB, beta, C, cType, ldc, strideC, batchCount, computeType, algo, flags); \
    }
#define FORMS(suffix, real, int, flags, ...)                                                              \
    EX(hipblasGemmEx##suffix, rocblas_gemm_ex##real, int, flags, __VA_ARGS__)                              \
    EX_BATCHED(hipblasGemmBatchedEx##suffix, rocblas_gemm_batched_ex##real, int, flags, __VA_ARGS__)        \
    EX_STRIDED(hipblasGemmStridedBatchedEx##suffix, rocblas_gemm_strided_batched_ex##real, int, flags, __VA_ARGS__)

FORMS(, , int, 0)
FORMS(_v2, , int, 0)
FORMS(_64, _64, int64_t, 0)
FORMS(_v2_64, _64, int64_t, 0)
FORMS(WithFlags, , int, flags, , hipblasGemmFlags_t flags)
FORMS(WithFlags_v2, , int, flags, , hipblasGemmFlags_t flags)
FORMS(WithFlags_64, _64, int64_t, flags, , hipblasGemmFlags_t flags)
FORMS(WithFlags_v2_64, _64, int64_t, flags, , hipblasGemmFlags_t flags)

// ---- one element type, in the name ----

#define PLAIN(name, real, T, element, int)                                                                                                                                                 \
    PUBLIC hipblasStatus_t name(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const T *alpha, const T *AP, int lda, const T *BP, int ldb, const T *beta, T *CP, int ldc) \
    {                                                                                                                                                                                       \
        rocblas_status status = real(handle, (rocblas_operation)transA, (rocblas_operation)transB, m, n, k, (const void *)alpha, (const void *)AP, lda, (const void *)BP, ldb, (const void *)beta, (void *)CP, ldc); \
        return logged(#name, status, handle, transA, transB, m, n, k, alpha, AP, element, lda, 0, BP, element, ldb, 0, beta, CP, element, ldc, 0, 1, element, 0, 0);                        \
    }
#define BATCHED(name, real, T, element, int)                                                                                                                                               \
    PUBLIC hipblasStatus_t name(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const T *alpha, const T *const AP[], int lda, const T *const BP[], int ldb, const T *beta, T *const CP[], int ldc, int batchCount) \
    {                                                                                                                                                                                       \
        rocblas_status status = real(handle, (rocblas_operation)transA, (rocblas_operation)transB, m, n, k, (const void *)alpha, (const void *)AP, lda, (const void *)BP, ldb, (const void *)beta, (const void *)CP, ldc, batchCount); \
        return logged(#name, status, handle, transA, transB, m, n, k, alpha, AP, element, lda, 0, BP, element, ldb, 0, beta, CP, element, ldc, 0, batchCount, element, 0, 0);               \
    }
#define STRIDED(name, real, T, element, int)                                                                                                                                               \
    PUBLIC hipblasStatus_t name(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const T *alpha, const T *AP, int lda, long long strideA, const T *BP, int ldb, long long strideB, const T *beta, T *CP, int ldc, long long strideC, int batchCount) \
    {                                                                                                                                                                                       \
        rocblas_status status = real(handle, (rocblas_operation)transA, (rocblas_operation)transB, m, n, k, (const void *)alpha, (const void *)AP, lda, strideA, (const void *)BP, ldb, strideB, (const void *)beta, (void *)CP, ldc, strideC, batchCount); \
        return logged(#name, status, handle, transA, transB, m, n, k, alpha, AP, element, lda, strideA, BP, element, ldb, strideB, beta, CP, element, ldc, strideC, batchCount, element, 0, 0); \
    }
#define TYPED(name, suffix, letter, real, T, element, int)                                                                     \
    PLAIN(hipblas##name##suffix, rocblas_##letter##gemm##real, T, element, int)                                                \
    BATCHED(hipblas##name##Batched##suffix, rocblas_##letter##gemm_batched##real, T, element, int)                             \
    STRIDED(hipblas##name##StridedBatched##suffix, rocblas_##letter##gemm_strided_batched##real, T, element, int)
#define BOTH(name, suffix, letter, T, element) TYPED(name, suffix, letter, , T, element, int) TYPED(name, suffix##_64, letter, _64, T, element, int64_t)

BOTH(Hgemm, , h, hipblasHalf, rocblas_datatype_f16_r)
BOTH(Sgemm, , s, float, rocblas_datatype_f32_r)
BOTH(Dgemm, , d, double, rocblas_datatype_f64_r)
BOTH(Cgemm, , c, hipComplex, rocblas_datatype_f32_c)
BOTH(Zgemm, , z, hipDoubleComplex, rocblas_datatype_f64_c)
BOTH(Cgemm, _v2, c, hipComplex, rocblas_datatype_f32_c)
BOTH(Zgemm, _v2, z, hipDoubleComplex, rocblas_datatype_f64_c)

// ---- handles ----

PUBLIC hipblasStatus_t hipblasCreate(hipblasHandle_t *handle) { return translated(rocblas_create_handle((rocblas_handle *)handle)); }
PUBLIC hipblasStatus_t hipblasDestroy(hipblasHandle_t handle) { return translated(rocblas_destroy_handle(handle)); }
PUBLIC hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t streamId) { return translated(rocblas_set_stream(handle, streamId)); }
PUBLIC hipblasStatus_t hipblasGetStream(hipblasHandle_t handle, hipStream_t *streamId) { return translated(rocblas_get_stream(handle, streamId)); }
PUBLIC hipblasStatus_t hipblasSetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t mode) { return translated(rocblas_set_pointer_mode(handle, (rocblas_pointer_mode)mode)); }
PUBLIC hipblasStatus_t hipblasSetAtomicsMode(hipblasHandle_t handle, hipblasAtomicsMode_t atomics_mode) { return translated(rocblas_set_atomics_mode(handle, (rocblas_atomics_mode)atomics_mode)); }
PUBLIC hipblasStatus_t hipblasSetMathMode(hipblasHandle_t handle, hipblasMath_t mode) { return translated(rocblas_set_math_mode(handle, (rocblas_math_mode)mode)); }
