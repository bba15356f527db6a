// One matmul of each kind that inference uses, on the real hipBLASLt: the heuristic first, then its
// algorithm, by both interfaces.
// link: amdhip64 hipblaslt
#include "../api/hipblaslt_ext.h"
#include <stdio.h>

enum { ROOM = 4 << 20, ALGORITHMS = 4 };

struct product {
    const char *name;
    hipDataType in, out;
    hipblasOperation_t trans_a;
    int m, n, k, batches;
    hipblasLtEpilogue_t epilogue;
};

static hipblasLtHandle_t handle;
static void *a, *b, *c, *bias, *workspace;

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

static void multiply(const struct product *p)
{
    const float one = 1, zero = 0;
    const uint64_t room = ROOM;
    hipblasLtMatmulHeuristicResult_t found[ALGORITHMS];
    hipblasLtMatmulPreference_t preference;
    hipblasLtMatmulDesc_t product;
    int count = 0, transposed = p->trans_a == HIPBLAS_OP_T;
    hipblasLtMatrixLayout_t a_layout = layout(p->in, transposed ? p->k : p->m, transposed ? p->m : p->k, p->batches);
    hipblasLtMatrixLayout_t b_layout = layout(p->in, p->k, p->n, p->batches), c_layout = layout(p->out, p->m, p->n, p->batches);
    hipblasLtMatmulDescCreate(&product, HIPBLAS_COMPUTE_32F, HIP_R_32F);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSA, &p->trans_a, sizeof(int32_t));
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_EPILOGUE, &p->epilogue, sizeof(uint32_t));
    if (p->epilogue & HIPBLASLT_EPILOGUE_BIAS)
        hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    hipblasLtMatmulPreferenceCreate(&preference);
    hipblasLtMatmulPreferenceSetAttribute(preference, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
    printf("%s: heuristic %d", p->name, hipblasLtMatmulAlgoGetHeuristic(handle, product, a_layout, b_layout, c_layout, c_layout, preference, ALGORITHMS, found, &count));
    printf(", index %d, found %s", count > 0 ? hipblaslt_ext_getIndexFromAlgo(&found[0].algo) : -1, count > 0 ? "some" : "none");
    if (count > 0)
        printf(", run %d", hipblasLtMatmul(handle, product, &one, a, a_layout, b, b_layout, &zero, c, c_layout, c, c_layout, &found[0].algo, workspace, ROOM, NULL));
    printf(", without a workspace %d", hipblasLtMatmul(handle, product, &one, a, a_layout, b, b_layout, &zero, c, c_layout, c, c_layout, NULL, NULL, 0, NULL));
    printf(", no matrix %d\n", hipblasLtMatmul(handle, product, &one, NULL, a_layout, b, b_layout, &zero, c, c_layout, c, c_layout, NULL, workspace, ROOM, NULL));
    if (count > 0) {
        struct hipblaslt_gemm gemm;
        hipblaslt_ext_Gemm(&gemm, handle, product, &one, a, a_layout, b, b_layout, &zero, c, c_layout, c, c_layout);
        printf("by C++ %d", hipblaslt_ext_initialize(&gemm, &found[0].algo, workspace, 1, NULL));
        printf(" %d\n", hipblaslt_ext_run(&gemm, NULL, NULL, NULL));
    }
    hipblasLtMatmulPreferenceDestroy(preference), hipblasLtMatmulDescDestroy(product);
    hipblasLtMatrixLayoutDestroy(a_layout), hipblasLtMatrixLayoutDestroy(b_layout), hipblasLtMatrixLayoutDestroy(c_layout);
}

int main(void)
{
    const struct product products[] = {
        {"f32", HIP_R_32F, HIP_R_32F, HIPBLAS_OP_N, 512, 256, 128, 1, HIPBLASLT_EPILOGUE_DEFAULT},
        {"f16 with a bias", HIP_R_16F, HIP_R_16F, HIPBLAS_OP_T, 512, 16, 256, 1, HIPBLASLT_EPILOGUE_BIAS},
        {"f16 with bias and GELU", HIP_R_16F, HIP_R_16F, HIPBLAS_OP_N, 128, 64, 256, 1, HIPBLASLT_EPILOGUE_GELU_BIAS},
        {"f16 with ReLU", HIP_R_16F, HIP_R_16F, HIPBLAS_OP_T, 128, 64, 256, 1, HIPBLASLT_EPILOGUE_RELU},
        {"f16 to f32, batched", HIP_R_16F, HIP_R_32F, HIPBLAS_OP_T, 64, 32, 128, 4, HIPBLASLT_EPILOGUE_DEFAULT},
        {"bf16", HIP_R_16BF, HIP_R_16BF, HIPBLAS_OP_T, 256, 256, 256, 1, HIPBLASLT_EPILOGUE_DEFAULT},
    };
    hipMalloc(&a, ROOM), hipMalloc(&b, ROOM), hipMalloc(&c, ROOM), hipMalloc(&bias, ROOM), hipMalloc(&workspace, ROOM);
    printf("create %d\n", hipblasLtCreate(&handle));
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        multiply(&products[i]);
    printf("synchronize %d\n", hipDeviceSynchronize());
    printf("destroy %d\n", hipblasLtDestroy(handle));
    return 0;
}
