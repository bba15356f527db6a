//! The status of hiprand.h that a hook returns when no loaded library has the real function.
pub(crate) const HIPRAND_STATUS_NOT_IMPLEMENTED: i32 = 1000;
