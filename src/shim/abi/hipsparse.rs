//! The status of hipsparse.h that a hook returns when no loaded library has the real function.
pub(crate) const HIPSPARSE_STATUS_NOT_SUPPORTED: i32 = 10;
