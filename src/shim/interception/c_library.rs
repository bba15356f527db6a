//! Finds the C library's functions behind those that this library interposes.

use crate::platform::objects;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Files that may hold them: up to glibc 2.33 `dlsym` is in libdl.
const FILES: [&str; 2] = ["libc.so.6", "libdl.so.2"];

/// Finds `name` and caches it in `known`. Callers were linked against it, so it exists. A
/// sanitizer's run-time library calls before it is initialised, so nothing is called here that it
/// may interpose.
pub(super) fn find(known: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    let found = objects::early_symbol(&FILES, name);
    // Relaxed: every thread stores the same address.
    known.store(found, Relaxed);
    found
}
