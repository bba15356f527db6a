//! Wrong statements, for test_check.py.
pub(crate) type unowned_t = u32;
pub(crate) type Pointer = *const c_void;
