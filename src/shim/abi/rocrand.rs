//! The status of rocrand.h that a hook returns when no loaded library has the real function.
pub(crate) const ROCRAND_STATUS_INTERNAL_ERROR: i32 = 108;
