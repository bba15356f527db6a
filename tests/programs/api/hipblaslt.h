// The part of the hipBLASLt API that the programs use, with its own names and signatures.
#ifndef HIPBLASLT_H
#define HIPBLASLT_H

#include "hip.h"

typedef enum { HIPBLAS_STATUS_SUCCESS = 0, HIPBLAS_STATUS_NOT_INITIALIZED = 1, HIPBLAS_STATUS_ALLOC_FAILED = 2, HIPBLAS_STATUS_INVALID_VALUE = 3, HIPBLAS_STATUS_NOT_SUPPORTED = 7 } hipblasStatus_t;
typedef enum { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 } hipblasOperation_t;
typedef enum { HIPBLAS_COMPUTE_16F = 0, HIPBLAS_COMPUTE_32F = 2 } hipblasComputeType_t;
typedef enum { HIP_R_32F = 0, HIP_R_64F = 1, HIP_R_16F = 2, HIP_R_8I = 3, HIP_R_16BF = 14 } hipDataType;
typedef enum { HIPBLASLT_EPILOGUE_DEFAULT = 1, HIPBLASLT_EPILOGUE_RELU = 2, HIPBLASLT_EPILOGUE_BIAS = 4, HIPBLASLT_EPILOGUE_RELU_BIAS = 6, HIPBLASLT_EPILOGUE_GELU = 32, HIPBLASLT_EPILOGUE_GELU_BIAS = 36 } hipblasLtEpilogue_t;
typedef enum { HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 0, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 1 } hipblasLtMatrixLayoutAttribute_t;
typedef enum { HIPBLASLT_MATMUL_DESC_TRANSA = 0, HIPBLASLT_MATMUL_DESC_TRANSB = 1, HIPBLASLT_MATMUL_DESC_EPILOGUE = 2, HIPBLASLT_MATMUL_DESC_BIAS_POINTER = 3, HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 4 } hipblasLtMatmulDescAttributes_t;
typedef enum { HIPBLASLT_MATMUL_PREF_SEARCH_MODE = 0, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 } hipblasLtMatmulPreferenceAttributes_t;
typedef void *hipblasLtHandle_t;
typedef struct hipblasLtMatmulDesc *hipblasLtMatmulDesc_t;
typedef struct hipblasLtMatrixLayout *hipblasLtMatrixLayout_t;
typedef struct hipblasLtMatmulPreference *hipblasLtMatmulPreference_t;
typedef struct { uint8_t data[16]; size_t max_workspace_bytes; } hipblasLtMatmulAlgo_t;
typedef struct { hipblasLtMatmulAlgo_t algo; size_t workspaceSize; hipblasStatus_t state; float wavesCount; int reserved[4]; } hipblasLtMatmulHeuristicResult_t;

hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t *handle);
hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t handle);
hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t *matLayout, hipDataType type, uint64_t rows, uint64_t cols, int64_t ld);
hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t matLayout);
hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t matLayout, hipblasLtMatrixLayoutAttribute_t attr, const void *buf, size_t sizeInBytes);
hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t *matmulDesc, hipblasComputeType_t computeType, hipDataType scaleType);
hipblasStatus_t hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t matmulDesc);
hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t matmulDesc, hipblasLtMatmulDescAttributes_t attr, const void *buf, size_t sizeInBytes);
hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t *pref);
hipblasStatus_t hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t pref);
hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(hipblasLtMatmulPreference_t pref, hipblasLtMatmulPreferenceAttributes_t attr, const void *buf, size_t sizeInBytes);
hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, hipblasLtMatrixLayout_t Adesc, hipblasLtMatrixLayout_t Bdesc, hipblasLtMatrixLayout_t Cdesc, hipblasLtMatrixLayout_t Ddesc, hipblasLtMatmulPreference_t pref, int requestedAlgoCount, hipblasLtMatmulHeuristicResult_t heuristicResultsArray[], int *returnAlgoCount);
hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, const void *alpha, const void *A, hipblasLtMatrixLayout_t Adesc, const void *B, hipblasLtMatrixLayout_t Bdesc, const void *beta, const void *C, hipblasLtMatrixLayout_t Cdesc, void *D, hipblasLtMatrixLayout_t Ddesc, const hipblasLtMatmulAlgo_t *algo, void *workspace, size_t workspaceSizeInBytes, hipStream_t stream);

#endif
