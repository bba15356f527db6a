//! The status of hipfft.h that a hook returns when no loaded library has the real function.
pub(crate) const HIPFFT_NOT_IMPLEMENTED: i32 = 14;
