//! rocblas-types.h: what the hooked functions take and return.
#![allow(non_camel_case_types, non_upper_case_globals)]

use super::Pointer;

pub(crate) type rocblas_status = i32;
/// What a hook answers when no library has the function.
pub(crate) const rocblas_status_not_implemented: rocblas_status = 2;
pub(crate) type rocblas_handle = Pointer;
pub(crate) type rocblas_operation = u32;
pub(crate) type rocblas_datatype = u32;
pub(crate) type rocblas_gemm_algo = u32;
pub(crate) type rocblas_int = i32;
pub(crate) type rocblas_stride = i64;
