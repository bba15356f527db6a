//! Default options for the run-time libraries of gcc's and clang's sanitizers, so that a program
//! built with a sanitizer runs as it does without the shim. Functions of these names in the program
//! take precedence over ours.
#![allow(unsafe_code)] // exports

use std::ffi::{CStr, c_char};

/// The address sanitizer requires its library to be loaded first, because others might interpose
/// memory functions. The shim interposes none.
const ADDRESS: &CStr = c"verify_asan_link_order=0";
/// The shim is not built with the thread sanitizer, which therefore does not see the order of its
/// atomics. It checks none of the shim's own copies (`called_from_lib`): to suppress a report, it
/// makes it first, takes the loader's lock for that, and deadlocks with a callback of
/// `dl_iterate_phdr` that makes another.
const THREAD: &CStr = c"called_from_lib:librocshim.so\nrace:librocshim.so\n";
/// By default it ends a forked child of a multi-threaded parent when the child starts a thread. The
/// collector counts for both.
const FORK: &CStr = c"die_after_fork=0";
/// Memory of a parent's collector thread is no leak of a forked child.
const LEAK: &CStr = c"leak:librocshim.so\n";

/// Returns options of the address sanitizer.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    ADDRESS.as_ptr()
}

/// Returns options of the thread sanitizer.
#[unsafe(no_mangle)]
extern "C" fn __tsan_default_options() -> *const c_char {
    FORK.as_ptr()
}

/// Returns suppressions of the thread sanitizer.
#[unsafe(no_mangle)]
extern "C" fn __tsan_default_suppressions() -> *const c_char {
    THREAD.as_ptr()
}

/// Returns suppressions of the leak sanitizer, which is part of the address sanitizer.
#[unsafe(no_mangle)]
extern "C" fn __lsan_default_suppressions() -> *const c_char {
    LEAK.as_ptr()
}
