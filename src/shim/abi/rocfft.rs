//! rocfft.h: what a function that no library has answers with.
#![allow(non_upper_case_globals)]

pub(crate) const rocfft_status_failure: i32 = 1;
