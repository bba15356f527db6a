//! hiprand.h: what a function that no library has answers with.
pub(crate) const HIPRAND_STATUS_NOT_IMPLEMENTED: i32 = 1000;
