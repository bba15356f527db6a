//! Objects that bypass the interception points: those opened with RTLD_DEEPBIND, which search their
//! own libraries before ours, and those opened with `dlmopen` in a separate linker namespace. They
//! are emitted, so that a reader does not take missing calls for absence.
//!
//! `dlopen` and `dlmopen` are forwarded by a tail jump, because the C library derives the caller
//! from the return address.
#![allow(unsafe_code)] // naked functions, and a C string of the program

use super::c_library::find;
use crate::hook::entry_points::note_bypass;
use crate::lifecycle::caught;
use crate::platform::signals::with_signals_deferred;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::atomic::AtomicPtr;

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DLMOPEN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Interposes `dlopen`.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
    core::arch::naked_asm!(
        "mov r11, qword ptr [rip + {real}]",
        "test r11, r11",
        "jz 3f",
        "2:",
        "test esi, {deepbind}",
        "jnz 4f",
        "jmp r11",
        "3:",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {find}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "mov r11, rax",
        "jmp 2b",
        "4:",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {note}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp qword ptr [rip + {real}]",
        real = sym DLOPEN,
        deepbind = const libc::RTLD_DEEPBIND,
        find = sym find_dlopen,
        note = sym note_deepbind,
    )
}

/// Interposes `dlmopen`.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlmopen(namespace: c_long, path: *const c_char, flags: c_int) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "call {note}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        note = sym note_namespace,
    )
}

extern "C" fn find_dlopen() -> *mut c_void {
    find(&DLOPEN, "dlopen")
}

unsafe extern "C" fn note_deepbind(path: *const c_char) {
    // SAFETY: `path` is what the program passes to `dlopen`: NULL or a C string.
    unsafe { note(path, false) };
}

/// Notes the object and returns the C library's `dlmopen`.
unsafe extern "C" fn note_namespace(namespace: c_long, path: *const c_char) -> *mut c_void {
    if namespace != libc::LM_ID_BASE {
        // SAFETY: `path` is what the program passes to `dlmopen`: NULL or a C string.
        unsafe { note(path, true) };
    }
    find(&DLMOPEN, "dlmopen")
}

/// Notes an object that bypasses the hooks.
///
/// # Safety
/// `path` is NULL or a C string.
unsafe fn note(path: *const c_char, namespace: bool) {
    if path.is_null() {
        return; // the program itself
    }
    // SAFETY: `path` is not NULL, so by the contract it is a C string; the program keeps it until
    // `dlopen` returns.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    with_signals_deferred(|| caught(|| note_bypass(&path, namespace)));
}
