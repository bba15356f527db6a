//! The `dlsym` interception point: a request for a hooked function by name returns a trampoline
//! bound to what was found.
//!
//! Triton, JAX and ctypes obtain HIP functions so. This library interposes `dlsym` and `dlvsym`, so
//! every request of the process comes here; the C library answers all of them, and only results for
//! hooked functions are replaced. Requests to RTLD_NEXT and RTLD_DEFAULT are forwarded by a tail
//! jump, because the C library derives the caller from the return address.
#![allow(unsafe_code)] // naked functions, and the C library's own function behind an address

use super::c_library::find;
use crate::hook::entry_points::{is_in_shim, substitute};
use crate::hooks::row_named;
use crate::lifecycle::is_enabled;
use crate::platform::objects;
use crate::table::row::InterceptionPoint;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The C library's functions; NULL before the first call.
static DLSYM: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DLVSYM: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Interposes `dlsym`.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "mov r11, qword ptr [rip + {real}]",
        "test r11, r11",
        "jz 3f",
        "2:",
        "lea rax, [rdi + 1]", // RTLD_NEXT is -1, RTLD_DEFAULT is 0
        "cmp rax, 1",
        "mov rdx, qword ptr [rsp]", // the caller's address
        "ja {ask}",
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
        real = sym DLSYM,
        ask = sym ask,
        find = sym find_dlsym,
    )
}

/// Interposes `dlvsym`.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "mov r11, qword ptr [rip + {real}]",
        "test r11, r11",
        "jz 3f",
        "2:",
        "lea rax, [rdi + 1]",
        "cmp rax, 1",
        "mov rcx, qword ptr [rsp]",
        "ja {ask}",
        "jmp r11",
        "3:",
        "push rdi",
        "push rsi",
        "push rdx",
        "call {find}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "mov r11, rax",
        "jmp 2b",
        real = sym DLVSYM,
        ask = sym ask_version,
        find = sym find_dlvsym,
    )
}

extern "C" fn find_dlsym() -> *mut c_void {
    find(&DLSYM, "dlsym")
}

extern "C" fn find_dlvsym() -> *mut c_void {
    find(&DLVSYM, "dlvsym")
}

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Dlvsym = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;

unsafe extern "C" fn ask(handle: *mut c_void, name: *const c_char, caller: *const c_void) -> *mut c_void {
    // SAFETY: `dlsym` above jumps here only after `DLSYM` was set to the C library's function,
    // which has this type.
    let real: Dlsym = unsafe { std::mem::transmute(DLSYM.load(Relaxed)) };
    // SAFETY: the program's own arguments, passed on unchanged.
    let address = unsafe { real(handle, name) };
    instead_of(address, name, caller)
}

unsafe extern "C" fn ask_version(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    caller: *const c_void,
) -> *mut c_void {
    // SAFETY: `dlvsym` above jumps here only after `DLVSYM` was set to the C library's function,
    // which has this type.
    let real: Dlvsym = unsafe { std::mem::transmute(DLVSYM.load(Relaxed)) };
    // SAFETY: the program's own arguments, passed on unchanged.
    let address = unsafe { real(handle, name, version) };
    instead_of(address, name, caller)
}

/// Returns what `caller` is given for `name`, which the C library has found at `address`.
fn instead_of(address: *mut c_void, name: *const c_char, caller: *const c_void) -> *mut c_void {
    if address.is_null() {
        return address;
    }
    // SAFETY: the C library has found a symbol of this name, so `name` is a C string, which the
    // caller keeps for this call.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(hook) = row_named(name) else { return address };
    if is_enabled(InterceptionPoint::Dlsym) && !is_runtime(caller) {
        substitute(hook, address, InterceptionPoint::Dlsym)
    } else {
        address
    }
}

/// Returns true for callers whose requests are left alone: the HIP runtime, which looks its own
/// functions up for `hipGetProcAddress`, an interception point of its own; and this library.
fn is_runtime(caller: *const c_void) -> bool {
    is_in_shim(caller) || objects::holder(caller).is_some_and(|object| object.is("libamdhip64.so"))
}
