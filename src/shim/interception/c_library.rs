//! The C library's own functions behind those that this library exports in their stead.

use crate::platform::objects;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Where they are: until glibc 2.33 in a library of their own.
const FILES: [&str; 2] = ["libc.so.6", "libdl.so.2"];

/// Looks `name` up and remembers it. Whoever calls us was linked against it, so it is there. A sanitizer's run-time library
/// asks us before it is ready to be called itself: nothing is called on the way that it may have taken the place of.
pub(super) fn find(known: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    let found = objects::early_symbol(&FILES, name);
    // Relaxed: every thread finds the same.
    known.store(found, Relaxed);
    found
}
