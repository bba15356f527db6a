//! hipfft.h: what a function that no library has answers with.
pub(crate) const HIPFFT_NOT_IMPLEMENTED: i32 = 14;
