// Like PyTorch's TunableOp: all solutions of the types, each run three times by its index, then the
// GEMM with the best one, many times; for two shapes. Between the GEMMs is another one without an
// index.
// link: amdhip64 rocblas
#include "rocblas.h"
#include <stdio.h>

enum { TIMES = 3, STEPS = 10, ROOM = 16 };

static rocblas_handle handle;
static void *a, *b, *c;

static int product(int columns, rocblas_gemm_algo algo, int solution)
{
    const rocblas_datatype f32 = rocblas_datatype_f32_r;
    const float one = 1, zero = 0;
    return rocblas_gemm_ex(handle, rocblas_operation_none, rocblas_operation_none, 128, columns, 32, &one, a, f32, 128, b, f32, 32, &zero, c, f32, 128, c, f32, 128, f32, algo, solution, 0);
}

int main(void)
{
    const rocblas_datatype f32 = rocblas_datatype_f32_r;
    rocblas_int solutions[ROOM], count = 0;
    int failed = 0, tried = 0;
    hipMalloc(&a, 1 << 20), hipMalloc(&b, 1 << 20), hipMalloc(&c, 1 << 20);
    failed += !!rocblas_create_handle(&handle);
    failed += !!rocblas_gemm_ex_get_solutions_by_type(handle, f32, f32, f32, 0, NULL, &count);
    count = count < ROOM ? count : ROOM;
    failed += !!rocblas_gemm_ex_get_solutions_by_type(handle, f32, f32, f32, 0, solutions, &count);
    for (int columns = 64; columns <= 128; columns += 64) {
        failed += !!product(columns, rocblas_gemm_algo_standard, 0);
        for (int i = 0; i < count; i++)
            for (int times = 0; times < TIMES; times++, tried++)
                failed += !!product(columns, rocblas_gemm_algo_solution_index, solutions[i]);
        for (int step = 0; step < STEPS; step++)
            failed += !!product(columns, rocblas_gemm_algo_solution_index, solutions[0]) + !!product(8, rocblas_gemm_algo_standard, 0);
    }
    printf("failed %d, solutions %d, tried %d\n", failed, count, tried);
    return failed;
}
