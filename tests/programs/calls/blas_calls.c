// What programs do with BLAS libraries around their GEMMs: set handles, query solutions, try one
// after the other, and run GEMMs by C++ objects whose problem was set before.
// link: amdhip64 rocblas hipblaslt
#include "hipblaslt_ext.h"
#include "rocblas.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *a, *b, *c;
static float one = 1, zero = 0;
static hipStream_t first, second;

#define F16 rocblas_datatype_f16_r
#define F32 rocblas_datatype_f32_r
#define N rocblas_operation_none
#define T rocblas_operation_transpose
#define GEMM handle, T, N, 64, 32, 16, &one, a, F16, 16, b, F16, 16, &zero, c, F16, 64, c, F16, 64, F32

// A GEMM on each stream, before and after the handle was set; the modes are set in between.
static void settings(void)
{
    rocblas_handle handle;
    hipStream_t stream = NULL;
    int status = rocblas_create_handle(&handle);
    status += rocblas_gemm_ex(GEMM, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        status += rocblas_set_stream(handle, first), status += rocblas_gemm_ex(GEMM, 0, 0, 0);
    rocblas_set_pointer_mode(handle, rocblas_pointer_mode_host), rocblas_set_atomics_mode(handle, rocblas_atomics_not_allowed), rocblas_set_math_mode(handle, rocblas_xf32_xdl_math_op), rocblas_set_performance_metric(handle, rocblas_cu_efficiency_performance_metric);
    status += rocblas_set_stream(handle, second), status += rocblas_gemm_ex(GEMM, 0, 0, 0);
    printf("settings %d, no handle %d\n", status, rocblas_set_stream(NULL, first));
    rocblas_get_stream(handle, &stream);
    printf("the same %d, destroy %d\n", stream == second, rocblas_destroy_handle(handle));
}

// As TunableOp does it: the list, each solution a few times, then the program's own GEMM with the
// best.
static void solutions(void)
{
    rocblas_handle handle;
    rocblas_int count = 0, list[8] = {0}, size = 8;
    rocblas_create_handle(&handle), rocblas_initialize();
    printf("solutions %d", rocblas_gemm_ex_get_solutions(GEMM, 1, 0, NULL, &count));
    printf(" of %d, list %d", count, rocblas_gemm_ex_get_solutions(GEMM, 1, 4, list, &size));
    printf(", batched %d", rocblas_gemm_batched_ex_get_solutions(handle, T, N, 64, 32, 16, &one, a, F16, 16, b, F16, 16, &zero, c, F16, 64, c, F16, 64, 3, F32, 1, 0, NULL, &size));
    printf(", strided %d", rocblas_gemm_strided_batched_ex_get_solutions(handle, T, N, 64, 32, 16, &one, a, F16, 16, 7, b, F16, 16, 8, &zero, c, F16, 64, 9, c, F16, 64, 10, 3, F32, 1, 0, NULL, &size));
    printf(", by type %d\n", rocblas_gemm_ex_get_solutions_by_type(handle, F16, F32, F32, 0, NULL, &size));
    rocblas_gemm_ex(GEMM, 0, 0, 0);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < 3; j++)
            rocblas_gemm_ex(GEMM, 1, list[i], 0);
    for (int i = 0; i < 10; i++)
        rocblas_gemm_ex(GEMM, 1, list[0], 0);
    rocblas_destroy_handle(handle);
}

static hipblasLtMatrixLayout_t layout(hipDataType type, int rows, int columns)
{
    hipblasLtMatrixLayout_t made;
    hipblasLtMatrixLayoutCreate(&made, type, rows, columns, rows);
    return made;
}

static void descriptors(void)
{
    hipblasLtHandle_t handle;
    hipblasLtMatmulDesc_t product, copy;
    hipblasLtMatrixLayout_t la = layout(HIP_R_16F, 32, 64), lb = layout(HIP_R_16F, 32, 16), lc = layout(HIP_R_16F, 64, 16);
    struct hipblaslt_gemm gemm;
    hipblasLtMatmulAlgo_t algo = {{0}, 0};
    hipblasOperation_t ta = HIPBLAS_OP_T;
    uint32_t epilogue = HIPBLASLT_EPILOGUE_GELU_BIAS;
    int64_t ld = 99;
    int index = 1000 + (1 * 4 + 1) * 3, row = 1, status;
    hipblasLtCreate(&handle);
    hipblasLtMatmulDescCreate(&product, HIPBLAS_COMPUTE_32F, HIP_R_32F), hipblasLtMatmulDescCreate(&copy, HIPBLAS_COMPUTE_32F, HIP_R_32F);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_BIAS_POINTER, &a, sizeof a);
    hipblasLtMatmulDescSetAttribute(product, (hipblasLtMatmulDescAttributes_t)HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, &b, sizeof b);
    hipblasLtMatmulDescSetAttribute(product, (hipblasLtMatmulDescAttributes_t)HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &c, sizeof c);
    hipblasLtMatmulDescSetAttribute(product, (hipblasLtMatmulDescAttributes_t)HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSB, &ta, 1); // too short: nothing is set
    printf("copy %d", hipblaslt_ext_copyMatmul(product, copy));
    printf(", product %d\n", hipblasLtMatmul(handle, copy, &one, a, la, b, lb, &zero, c, lc, c, lc, NULL, NULL, 0, first));
    printf("transform %d\n", hipblasLtMatrixTransform(handle, NULL, &one, a, la, &zero, b, lb, c, lc, second));
    hipblasLtMatrixLayoutSetAttribute(lc, (hipblasLtMatrixLayoutAttribute_t)HIPBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof row);

    // By an object: with descriptors, then by sizes alone, grouped.
    hipblaslt_ext_Gemm(&gemm, handle, product, &one, a, la, b, lb, &zero, c, lc, c, lc);
    status = hipblaslt_ext_setProblem_described(&gemm, product, &one, a, la, b, lb, &zero, c, lc, c, lc);
    status += hipblaslt_ext_run(&gemm, first, NULL, NULL);
    memcpy(algo.data, &index, sizeof index);
    status += hipblaslt_ext_setProblem(&gemm, 128, 24, 48, 2, 48, 49, 128, 129, 1, 2, 3, 4, NULL, NULL, NULL);
    status += hipblaslt_ext_initialize(&gemm, &algo, NULL, 0, second);
    status += hipblaslt_ext_run(&gemm, second, NULL, NULL);
    printf("objects %d\n", status + hipblaslt_ext_run_grouped(&gemm, NULL, NULL));

    // A child knows none of its parent's descriptors.
    fflush(stdout);
    if (!fork()) {
        printf("in the child %d\n", hipblasLtMatmul(handle, product, &one, a, la, b, lb, &zero, c, lc, c, lc, NULL, NULL, 64, first));
        exit(0);
    }
    wait(NULL);
    hipblasLtMatmulDescDestroy(product), hipblasLtMatmulDescDestroy(copy);
    hipblasLtMatrixLayoutDestroy(la), hipblasLtMatrixLayoutDestroy(lb), hipblasLtMatrixLayoutDestroy(lc);
    printf("destroy %d\n", hipblasLtDestroy(handle));
}

int main(void)
{
    hipMalloc(&a, 1 << 20), hipMalloc(&b, 1 << 20), hipMalloc(&c, 1 << 20);
    hipStreamCreate(&first), hipStreamCreate(&second);
    settings();
    solutions();
    descriptors();
    return 0;
}
