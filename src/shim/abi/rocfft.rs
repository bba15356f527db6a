//! The status of rocfft.h that a hook returns when no loaded library has the real function.
#![allow(non_upper_case_globals)]

pub(crate) const rocfft_status_failure: i32 = 1;
