//! Rows of libhipblas: GEMMs of one element type, which is in the name. Signatures as in hipblas.h.
//! The `_64` names exist from ROCm 6.3 on, the complex `_v2` names from 6.0 (with `_64` 6.3) to
//! 6.4. Half and complex numbers are passed by pointer only.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::hipblas::*;
use crate::abi::rocblas::{
    rocblas_datatype_f16_r, rocblas_datatype_f32_c, rocblas_datatype_f32_r, rocblas_datatype_f64_c,
    rocblas_datatype_f64_r,
};
use crate::calls::gemm::{Strides, batched, plain, strided_batched, typed};
use std::ffi::c_void;

/// The six functions of an element type: single, batched, strided batched; each with 32-bit and
/// 64-bit sizes.
macro_rules! by_element {
    ($($element:ident, $T:ident: $plain:ident $plain_64:ident $batched:ident $batched_64:ident $strided:ident $strided_64:ident;)*) => {
        hooks! { "libhipblas.so", from super::first::hipblas_typed;
            $(
                fn $plain(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: int, n: int, k: int, alpha: *const $T, AP: *const $T, lda: int, BP: *const $T, ldb: int, beta: *const $T, CP: *mut $T, ldc: int) -> hipblasStatus_t
                    => plain(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [AP.cast(), BP.cast(), CP.cast()], [lda, ldb, ldc]));
                fn $plain_64(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: i64, n: i64, k: i64, alpha: *const $T, AP: *const $T, lda: i64, BP: *const $T, ldb: i64, beta: *const $T, CP: *mut $T, ldc: i64) -> hipblasStatus_t
                    => plain(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [AP.cast(), BP.cast(), CP.cast()], [lda, ldb, ldc]));
                fn $batched(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: int, n: int, k: int, alpha: *const $T, AP: *const *const $T, lda: int, BP: *const *const $T, ldb: int, beta: *const $T, CP: *const *mut $T, ldc: int, batchCount: int) -> hipblasStatus_t
                    => batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [AP.cast(), BP.cast(), CP.cast()], [lda, ldb, ldc]), batchCount);
                fn $batched_64(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: i64, n: i64, k: i64, alpha: *const $T, AP: *const *const $T, lda: i64, BP: *const *const $T, ldb: i64, beta: *const $T, CP: *const *mut $T, ldc: i64, batchCount: i64) -> hipblasStatus_t
                    => batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [AP.cast(), BP.cast(), CP.cast()], [lda, ldb, ldc]), batchCount);
                fn $strided(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: int, n: int, k: int, alpha: *const $T, AP: *const $T, lda: int, strideA: i64, BP: *const $T, ldb: int, strideB: i64, beta: *const $T, CP: *mut $T, ldc: int, strideC: i64, batchCount: int) -> hipblasStatus_t
                    => strided_batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [AP.cast(), BP.cast(), CP.cast()], [lda, ldb, ldc]), batchCount, Strides([strideA, strideB, strideC, strideC]));
                fn $strided_64(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: i64, n: i64, k: i64, alpha: *const $T, AP: *const $T, lda: i64, strideA: i64, BP: *const $T, ldb: i64, strideB: i64, beta: *const $T, CP: *mut $T, ldc: i64, strideC: i64, batchCount: i64) -> hipblasStatus_t
                    => strided_batched(typed($element, handle, [transA, transB], [m, n, k], [alpha.cast(), beta.cast()], [AP.cast(), BP.cast(), CP.cast()], [lda, ldb, ldc]), batchCount, Strides([strideA, strideB, strideC, strideC]));
            )*
        }
    };
}

by_element! {
    rocblas_datatype_f16_r, c_void: hipblasHgemm hipblasHgemm_64 hipblasHgemmBatched hipblasHgemmBatched_64 hipblasHgemmStridedBatched hipblasHgemmStridedBatched_64;
    rocblas_datatype_f32_r, f32:    hipblasSgemm hipblasSgemm_64 hipblasSgemmBatched hipblasSgemmBatched_64 hipblasSgemmStridedBatched hipblasSgemmStridedBatched_64;
    rocblas_datatype_f64_r, f64:    hipblasDgemm hipblasDgemm_64 hipblasDgemmBatched hipblasDgemmBatched_64 hipblasDgemmStridedBatched hipblasDgemmStridedBatched_64;
    rocblas_datatype_f32_c, c_void: hipblasCgemm hipblasCgemm_64 hipblasCgemmBatched hipblasCgemmBatched_64 hipblasCgemmStridedBatched hipblasCgemmStridedBatched_64;
    rocblas_datatype_f64_c, c_void: hipblasZgemm hipblasZgemm_64 hipblasZgemmBatched hipblasZgemmBatched_64 hipblasZgemmStridedBatched hipblasZgemmStridedBatched_64;
    rocblas_datatype_f32_c, c_void: hipblasCgemm_v2 hipblasCgemm_v2_64 hipblasCgemmBatched_v2 hipblasCgemmBatched_v2_64 hipblasCgemmStridedBatched_v2 hipblasCgemmStridedBatched_v2_64;
    rocblas_datatype_f64_c, c_void: hipblasZgemm_v2 hipblasZgemm_v2_64 hipblasZgemmBatched_v2 hipblasZgemmBatched_v2_64 hipblasZgemmStridedBatched_v2 hipblasZgemmStridedBatched_v2_64;
}
