// GEMMs through hipBLASLt: the heuristic first, then each algorithm that it returns; epilogues,
// batches, attributes read back, and the C++ entry points that rocBLAS uses.
// link: amdhip64 hipblaslt
#include "hipblaslt_ext.h"
#include <stdio.h>

static hipblasLtHandle_t handle;
static void *a, *b, *c, *d, *bias, *workspace;
static hipStream_t stream;

static hipblasLtMatrixLayout_t layout(hipDataType type, int rows, int columns, int batches)
{
    int64_t stride = (int64_t)rows * columns;
    hipblasLtMatrixLayout_t made;
    hipblasLtMatrixLayoutCreate(&made, type, rows, columns, rows);
    if (batches > 1) {
        hipblasLtMatrixLayoutSetAttribute(made, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof(int32_t));
        hipblasLtMatrixLayoutSetAttribute(made, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
    }
    return made;
}

static void multiply(const char *name, hipDataType in, hipDataType out, hipblasOperation_t ta, int m, int n, int k, int batches, uint32_t epilogue)
{
    const float one = 1, zero = 0;
    const uint64_t room = 1 << 20;
    hipblasLtMatmulHeuristicResult_t found[4];
    hipblasLtMatmulPreference_t preference;
    hipblasLtMatmulDesc_t product;
    int count = 0, failed = 0, t = ta == HIPBLAS_OP_T;
    hipblasLtMatrixLayout_t la = layout(in, t ? k : m, t ? m : k, batches), lb = layout(in, k, n, batches), lc = layout(out, m, n, batches);
    hipblasLtMatmulDescCreate(&product, HIPBLAS_COMPUTE_32F, HIP_R_32F);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof(int32_t));
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (epilogue & HIPBLASLT_EPILOGUE_BIAS)
        hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    hipblasLtMatmulPreferenceCreate(&preference);
    hipblasLtMatmulPreferenceSetAttribute(preference, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
    printf("%s: heuristic %d", name, hipblasLtMatmulAlgoGetHeuristic(handle, product, la, lb, lc, lc, preference, 4, found, &count));
    for (int i = 0; i < count; i++)
        failed += !!hipblasLtMatmul(handle, product, &one, a, la, b, lb, &zero, c, lc, d, lc, &found[i].algo, workspace, room, stream);
    printf(", found %d, failed %d, its own choice %d", count, failed, hipblasLtMatmul(handle, product, &one, a, la, b, lb, &zero, c, lc, d, lc, NULL, NULL, 0, stream));
    printf(", no matrix %d\n", hipblasLtMatmul(handle, product, &one, NULL, la, b, lb, &zero, c, lc, d, lc, NULL, workspace, room, NULL));
    if (count) {
        struct hipblaslt_gemm gemm;
        hipblaslt_ext_Gemm(&gemm, handle, product, &one, a, la, b, lb, &zero, c, lc, d, lc);
        failed = !!hipblaslt_ext_initialize(&gemm, &found[count - 1].algo, workspace, 1, stream) + !!hipblaslt_ext_run(&gemm, stream, NULL, NULL) + !!hipblaslt_ext_run_60(&gemm, NULL);
        printf("  by C++: index %d, failed %d\n", hipblaslt_ext_getIndexFromAlgo(&found[count - 1].algo), failed);
    }
    hipblasLtMatmulPreferenceDestroy(preference), hipblasLtMatmulDescDestroy(product);
    hipblasLtMatrixLayoutDestroy(la), hipblasLtMatrixLayoutDestroy(lb), hipblasLtMatrixLayoutDestroy(lc);
}

int main(void)
{
    uint64_t rows = 0;
    size_t written = 0;
    hipMalloc(&a, 1 << 20), hipMalloc(&b, 1 << 20), hipMalloc(&c, 1 << 20), hipMalloc(&d, 1 << 20), hipMalloc(&bias, 4096), hipMalloc(&workspace, 1 << 20);
    hipStreamCreate(&stream);
    printf("create %d\n", hipblasLtCreate(&handle));
    multiply("f16 TN", HIP_R_16F, HIP_R_16F, HIPBLAS_OP_T, 256, 48, 64, 1, HIPBLASLT_EPILOGUE_DEFAULT);
    multiply("f32", HIP_R_32F, HIP_R_32F, HIPBLAS_OP_N, 128, 64, 32, 1, HIPBLASLT_EPILOGUE_RELU_BIAS);
    multiply("bf16, batched", HIP_R_16BF, HIP_R_16BF, HIPBLAS_OP_T, 64, 16, 96, 5, HIPBLASLT_EPILOGUE_GELU_BIAS);
    multiply("f16 to f32", HIP_R_16F, HIP_R_32F, HIPBLAS_OP_N, 32, 16, 8, 1, HIPBLASLT_EPILOGUE_BIAS);
    multiply("no such type", HIP_R_8I, HIP_R_64F, HIPBLAS_OP_N, 8, 8, 8, 1, HIPBLASLT_EPILOGUE_DEFAULT);
    hipblasLtMatrixLayout_t l = layout(HIP_R_16F, 77, 5, 3);
    printf("rows %d", hipblasLtMatrixLayoutGetAttribute(l, (hipblasLtMatrixLayoutAttribute_t)HIPBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows, &written));
    printf(" %lu in %zu bytes, no such attribute %d\n", rows, written, hipblasLtMatrixLayoutGetAttribute(l, (hipblasLtMatrixLayoutAttribute_t)99, &rows, 8, NULL));
    printf("destroy %d\n", hipblasLtDestroy(handle));
    return 0;
}
