//! Rows of librocblas: GEMMs of one element type, which is in the name. Signatures as in
//! rocblas-functions.h. The `_64` names exist from ROCm 6.3 on. Half and complex numbers are passed
//! by pointer only.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::rocblas::*;
use crate::calls::gemm::{Strides, batched, plain, strided_batched, typed};
use std::ffi::c_void;

/// The six functions of an element type: single, batched, strided batched; each with 32-bit and
/// 64-bit sizes.
macro_rules! by_element {
    ($($element:ident, $T:ident: $plain:ident $plain_64:ident $batched:ident $batched_64:ident $strided:ident $strided_64:ident;)*) => {
        hooks! { "librocblas.so", from super::first::rocblas_typed;
            $(
                fn $plain(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: *const $T, A: *const $T, lda: rocblas_int, B: *const $T, ldb: rocblas_int, beta: *const $T, C: *mut $T, ldc: rocblas_int) -> rocblas_status
                    => plain(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [A.cast(), B.cast(), C.cast()], [lda, ldb, ldc]));
                fn $plain_64(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: i64, n: i64, k: i64, alpha: *const $T, A: *const $T, lda: i64, B: *const $T, ldb: i64, beta: *const $T, C: *mut $T, ldc: i64) -> rocblas_status
                    => plain(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [A.cast(), B.cast(), C.cast()], [lda, ldb, ldc]));
                fn $batched(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: *const $T, A: *const *const $T, lda: rocblas_int, B: *const *const $T, ldb: rocblas_int, beta: *const $T, C: *const *mut $T, ldc: rocblas_int, batch_count: rocblas_int) -> rocblas_status
                    => batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [A.cast(), B.cast(), C.cast()], [lda, ldb, ldc]), batch_count);
                fn $batched_64(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: i64, n: i64, k: i64, alpha: *const $T, A: *const *const $T, lda: i64, B: *const *const $T, ldb: i64, beta: *const $T, C: *const *mut $T, ldc: i64, batch_count: i64) -> rocblas_status
                    => batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [A.cast(), B.cast(), C.cast()], [lda, ldb, ldc]), batch_count);
                fn $strided(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: rocblas_int, n: rocblas_int, k: rocblas_int, alpha: *const $T, A: *const $T, lda: rocblas_int, stride_a: rocblas_stride, B: *const $T, ldb: rocblas_int, stride_b: rocblas_stride, beta: *const $T, C: *mut $T, ldc: rocblas_int, stride_c: rocblas_stride, batch_count: rocblas_int) -> rocblas_status
                    => strided_batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [A.cast(), B.cast(), C.cast()], [lda, ldb, ldc]), batch_count, Strides([stride_a, stride_b, stride_c, stride_c]));
                fn $strided_64(handle: rocblas_handle, transA: rocblas_operation, transB: rocblas_operation, m: i64, n: i64, k: i64, alpha: *const $T, A: *const $T, lda: i64, stride_a: rocblas_stride, B: *const $T, ldb: i64, stride_b: rocblas_stride, beta: *const $T, C: *mut $T, ldc: i64, stride_c: rocblas_stride, batch_count: i64) -> rocblas_status
                    => strided_batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [A.cast(), B.cast(), C.cast()], [lda, ldb, ldc]), batch_count, Strides([stride_a, stride_b, stride_c, stride_c]));
            )*
        }
    };
}

by_element! {
    rocblas_datatype_f16_r, c_void: rocblas_hgemm rocblas_hgemm_64 rocblas_hgemm_batched rocblas_hgemm_batched_64 rocblas_hgemm_strided_batched rocblas_hgemm_strided_batched_64;
    rocblas_datatype_f32_r, f32:    rocblas_sgemm rocblas_sgemm_64 rocblas_sgemm_batched rocblas_sgemm_batched_64 rocblas_sgemm_strided_batched rocblas_sgemm_strided_batched_64;
    rocblas_datatype_f64_r, f64:    rocblas_dgemm rocblas_dgemm_64 rocblas_dgemm_batched rocblas_dgemm_batched_64 rocblas_dgemm_strided_batched rocblas_dgemm_strided_batched_64;
    rocblas_datatype_f32_c, c_void: rocblas_cgemm rocblas_cgemm_64 rocblas_cgemm_batched rocblas_cgemm_batched_64 rocblas_cgemm_strided_batched rocblas_cgemm_strided_batched_64;
    rocblas_datatype_f64_c, c_void: rocblas_zgemm rocblas_zgemm_64 rocblas_zgemm_batched rocblas_zgemm_batched_64 rocblas_zgemm_strided_batched rocblas_zgemm_strided_batched_64;
}
