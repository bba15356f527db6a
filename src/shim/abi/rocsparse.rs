//! The status of rocsparse.h that a hook returns when no loaded library has the real function.
#![allow(non_upper_case_globals)]

pub(crate) const rocsparse_status_not_implemented: i32 = 2;
