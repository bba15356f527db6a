//! hipblas.h and hipblas-common.h: what the hooked functions take and return.
//!
//! The types of elements and of computations changed with ROCm 7, in the same places and of the same size: up to hipBLAS
//! 2.x the plain names take `hipblasDatatype_t` (150 and up) for both, and the names with `_v2` take `hipDataType` and
//! `hipblasComputeType_t`; from 3.x on the plain names take these. Which number was passed tells which it is.
#![allow(non_camel_case_types, non_upper_case_globals)]

use super::Pointer;

pub(crate) type hipblasStatus_t = i32;
/// What a hook answers when no library has the function.
pub(crate) const HIPBLAS_STATUS_NOT_SUPPORTED: hipblasStatus_t = 7;
pub(crate) type hipblasHandle_t = Pointer;
pub(crate) type hipblasOperation_t = u32;
/// Or `hipblasDatatype_t`.
pub(crate) type hipDataType = u32;
/// Or `hipblasDatatype_t`.
pub(crate) type hipblasComputeType_t = u32;
pub(crate) type hipblasGemmAlgo_t = u32;
pub(crate) type hipblasGemmFlags_t = u32;
pub(crate) type hipblasPointerMode_t = u32;
pub(crate) type hipblasAtomicsMode_t = u32;
pub(crate) type hipblasMath_t = u32;
pub(crate) type hipblasStride = i64;
/// C's `int`.
pub(crate) type int = i32;
/// `void**`: an array of pointers, in device memory.
pub(crate) type Pointers = Pointer;
