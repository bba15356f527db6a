// The part of the hipBLAS API that the stand-ins provide, with its own names; signatures as of
// hipBLAS 3.x, whose types have the same size as those of older releases.
#ifndef HIPBLAS_H
#define HIPBLAS_H

#include "hip.h"

typedef void *hipblasHandle_t;
typedef enum { HIPBLAS_STATUS_SUCCESS = 0, HIPBLAS_STATUS_NOT_INITIALIZED = 1, HIPBLAS_STATUS_INVALID_VALUE = 3, HIPBLAS_STATUS_INTERNAL_ERROR = 6, HIPBLAS_STATUS_NOT_SUPPORTED = 7, HIPBLAS_STATUS_UNKNOWN = 11 } hipblasStatus_t;
typedef enum { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 } hipblasOperation_t;
typedef enum { HIP_R_32F = 0, HIP_R_64F = 1, HIP_R_16F = 2, HIP_R_8I = 3, HIP_C_32F = 4, HIP_C_64F = 5, HIP_R_32I = 10, HIP_R_16BF = 14, HIP_R_8F_E4M3 = 28, HIP_R_8F_E4M3_FNUZ = 1000 } hipDataType;
typedef enum { HIPBLAS_R_16F = 150, HIPBLAS_R_32F = 151 } hipblasDatatype_t; // up to 2.x
typedef enum { HIPBLAS_COMPUTE_16F = 0, HIPBLAS_COMPUTE_32F = 2, HIPBLAS_COMPUTE_32F_FAST_16F = 4, HIPBLAS_COMPUTE_64F = 7 } hipblasComputeType_t;
typedef enum { HIPBLAS_GEMM_DEFAULT = 160 } hipblasGemmAlgo_t;
typedef enum { HIPBLAS_GEMM_FLAGS_NONE = 0, HIPBLAS_GEMM_FLAGS_USE_CU_EFFICIENCY = 2 } hipblasGemmFlags_t;
typedef enum { HIPBLAS_POINTER_MODE_HOST = 0, HIPBLAS_POINTER_MODE_DEVICE = 1 } hipblasPointerMode_t;
typedef enum { HIPBLAS_ATOMICS_NOT_ALLOWED = 0, HIPBLAS_ATOMICS_ALLOWED = 1 } hipblasAtomicsMode_t;
typedef enum { HIPBLAS_DEFAULT_MATH = 0, HIPBLAS_XF32_XDL_MATH = 1 } hipblasMath_t;
typedef int64_t hipblasStride;
typedef uint16_t hipblasHalf;
typedef struct { float x, y; } hipComplex;
typedef struct { double x, y; } hipDoubleComplex;

hipblasStatus_t hipblasCreate(hipblasHandle_t *handle);
hipblasStatus_t hipblasDestroy(hipblasHandle_t handle);
hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t streamId);
hipblasStatus_t hipblasGetStream(hipblasHandle_t handle, hipStream_t *streamId);
hipblasStatus_t hipblasSetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t mode);
hipblasStatus_t hipblasSetAtomicsMode(hipblasHandle_t handle, hipblasAtomicsMode_t atomics_mode);
hipblasStatus_t hipblasSetMathMode(hipblasHandle_t handle, hipblasMath_t mode);

// The functions of one form differ in the type of a size, and in whether they take flags.
#define HIPBLAS_EX(suffix, int, ...)                                                                                                                                                       \
    hipblasStatus_t hipblasGemmEx##suffix(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const void *alpha, const void *A, hipDataType aType, int lda, const void *B, hipDataType bType, int ldb, const void *beta, void *C, hipDataType cType, int ldc, hipblasComputeType_t computeType, hipblasGemmAlgo_t algo __VA_ARGS__); \
    hipblasStatus_t hipblasGemmBatchedEx##suffix(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const void *alpha, const void **A, hipDataType aType, int lda, const void **B, hipDataType bType, int ldb, const void *beta, void **C, hipDataType cType, int ldc, int batchCount, hipblasComputeType_t computeType, hipblasGemmAlgo_t algo __VA_ARGS__); \
    hipblasStatus_t hipblasGemmStridedBatchedEx##suffix(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const void *alpha, const void *A, hipDataType aType, int lda, hipblasStride strideA, const void *B, hipDataType bType, int ldb, hipblasStride strideB, const void *beta, void *C, hipDataType cType, int ldc, hipblasStride strideC, int batchCount, hipblasComputeType_t computeType, hipblasGemmAlgo_t algo __VA_ARGS__);
HIPBLAS_EX(, int)
HIPBLAS_EX(_v2, int)
HIPBLAS_EX(_64, int64_t)
HIPBLAS_EX(_v2_64, int64_t)
HIPBLAS_EX(WithFlags, int, , hipblasGemmFlags_t flags)
HIPBLAS_EX(WithFlags_v2, int, , hipblasGemmFlags_t flags)
HIPBLAS_EX(WithFlags_64, int64_t, , hipblasGemmFlags_t flags)
HIPBLAS_EX(WithFlags_v2_64, int64_t, , hipblasGemmFlags_t flags)

// The functions of one element type.
#define HIPBLAS_TYPED(name, T, suffix, int)                                                                                                                                                \
    hipblasStatus_t hipblas##name##suffix(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const T *alpha, const T *AP, int lda, const T *BP, int ldb, const T *beta, T *CP, int ldc); \
    hipblasStatus_t hipblas##name##Batched##suffix(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const T *alpha, const T *const AP[], int lda, const T *const BP[], int ldb, const T *beta, T *const CP[], int ldc, int batchCount); \
    hipblasStatus_t hipblas##name##StridedBatched##suffix(hipblasHandle_t handle, hipblasOperation_t transA, hipblasOperation_t transB, int m, int n, int k, const T *alpha, const T *AP, int lda, long long strideA, const T *BP, int ldb, long long strideB, const T *beta, T *CP, int ldc, long long strideC, int batchCount);
#define HIPBLAS_BOTH(name, T) HIPBLAS_TYPED(name, T, , int) HIPBLAS_TYPED(name, T, _64, int64_t)
HIPBLAS_BOTH(Hgemm, hipblasHalf)
HIPBLAS_BOTH(Sgemm, float)
HIPBLAS_BOTH(Dgemm, double)
HIPBLAS_BOTH(Cgemm, hipComplex)
HIPBLAS_BOTH(Zgemm, hipDoubleComplex)
HIPBLAS_TYPED(Cgemm, hipComplex, _v2, int)
HIPBLAS_TYPED(Cgemm, hipComplex, _v2_64, int64_t)
HIPBLAS_TYPED(Zgemm, hipDoubleComplex, _v2, int)
HIPBLAS_TYPED(Zgemm, hipDoubleComplex, _v2_64, int64_t)

#endif
