//! Types of rocblas-types.h, as the hooked functions take and return them.
#![allow(non_camel_case_types, non_upper_case_globals)]

use super::Pointer;

pub(crate) type rocblas_status = i32;
/// Returned by a hook when no loaded library has the real function.
pub(crate) const rocblas_status_not_implemented: rocblas_status = 2;
pub(crate) type rocblas_handle = Pointer;
pub(crate) type rocblas_operation = u32;
pub(crate) const rocblas_operation_none: rocblas_operation = 111;
pub(crate) type rocblas_datatype = u32;
/// Compute type of the `ex3` functions.
pub(crate) type rocblas_computetype = u32;
pub(crate) type rocblas_gemm_algo = u32;
pub(crate) type rocblas_pointer_mode = u32;
pub(crate) type rocblas_atomics_mode = u32;
pub(crate) type rocblas_math_mode = u32;
pub(crate) type rocblas_performance_metric = u32;
pub(crate) type rocblas_int = i32;
pub(crate) type rocblas_stride = i64;

/// Element types that typed functions (`rocblas_sgemm`) imply, by the values that the untyped
/// functions are passed.
pub(crate) const rocblas_datatype_f16_r: rocblas_datatype = 150;
pub(crate) const rocblas_datatype_f32_r: rocblas_datatype = 151;
pub(crate) const rocblas_datatype_f64_r: rocblas_datatype = 152;
pub(crate) const rocblas_datatype_f32_c: rocblas_datatype = 154;
pub(crate) const rocblas_datatype_f64_c: rocblas_datatype = 155;
