//! Rows of librocblas: GEMMs whose element types are arguments, queries for solutions, and handles.
//! Signatures as in rocblas-functions.h and rocblas-beta.h; each has kept its own since its first
//! release.
//!
//! Order: single, batched, strided batched; in each, by the type of a size and the compute type;
//! then solutions, handles, and those settings of a handle that influence the choice of a solution.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::hip::hipStream_t;
use crate::abi::rocblas::*;
use crate::calls::gemm::{Plain, Strides, any_order, batched, plain, strided_batched};
use crate::calls::gemm_solutions::{by_type, solutions};
use crate::calls::handle::{Create, Destroy, GetStream, Set, initialize};
use rocshim_ring::definition::{ATOMICS, MATH_MODE, METRIC, POINTER_MODE, STREAM};

/// The functions of one form differ in two types: that of a size, and that of the compute type.
macro_rules! by_types {
    (
        plain: $($plain:ident($int:ident, $compute:ident))*;
        batched: $($batched:ident($batched_int:ident, $batched_compute:ident))*;
        strided_batched: $($strided:ident($strided_int:ident, $strided_compute:ident))*;
        other: $($other:tt)*
    ) => {
        hooks! { "librocblas.so", from super::first::rocblas;
            $(
                fn $plain(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: $int, n: $int, k: $int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: $int, b: Pointer, b_type: rocblas_datatype, ldb: $int, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: $int, d: Pointer, d_type: rocblas_datatype, ldd: $int, compute_type: $compute, algo: rocblas_gemm_algo, solution_index: i32, flags: u32) -> rocblas_status
                    => plain(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: solution_index, flags });
            )*
            $(
                fn $batched(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: $batched_int, n: $batched_int, k: $batched_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: $batched_int, b: Pointer, b_type: rocblas_datatype, ldb: $batched_int, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: $batched_int, d: Pointer, d_type: rocblas_datatype, ldd: $batched_int, batch_count: $batched_int, compute_type: $batched_compute, algo: rocblas_gemm_algo, solution_index: i32, flags: u32) -> rocblas_status
                    => batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: solution_index, flags }, batch_count);
            )*
            $(
                fn $strided(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: $strided_int, n: $strided_int, k: $strided_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: $strided_int, stride_a: rocblas_stride, b: Pointer, b_type: rocblas_datatype, ldb: $strided_int, stride_b: rocblas_stride, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: $strided_int, stride_c: rocblas_stride, d: Pointer, d_type: rocblas_datatype, ldd: $strided_int, stride_d: rocblas_stride, batch_count: $strided_int, compute_type: $strided_compute, algo: rocblas_gemm_algo, solution_index: i32, flags: u32) -> rocblas_status
                    => strided_batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: solution_index, flags }, batch_count, Strides([stride_a, stride_b, stride_c, stride_d]));
            )*
            $($other)*
        }
    };
}

