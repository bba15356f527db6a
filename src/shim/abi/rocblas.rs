//! rocblas-types.h: what the hooked functions take and return.
#![allow(non_camel_case_types)]

use super::Pointer;

pub(crate) type rocblas_status = i32;
pub(crate) type rocblas_handle = Pointer;
pub(crate) type rocblas_operation = u32;
pub(crate) type rocblas_datatype = u32;
pub(crate) type rocblas_gemm_algo = u32;
pub(crate) type rocblas_int = i32;
pub(crate) type rocblas_stride = i64;
