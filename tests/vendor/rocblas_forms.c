// librocblas stand-in: the entry points for GEMM that differ from those of rocblas.c in types only.
#include "rocblas_gemm.h"
#include "standin.h"

enum { STANDIN_SOLUTIONS = 5 }; // of which run() knows TENSILE_SOLUTIONS kernels

// ---- one element type, in the name ----

#define PLAIN(name, T, element, int)                                                                                                                                                      \
    PUBLIC rocblas_status name(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc) \
    {                                                                                                                                                                                       \
        return standin_gemm(&(struct gemm){#name, handle, transA, transB, m, n, k, alpha, A, B, beta, C, C, element, element, element, element, element, lda, ldb, ldc, ldc, 1, 0, 0, 0, 0, 0, 0, 0, false}); \
    }
#define BATCHED(name, T, element, int)                                                                                                                                                    \
    PUBLIC rocblas_status name(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const T *alpha, const T *const A[], int lda, const T *const B[], int ldb, const T *beta, T *const C[], int ldc, int batch_count) \
    {                                                                                                                                                                                       \
        return standin_gemm(&(struct gemm){#name, handle, transA, transB, m, n, k, alpha, A, B, beta, C, (void *)C, element, element, element, element, element, lda, ldb, ldc, ldc, batch_count, 0, 0, 0, 0, 0, 0, 0, true}); \
    }
#define STRIDED(name, T, element, int)                                                                                                                                                    \
    PUBLIC rocblas_status name(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const T *alpha, const T *A, int lda, rocblas_stride stride_a, const T *B, int ldb, rocblas_stride stride_b, const T *beta, T *C, int ldc, rocblas_stride stride_c, int batch_count) \
    {                                                                                                                                                                                       \
        return standin_gemm(&(struct gemm){#name, handle, transA, transB, m, n, k, alpha, A, B, beta, C, C, element, element, element, element, element, lda, ldb, ldc, ldc, batch_count, stride_a, stride_b, stride_c, stride_c, 0, 0, 0, false}); \
    }
#define TYPED(letter, T, element)                                                  \
    PLAIN(rocblas_##letter##gemm, T, element, rocblas_int)                         \
    PLAIN(rocblas_##letter##gemm_64, T, element, int64_t)                          \
    BATCHED(rocblas_##letter##gemm_batched, T, element, rocblas_int)               \
    BATCHED(rocblas_##letter##gemm_batched_64, T, element, int64_t)                \
    STRIDED(rocblas_##letter##gemm_strided_batched, T, element, rocblas_int)       \
    STRIDED(rocblas_##letter##gemm_strided_batched_64, T, element, int64_t)

TYPED(h, rocblas_half, rocblas_datatype_f16_r)
TYPED(s, float, rocblas_datatype_f32_r)
TYPED(d, double, rocblas_datatype_f64_r)
TYPED(c, rocblas_float_complex, rocblas_datatype_f32_c)
TYPED(z, rocblas_double_complex, rocblas_datatype_f64_c)

// ---- another type of the sizes, or of the compute type ----

#define EX(name, int, compute)                                                                                                                                                             \
    PUBLIC rocblas_status name(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const void *alpha, const void *a, rocblas_datatype a_type, int lda, const void *b, rocblas_datatype b_type, int ldb, const void *beta, const void *c, rocblas_datatype c_type, int ldc, void *d, rocblas_datatype d_type, int ldd, compute compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags) \
    {                                                                                                                                                                                       \
        return standin_gemm(&(struct gemm){#name, handle, transA, transB, m, n, k, alpha, a, b, beta, c, d, a_type, b_type, c_type, d_type, (rocblas_datatype)compute_type, lda, ldb, ldc, ldd, 1, 0, 0, 0, 0, algo, solution_index, flags, false}); \
    }
#define EX_BATCHED(name, int, compute)                                                                                                                                                     \
    PUBLIC rocblas_status name(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const void *alpha, const void *a, rocblas_datatype a_type, int lda, const void *b, rocblas_datatype b_type, int ldb, const void *beta, const void *c, rocblas_datatype c_type, int ldc, void *d, rocblas_datatype d_type, int ldd, int batch_count, compute compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags) \
    {                                                                                                                                                                                       \
        return standin_gemm(&(struct gemm){#name, handle, transA, transB, m, n, k, alpha, a, b, beta, c, d, a_type, b_type, c_type, d_type, (rocblas_datatype)compute_type, lda, ldb, ldc, ldd, batch_count, 0, 0, 0, 0, algo, solution_index, flags, true}); \
    }
#define EX_STRIDED(name, int, compute)                                                                                                                                                     \
    PUBLIC rocblas_status name(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const void *alpha, const void *a, rocblas_datatype a_type, int lda, rocblas_stride stride_a, const void *b, rocblas_datatype b_type, int ldb, rocblas_stride stride_b, const void *beta, const void *c, rocblas_datatype c_type, int ldc, rocblas_stride stride_c, void *d, rocblas_datatype d_type, int ldd, rocblas_stride stride_d, int batch_count, compute compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags) \
    {                                                                                                                                                                                       \
        return standin_gemm(&(struct gemm){#name, handle, transA, transB, m, n, k, alpha, a, b, beta, c, d, a_type, b_type, c_type, d_type, (rocblas_datatype)compute_type, lda, ldb, ldc, ldd, batch_count, stride_a, stride_b, stride_c, stride_d, algo, solution_index, flags, false}); \
    }

EX(rocblas_gemm_ex_64, int64_t, rocblas_datatype)
EX(rocblas_gemm_ex3, rocblas_int, rocblas_computetype)
EX_BATCHED(rocblas_gemm_batched_ex_64, int64_t, rocblas_datatype)
EX_BATCHED(rocblas_gemm_batched_ex3, rocblas_int, rocblas_computetype)
EX_STRIDED(rocblas_gemm_strided_batched_ex_64, int64_t, rocblas_datatype)
EX_STRIDED(rocblas_gemm_strided_batched_ex3, rocblas_int, rocblas_computetype)

// ---- arbitrary row and column strides ----

PUBLIC rocblas_status rocblas_gemm_ext2(rocblas_handle handle, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_stride row_stride_a, rocblas_stride col_stride_a, const void *b, rocblas_datatype b_type, rocblas_stride row_stride_b, rocblas_stride col_stride_b, const void *beta, const void *c, rocblas_datatype c_type, rocblas_stride row_stride_c, rocblas_stride col_stride_c, void *d, rocblas_datatype d_type, rocblas_stride row_stride_d, rocblas_stride col_stride_d, rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags)
{
    return standin_gemm(&(struct gemm){"rocblas_gemm_ext2", handle, rocblas_operation_none, rocblas_operation_none, m, n, k, alpha, a, b, beta, c, d, a_type, b_type, c_type, d_type, compute_type, col_stride_a, col_stride_b, col_stride_c, col_stride_d, 1, row_stride_a, row_stride_b, row_stride_c, row_stride_d, algo, solution_index, flags, false});
}

// ---- queries for solutions: as many as the caller has room for, or else their number, counted
// from 1 ----

static rocblas_status solutions(rocblas_handle handle, rocblas_int *list_array, rocblas_int *list_size)
{
    if (!handle || !list_size)
        return handle ? rocblas_status_invalid_pointer : rocblas_status_invalid_handle;
    for (int i = 0; list_array && i < *list_size && i < STANDIN_SOLUTIONS; i++)
        list_array[i] = i + 1;
    if (!list_array)
        *list_size = STANDIN_SOLUTIONS;
    return rocblas_status_success;
}

#define PROBLEM (void)transA, (void)transB, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)a_type, (void)lda, (void)b, (void)b_type, (void)ldb, (void)beta, (void)c, (void)c_type, (void)ldc, (void)d, (void)d_type, (void)ldd, (void)compute_type, (void)algo, (void)flags

PUBLIC rocblas_status rocblas_gemm_ex_get_solutions(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_datatype compute_type, rocblas_gemm_algo algo, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size)
{
    PROBLEM;
    return solutions(handle, list_array, list_size);
}

PUBLIC rocblas_status rocblas_gemm_batched_ex_get_solutions(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size)
{
    PROBLEM, (void)batch_count;
    return solutions(handle, list_array, list_size);
}

PUBLIC rocblas_status rocblas_gemm_strided_batched_ex_get_solutions(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b, rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size)
{
    PROBLEM, (void)batch_count, (void)stride_a, (void)stride_b, (void)stride_c, (void)stride_d;
    return solutions(handle, list_array, list_size);
}

PUBLIC rocblas_status rocblas_gemm_ex_get_solutions_by_type(rocblas_handle handle, rocblas_datatype input_type, rocblas_datatype output_type, rocblas_datatype compute_type, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size)
{
    (void)input_type, (void)output_type, (void)compute_type, (void)flags;
    return solutions(handle, list_array, list_size);
}
