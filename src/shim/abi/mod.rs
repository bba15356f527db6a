//! C types of the ROCm libraries under their vendors' names, with their layouts asserted.

pub(crate) mod hip;
pub(crate) mod hip_copy;
pub(crate) mod hip_graph;
pub(crate) mod hipblas;
pub(crate) mod hipblaslt;
pub(crate) mod hipfft;
pub(crate) mod hiprand;
pub(crate) mod hipsparse;
pub(crate) mod miopen;
pub(crate) mod rccl;
pub(crate) mod rocblas;
pub(crate) mod rocfft;
pub(crate) mod rocrand;
pub(crate) mod rocsparse;
pub(crate) mod roctx;

use std::ffi::c_void;

/// An opaque handle or a pointer that is passed on without being followed.
pub(crate) type Pointer = *const c_void;
