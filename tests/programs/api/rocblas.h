// The part of the rocBLAS API that the stand-ins provide, with its own names and signatures.
#ifndef ROCBLAS_H
#define ROCBLAS_H

#include "hip.h"

typedef struct _rocblas_handle *rocblas_handle;
typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
typedef enum { rocblas_operation_none = 111, rocblas_operation_transpose = 112, rocblas_operation_conjugate_transpose = 113 } rocblas_operation;
typedef enum { rocblas_datatype_f16_r = 150, rocblas_datatype_f32_r = 151, rocblas_datatype_f64_r = 152, rocblas_datatype_f32_c = 154, rocblas_datatype_f64_c = 155, rocblas_datatype_i8_r = 160, rocblas_datatype_i32_r = 162, rocblas_datatype_bf16_r = 168 } rocblas_datatype;
typedef enum { rocblas_compute_type_f32 = 300, rocblas_compute_type_f8_f8_f32 = 301 } rocblas_computetype;
typedef enum { rocblas_gemm_algo_standard = 0, rocblas_gemm_algo_solution_index = 1 } rocblas_gemm_algo;
typedef enum { rocblas_pointer_mode_host = 0, rocblas_pointer_mode_device = 1 } rocblas_pointer_mode;
typedef enum { rocblas_atomics_not_allowed = 0, rocblas_atomics_allowed = 1 } rocblas_atomics_mode;
typedef enum { rocblas_default_math = 0, rocblas_xf32_xdl_math_op = 1 } rocblas_math_mode;
typedef enum { rocblas_default_performance_metric = 0, rocblas_device_efficiency_performance_metric = 1, rocblas_cu_efficiency_performance_metric = 2 } rocblas_performance_metric;
typedef enum { rocblas_status_success = 0, rocblas_status_invalid_handle = 1, rocblas_status_not_implemented = 2, rocblas_status_invalid_pointer = 3, rocblas_status_invalid_size = 4, rocblas_status_internal_error = 6, rocblas_status_invalid_value = 11 } rocblas_status;

typedef struct { uint16_t data; } rocblas_half;
typedef struct { float x, y; } rocblas_float_complex;
typedef struct { double x, y; } rocblas_double_complex;

rocblas_status rocblas_create_handle(rocblas_handle *handle);
rocblas_status rocblas_destroy_handle(rocblas_handle handle);
rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream);
rocblas_status rocblas_get_stream(rocblas_handle handle, hipStream_t *stream);
rocblas_status rocblas_set_pointer_mode(rocblas_handle handle, rocblas_pointer_mode pointer_mode);
rocblas_status rocblas_get_pointer_mode(rocblas_handle handle, rocblas_pointer_mode *pointer_mode);
rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode atomics_mode);
rocblas_status rocblas_set_math_mode(rocblas_handle handle, rocblas_math_mode math_mode);
rocblas_status rocblas_set_performance_metric(rocblas_handle handle, rocblas_performance_metric metric);
void rocblas_initialize(void);
rocblas_status rocblas_get_version_string(char *buf, size_t len);
rocblas_status rocblas_get_version_string_size(size_t *len);
const char *rocblas_status_to_string(rocblas_status status);

// The functions of one form differ in the type of a size and in the compute type.
#define ROCBLAS_EX(suffix, int, compute)                                                                                                                                                   \
    rocblas_status rocblas_gemm_##suffix(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const void *alpha, const void *a, rocblas_datatype a_type, int lda, const void *b, rocblas_datatype b_type, int ldb, const void *beta, const void *c, rocblas_datatype c_type, int ldc, void *d, rocblas_datatype d_type, int ldd, compute compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags); \
    rocblas_status rocblas_gemm_batched_##suffix(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const void *alpha, const void *a, rocblas_datatype a_type, int lda, const void *b, rocblas_datatype b_type, int ldb, const void *beta, const void *c, rocblas_datatype c_type, int ldc, void *d, rocblas_datatype d_type, int ldd, int batch_count, compute compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags); \
    rocblas_status rocblas_gemm_strided_batched_##suffix(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const void *alpha, const void *a, rocblas_datatype a_type, int lda, rocblas_stride stride_a, const void *b, rocblas_datatype b_type, int ldb, rocblas_stride stride_b, const void *beta, const void *c, rocblas_datatype c_type, int ldc, rocblas_stride stride_c, void *d, rocblas_datatype d_type, int ldd, rocblas_stride stride_d, int batch_count, compute compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags);
ROCBLAS_EX(ex, rocblas_int, rocblas_datatype)
ROCBLAS_EX(ex3, rocblas_int, rocblas_computetype)
ROCBLAS_EX(ex_64, int64_t, rocblas_datatype)
rocblas_status rocblas_gemm_ext2(rocblas_handle handle, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_stride row_stride_a, rocblas_stride col_stride_a, const void *b, rocblas_datatype b_type, rocblas_stride row_stride_b, rocblas_stride col_stride_b, const void *beta, const void *c, rocblas_datatype c_type, rocblas_stride row_stride_c, rocblas_stride col_stride_c, void *d, rocblas_datatype d_type, rocblas_stride row_stride_d, rocblas_stride col_stride_d, rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags);

rocblas_status rocblas_gemm_ex_get_solutions(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_datatype compute_type, rocblas_gemm_algo algo, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size);
rocblas_status rocblas_gemm_batched_ex_get_solutions(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size);
rocblas_status rocblas_gemm_strided_batched_ex_get_solutions(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b, rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size);
rocblas_status rocblas_gemm_ex_get_solutions_by_type(rocblas_handle handle, rocblas_datatype input_type, rocblas_datatype output_type, rocblas_datatype compute_type, uint32_t flags, rocblas_int *list_array, rocblas_int *list_size);

// The functions of one element type.
#define ROCBLAS_TYPED(name, T, suffix, int)                                                                                                                                                \
    rocblas_status rocblas_##name##suffix(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc); \
    rocblas_status rocblas_##name##_batched##suffix(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const T *alpha, const T *const A[], int lda, const T *const B[], int ldb, const T *beta, T *const C[], int ldc, int batch_count); \
    rocblas_status rocblas_##name##_strided_batched##suffix(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, const T *alpha, const T *A, int lda, rocblas_stride stride_a, const T *B, int ldb, rocblas_stride stride_b, const T *beta, T *C, int ldc, rocblas_stride stride_c, int batch_count);
#define ROCBLAS_BOTH(name, T) ROCBLAS_TYPED(name, T, , rocblas_int) ROCBLAS_TYPED(name, T, _64, int64_t)
ROCBLAS_BOTH(hgemm, rocblas_half)
ROCBLAS_BOTH(sgemm, float)
ROCBLAS_BOTH(dgemm, double)
ROCBLAS_BOTH(cgemm, rocblas_float_complex)
ROCBLAS_BOTH(zgemm, rocblas_double_complex)

#endif
