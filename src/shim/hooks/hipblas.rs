//! Rows of libhipblas: GEMMs whose element types are arguments, and handles. Signatures as in
//! hipblas.h.
//!
//! Order: single, batched, strided batched; in each, the plain names (ROCm 5.2 on), those with
//! flags (6.0 on), with 64-bit sizes (6.3 on), and their `_v2` variants (6.0, 6.3 to 6.4), whose
//! types the plain names took over; then handles and their settings.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::hip::hipStream_t;
use crate::abi::hipblas::*;
use crate::calls::gemm::{Plain, Strides, batched, plain, strided_batched};
use crate::calls::handle::{Create, Destroy, GetStream, Set};
use rocshim_ring::definition::{ATOMICS, MATH_MODE, POINTER_MODE, STREAM};

/// The functions of one form differ in the type of a size, and in whether they take flags.
macro_rules! by_types {
    (
        plain: $($plain:ident($int:ident))*; $($plain_flags:ident($flags_int:ident, flags))*;
        batched: $($batched:ident($batched_int:ident))*; $($batched_flags:ident($batched_flags_int:ident, flags))*;
        strided_batched: $($strided:ident($strided_int:ident))*; $($strided_flags:ident($strided_flags_int:ident, flags))*;
        other: $($other:tt)*
    ) => {
        hooks! { "libhipblas.so", from super::first::hipblas;
            $(
                fn $plain(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: $int, n: $int, k: $int, alpha: Pointer, A: Pointer, aType: hipDataType, lda: $int, B: Pointer, bType: hipDataType, ldb: $int, beta: Pointer, C: Pointer, cType: hipDataType, ldc: $int, computeType: hipblasComputeType_t, algo: hipblasGemmAlgo_t) -> hipblasStatus_t
                    => plain(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [A, B, C, C], types: [aType, bType, cType, cType], lds: [lda, ldb, ldc, ldc], compute: computeType, algo, solution: 0, flags: 0 });
            )*
            $(
                fn $plain_flags(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: $flags_int, n: $flags_int, k: $flags_int, alpha: Pointer, A: Pointer, aType: hipDataType, lda: $flags_int, B: Pointer, bType: hipDataType, ldb: $flags_int, beta: Pointer, C: Pointer, cType: hipDataType, ldc: $flags_int, computeType: hipblasComputeType_t, algo: hipblasGemmAlgo_t, flags: hipblasGemmFlags_t) -> hipblasStatus_t
                    => plain(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [A, B, C, C], types: [aType, bType, cType, cType], lds: [lda, ldb, ldc, ldc], compute: computeType, algo, solution: 0, flags });
            )*
            $(
                fn $batched(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: $batched_int, n: $batched_int, k: $batched_int, alpha: Pointer, A: Pointers, aType: hipDataType, lda: $batched_int, B: Pointers, bType: hipDataType, ldb: $batched_int, beta: Pointer, C: Pointers, cType: hipDataType, ldc: $batched_int, batchCount: $batched_int, computeType: hipblasComputeType_t, algo: hipblasGemmAlgo_t) -> hipblasStatus_t
                    => batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [A, B, C, C], types: [aType, bType, cType, cType], lds: [lda, ldb, ldc, ldc], compute: computeType, algo, solution: 0, flags: 0 }, batchCount);
            )*
            $(
                fn $batched_flags(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: $batched_flags_int, n: $batched_flags_int, k: $batched_flags_int, alpha: Pointer, A: Pointers, aType: hipDataType, lda: $batched_flags_int, B: Pointers, bType: hipDataType, ldb: $batched_flags_int, beta: Pointer, C: Pointers, cType: hipDataType, ldc: $batched_flags_int, batchCount: $batched_flags_int, computeType: hipblasComputeType_t, algo: hipblasGemmAlgo_t, flags: hipblasGemmFlags_t) -> hipblasStatus_t
                    => batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [A, B, C, C], types: [aType, bType, cType, cType], lds: [lda, ldb, ldc, ldc], compute: computeType, algo, solution: 0, flags }, batchCount);
            )*
            $(
                fn $strided(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: $strided_int, n: $strided_int, k: $strided_int, alpha: Pointer, A: Pointer, aType: hipDataType, lda: $strided_int, strideA: hipblasStride, B: Pointer, bType: hipDataType, ldb: $strided_int, strideB: hipblasStride, beta: Pointer, C: Pointer, cType: hipDataType, ldc: $strided_int, strideC: hipblasStride, batchCount: $strided_int, computeType: hipblasComputeType_t, algo: hipblasGemmAlgo_t) -> hipblasStatus_t
                    => strided_batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [A, B, C, C], types: [aType, bType, cType, cType], lds: [lda, ldb, ldc, ldc], compute: computeType, algo, solution: 0, flags: 0 }, batchCount, Strides([strideA, strideB, strideC, strideC]));
            )*
            $(
                fn $strided_flags(handle: hipblasHandle_t, transA: hipblasOperation_t, transB: hipblasOperation_t, m: $strided_flags_int, n: $strided_flags_int, k: $strided_flags_int, alpha: Pointer, A: Pointer, aType: hipDataType, lda: $strided_flags_int, strideA: hipblasStride, B: Pointer, bType: hipDataType, ldb: $strided_flags_int, strideB: hipblasStride, beta: Pointer, C: Pointer, cType: hipDataType, ldc: $strided_flags_int, strideC: hipblasStride, batchCount: $strided_flags_int, computeType: hipblasComputeType_t, algo: hipblasGemmAlgo_t, flags: hipblasGemmFlags_t) -> hipblasStatus_t
                    => strided_batched(Plain { handle, trans: [transA, transB], size: [m, n, k], scalars: [alpha, beta], matrices: [A, B, C, C], types: [aType, bType, cType, cType], lds: [lda, ldb, ldc, ldc], compute: computeType, algo, solution: 0, flags }, batchCount, Strides([strideA, strideB, strideC, strideC]));
            )*
            $($other)*
        }
    };
}

