//! Wrong statements, for test_check.py.
pub(crate) type nobody_t = u32;
pub(crate) type Pointer = *const c_void;
