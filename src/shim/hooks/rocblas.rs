//! Rows of librocblas: matrix products. Signatures as in rocblas-functions.h (unchanged from ROCm 5.2 to 7.x).
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports by the vendor's names

use crate::abi::Pointer;
use crate::abi::rocblas::*;
use crate::calls::gemm::{Plain, Strides, batched, plain, strided_batched};

hooks! { "librocblas.so", from super::hip::HOOKS.len() as u16;
    fn rocblas_gemm_ex(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: rocblas_int, b: Pointer, b_type: rocblas_datatype, ldb: rocblas_int, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: rocblas_int, d: Pointer, d_type: rocblas_datatype, ldd: rocblas_int, compute_type: rocblas_datatype, algo: rocblas_gemm_algo, solution_index: i32, flags: u32) -> rocblas_status
        => plain(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: solution_index, flags });
    fn rocblas_gemm_batched_ex(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: rocblas_int, b: Pointer, b_type: rocblas_datatype, ldb: rocblas_int, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: rocblas_int, d: Pointer, d_type: rocblas_datatype, ldd: rocblas_int, batch_count: rocblas_int, compute_type: rocblas_datatype, algo: rocblas_gemm_algo, solution_index: i32, flags: u32) -> rocblas_status
        => batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: solution_index, flags }, batch_count);
    fn rocblas_gemm_strided_batched_ex(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: Pointer, a: Pointer, a_type: rocblas_datatype, lda: rocblas_int, stride_a: rocblas_stride, b: Pointer, b_type: rocblas_datatype, ldb: rocblas_int, stride_b: rocblas_stride, beta: Pointer, c: Pointer, c_type: rocblas_datatype, ldc: rocblas_int, stride_c: rocblas_stride, d: Pointer, d_type: rocblas_datatype, ldd: rocblas_int, stride_d: rocblas_stride, batch_count: rocblas_int, compute_type: rocblas_datatype, algo: rocblas_gemm_algo, solution_index: i32, flags: u32) -> rocblas_status
        => strided_batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [a, b, c, d], types: [a_type, b_type, c_type, d_type], lds: [lda, ldb, ldc, ldd], compute: compute_type, algo, solution: solution_index, flags }, batch_count, Strides([stride_a, stride_b, stride_c, stride_d]));
}