by_types! {
    plain:
        hipblasGemmEx(int) hipblasGemmEx_v2(int) hipblasGemmEx_64(i64) hipblasGemmEx_v2_64(i64);
        hipblasGemmExWithFlags(int, flags) hipblasGemmExWithFlags_v2(int, flags) hipblasGemmExWithFlags_64(i64, flags) hipblasGemmExWithFlags_v2_64(i64, flags);
    batched:
        hipblasGemmBatchedEx(int) hipblasGemmBatchedEx_v2(int) hipblasGemmBatchedEx_64(i64) hipblasGemmBatchedEx_v2_64(i64);
        hipblasGemmBatchedExWithFlags(int, flags) hipblasGemmBatchedExWithFlags_v2(int, flags) hipblasGemmBatchedExWithFlags_64(i64, flags) hipblasGemmBatchedExWithFlags_v2_64(i64, flags);
    strided_batched:
        hipblasGemmStridedBatchedEx(int) hipblasGemmStridedBatchedEx_v2(int) hipblasGemmStridedBatchedEx_64(i64) hipblasGemmStridedBatchedEx_v2_64(i64);
        hipblasGemmStridedBatchedExWithFlags(int, flags) hipblasGemmStridedBatchedExWithFlags_v2(int, flags) hipblasGemmStridedBatchedExWithFlags_64(i64, flags) hipblasGemmStridedBatchedExWithFlags_v2_64(i64, flags);
    other:
        fn hipblasCreate(handle: *mut hipblasHandle_t) -> hipblasStatus_t
            => Create { handle, has_stream: true };
        fn hipblasDestroy(handle: hipblasHandle_t) -> hipblasStatus_t
            => Destroy::before_call(handle);
        fn hipblasSetStream(handle: hipblasHandle_t, streamId: hipStream_t) -> hipblasStatus_t
            => Set { handle, setting: STREAM, value: streamId as u64 };
        fn hipblasGetStream(handle: hipblasHandle_t, streamId: *mut hipStream_t) -> hipblasStatus_t
            => GetStream { handle, stream: streamId };
        fn hipblasSetPointerMode(handle: hipblasHandle_t, mode: hipblasPointerMode_t) -> hipblasStatus_t
            => Set { handle, setting: POINTER_MODE, value: mode.into() };
        fn hipblasSetAtomicsMode(handle: hipblasHandle_t, atomics_mode: hipblasAtomicsMode_t) -> hipblasStatus_t
            => Set { handle, setting: ATOMICS, value: atomics_mode.into() };
        // ROCm 6.1 on.
        fn hipblasSetMathMode(handle: hipblasHandle_t, mode: hipblasMath_t) -> hipblasStatus_t
            => Set { handle, setting: MATH_MODE, value: mode.into() };
}
