//! Types of hipblas.h and hipblas-common.h, as the hooked functions take and return them.
//!
//! ROCm 7 changed the element and compute types without changing their position or size. Up to
//! hipBLAS 2.x the plain names take `hipblasDatatype_t` (values from 150) for both, and the `_v2`
//! names take `hipDataType` and `hipblasComputeType_t`. From 3.x the plain names take the latter.
//! The value passed identifies the enum.
#![allow(non_camel_case_types, non_upper_case_globals)]

use super::Pointer;

pub(crate) type hipblasStatus_t = i32;
/// Returned by a hook when no loaded library has the real function.
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
/// C `int`.
pub(crate) type int = i32;
/// `void**`: an array of pointers in device memory.
pub(crate) type Pointers = Pointer;
