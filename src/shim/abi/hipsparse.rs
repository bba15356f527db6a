//! hipsparse.h: what a function that no library has answers with.
pub(crate) const HIPSPARSE_STATUS_NOT_SUPPORTED: i32 = 10;
