// Shared by the files of the rocBLAS stand-in: a GEMM between entry point and kernel.
#ifndef ROCBLAS_GEMM_H
#define ROCBLAS_GEMM_H

#include "rocblas.h"
#include <stdbool.h>

// One GEMM of any entry point; fields are as passed. Without an argument: strides 0, batch 1, d =
// c.
struct gemm {
    const char *api;
    rocblas_handle handle;
    rocblas_operation ta, tb;
    int64_t m, n, k;
    const void *alpha, *a, *b, *beta, *c;
    void *d;
    rocblas_datatype a_type, b_type, c_type, d_type, compute_type;
    int64_t lda, ldb, ldc, ldd, batch;
    int64_t sa, sb, sc, sd;
    rocblas_gemm_algo algo;
    int32_t solution_index;
    uint32_t flags;
    bool pointers; // a, b, c, d point to arrays of pointers
};

rocblas_status standin_gemm(const struct gemm *g); // launches and logs it

#endif
