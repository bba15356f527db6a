//! Interposes `prctl` to notice a program that forbids itself to read the time-stamp counter
//! (`PR_SET_TSC`). Our next stamp would kill it, so stamps then come from another clock. Every call
//! is forwarded by a tail jump; other options are not looked at.
#![allow(unsafe_code)] // a naked function

use super::c_library::find;
use crate::lifecycle::guarded;
use crate::platform::signals::quietly;
use crate::session::process::Process;
use rocshim_ring::clock;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicPtr;

static PRCTL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Interposes `prctl`.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn prctl(option: c_int) -> c_int {
    core::arch::naked_asm!(
        "mov r11, qword ptr [rip + {real}]",
        "test r11, r11",
        "jz 3f",
        "cmp edi, {set_tsc}",
        "je 3f",
        "jmp r11",
        "3:",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "call {ask}",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        real = sym PRCTL,
        set_tsc = const libc::PR_SET_TSC,
        ask = sym ask,
    )
}

/// Switches the clock if this call forbids the counter; returns the C library's `prctl`.
extern "C" fn ask(option: c_int, argument: c_int) -> *mut c_void {
    if option == libc::PR_SET_TSC && argument == libc::PR_TSC_SIGSEGV {
        quietly(|| {
            clock::forbid_tsc();
            guarded(Process::forbid_tsc);
        });
    }
    find(&PRCTL, "prctl")
}
