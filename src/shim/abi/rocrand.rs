//! rocrand.h: what a function that no library has answers with.
pub(crate) const ROCRAND_STATUS_INTERNAL_ERROR: i32 = 108;
