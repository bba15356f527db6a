//! What the run-time libraries of gcc's and clang's sanitizers ask of whoever is in the process, so that a program that was
//! built with one runs as it does without us. A program's own functions of these names come before ours.
#![allow(unsafe_code)] // exports

use std::ffi::{CStr, c_char};

/// The address sanitizer wants its library to be the first that is loaded, because of memory functions that others may bring:
/// we have none.
const ADDRESS: &CStr = c"verify_asan_link_order=0";
/// The thread sanitizer knows nothing of the order that our atomics make, because we are not built with it.
const THREAD: &CStr = c"race:librocshim.so\n";
/// It ends a forked child that starts a thread when its parent had several; of which our collector is one, and so is the child's.
const FORK: &CStr = c"die_after_fork=0";
/// What a thread of ours had in a forked child's parent is no leak of the child's.
const LEAK: &CStr = c"leak:librocshim.so\n";

/// Options of the address sanitizer.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    ADDRESS.as_ptr()
}

/// Options of the thread sanitizer.
#[unsafe(no_mangle)]
extern "C" fn __tsan_default_options() -> *const c_char {
    FORK.as_ptr()
}

/// What the thread sanitizer is not to report.
#[unsafe(no_mangle)]
extern "C" fn __tsan_default_suppressions() -> *const c_char {
    THREAD.as_ptr()
}

/// What the leak sanitizer, which the address sanitizer has with it, is not to report.
#[unsafe(no_mangle)]
extern "C" fn __lsan_default_suppressions() -> *const c_char {
    LEAK.as_ptr()
}
