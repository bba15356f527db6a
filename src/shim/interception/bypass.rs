//! What passes the interception points by: objects opened with RTLD_DEEPBIND, whose own libraries come before ours, and those opened into
//! a namespace of their own with dlmopen. They are told of, so that nobody takes their silence for absence.
//!
//! `dlopen` and `dlmopen` are handed on by a jump: the C library reads from the return address who asks.
#![allow(unsafe_code)] // naked functions, and a C string of the program

use super::c_library::find;
use crate::hook::entry_points::pass_by;
use crate::lifecycle::caught;
use crate::platform::signals::quietly;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::atomic::AtomicPtr;

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DLMOPEN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// `dlopen`.
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

/// `dlmopen`.
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
    // SAFETY: the program passes it to dlopen, which takes NULL or a C string.
    unsafe { note(path, false) };
}

/// Gives the C library's `dlmopen`.
unsafe extern "C" fn note_namespace(namespace: c_long, path: *const c_char) -> *mut c_void {
    if namespace != libc::LM_ID_BASE {
        // SAFETY: the program passes it to dlmopen, which takes NULL or a C string.
        unsafe { note(path, true) };
    }
    find(&DLMOPEN, "dlmopen")
}

/// # Safety
/// `path` is NULL or a C string.
unsafe fn note(path: *const c_char, namespace: bool) {
    if path.is_null() {
        return; // the program itself
    }
    // SAFETY: by the contract.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    quietly(|| caught(|| pass_by(&path, namespace)));
}
