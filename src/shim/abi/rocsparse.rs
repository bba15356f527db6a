//! rocsparse.h: what a function that no library has answers with.
#![allow(non_upper_case_globals)]

pub(crate) const rocsparse_status_not_implemented: i32 = 2;