by_types! {
    // ex: always; ex3: ROCm 5.7 (the others 6.0) to 6.4; 64: from ROCm 6.3 on.
    plain:
        rocblas_gemm_ex(rocblas_int, rocblas_datatype)
        rocblas_gemm_ex3(rocblas_int, rocblas_computetype)
        rocblas_gemm_ex_64(i64, rocblas_datatype);
    batched:
        rocblas_gemm_batched_ex(rocblas_int, rocblas_datatype)
        rocblas_gemm_batched_ex3(rocblas_int, rocblas_computetype)
        rocblas_gemm_batched_ex_64(i64, rocblas_datatype);
    strided_batched:
        rocblas_gemm_strided_batched_ex(rocblas_int, rocblas_datatype)
        rocblas_gemm_strided_batched_ex3(rocblas_int, rocblas_computetype)
        rocblas_gemm_strided_batched_ex_64(i64, rocblas_datatype);
    other:
        // Up to ROCm 5.7.
        fn rocblas_gemm_ext2(handle: rocblas_handle, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, row_stride_a: rocblas_stride, col_stride_a: rocblas_stride, b: Pointer, b_type: rocblas_datatype, row_stride_b: rocblas_stride, col_stride_b: rocblas_stride, beta: Pointer, c: Pointer, c_type: rocblas_datatype, row_stride_c: rocblas_stride, col_stride_c: rocblas_stride, d: Pointer, d_type: rocblas_datatype, row_stride_d: rocblas_stride, col_stride_d: rocblas_stride, compute_type: rocblas_datatype, algo: rocblas_gemm_algo, solution_index: i32, flags: u32) -> rocblas_status
            => any_order(Plain { handle, trans: [0; 2], size: [m, n, k].map(i64::from), scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [col_stride_a, col_stride_b, col_stride_c, col_stride_d], compute: compute_type, algo, solution: solution_index, flags }, Strides([row_stride_a, row_stride_b, row_stride_c, row_stride_d]));

        // ROCm 5.5 on; by type, 5.6.
        fn rocblas_gemm_ex_get_solutions(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: rocblas_int, b: Pointer, b_type: rocblas_datatype, ldb: rocblas_int, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: rocblas_int, d: Pointer, d_type: rocblas_datatype, ldd: rocblas_int, compute_type: rocblas_datatype, algo: rocblas_gemm_algo, flags: u32, list_array: *mut rocblas_int, list_size: *mut rocblas_int) -> rocblas_status
            => solutions(plain(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: 0, flags }), list_array, list_size);
        fn rocblas_gemm_batched_ex_get_solutions(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: rocblas_int, b: Pointer, b_type: rocblas_datatype, ldb: rocblas_int, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: rocblas_int, d: Pointer, d_type: rocblas_datatype, ldd: rocblas_int, batch_count: rocblas_int, compute_type: rocblas_datatype, algo: rocblas_gemm_algo, flags: u32, list_array: *mut rocblas_int, list_size: *mut rocblas_int) -> rocblas_status
            => solutions(batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: 0, flags }, batch_count), list_array, list_size);
        fn rocblas_gemm_strided_batched_ex_get_solutions(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: rocblas_int, stride_a: rocblas_stride, b: Pointer, b_type: rocblas_datatype, ldb: rocblas_int, stride_b: rocblas_stride, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: rocblas_int, stride_c: rocblas_stride, d: Pointer, d_type: rocblas_datatype, ldd: rocblas_int, stride_d: rocblas_stride, batch_count: rocblas_int, compute_type: rocblas_datatype, algo: rocblas_gemm_algo, flags: u32, list_array: *mut rocblas_int, list_size: *mut rocblas_int) -> rocblas_status
            => solutions(strided_batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: 0, flags }, batch_count, Strides([stride_a, stride_b, stride_c, stride_d])), list_array, list_size);
        fn rocblas_gemm_ex_get_solutions_by_type(handle: rocblas_handle, input_type: rocblas_datatype, output_type: rocblas_datatype, compute_type: rocblas_datatype, flags: u32, list_array: *mut rocblas_int, list_size: *mut rocblas_int) -> rocblas_status
            => by_type(handle, [input_type, output_type, compute_type], flags, list_array, list_size);
        fn rocblas_gemm_batched_ex_get_solutions_by_type(handle: rocblas_handle, input_type: rocblas_datatype, output_type: rocblas_datatype, compute_type: rocblas_datatype, flags: u32, list_array: *mut rocblas_int, list_size: *mut rocblas_int) -> rocblas_status
            => by_type(handle, [input_type, output_type, compute_type], flags, list_array, list_size);

        fn rocblas_create_handle(handle: *mut rocblas_handle) -> rocblas_status
            => Create { handle, has_stream: true };
        fn rocblas_destroy_handle(handle: rocblas_handle) -> rocblas_status
            => Destroy::before_call(handle);
        fn rocblas_initialize() -> ()
            => initialize();
        fn rocblas_set_stream(handle: rocblas_handle, stream: hipStream_t) -> rocblas_status
            => Set { handle, setting: STREAM, value: stream as u64 };
        fn rocblas_get_stream(handle: rocblas_handle, stream: *mut hipStream_t) -> rocblas_status
            => GetStream { handle, stream };
        fn rocblas_set_pointer_mode(handle: rocblas_handle, pointer_mode: rocblas_pointer_mode) -> rocblas_status
            => Set { handle, setting: POINTER_MODE, value: pointer_mode.into() };
        fn rocblas_set_atomics_mode(handle: rocblas_handle, atomics_mode: rocblas_atomics_mode) -> rocblas_status
            => Set { handle, setting: ATOMICS, value: atomics_mode.into() };
        fn rocblas_set_math_mode(handle: rocblas_handle, math_mode: rocblas_math_mode) -> rocblas_status
            => Set { handle, setting: MATH_MODE, value: math_mode.into() };
        fn rocblas_set_performance_metric(handle: rocblas_handle, metric: rocblas_performance_metric) -> rocblas_status
            => Set { handle, setting: METRIC, value: metric.into() };
}
