//! Interposes `prctl` and `syscall`. Both are forwarded by a tail jump, except for two requests
//! that change what the shim may do.
//!
//! - `PR_SET_TSC` forbids the time-stamp counter, and the shim's next stamp would kill the program:
//!   afterwards stamps are read from another clock.
//! - A seccomp filter may kill the program for a system call of the shim: afterwards the shim makes
//!   none on the filtered threads, and the collector is quiesced if the filter applies to all.
#![allow(unsafe_code)] // naked functions, and calls of the C library's own

use super::c_library::find;
use crate::lifecycle::{caught, guarded};
use crate::platform::signals::with_signals_deferred;
use crate::session::process::Process;
use rocshim_ring::{clock, sandbox};
use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

static PRCTL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static SYSCALL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Interposes `prctl`.
///
/// # Safety
/// Same as the C library's `prctl`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn prctl(option: c_int) -> c_int {
    core::arch::naked_asm!(
        "mov r11, qword ptr [rip + {real}]",
        "test r11, r11",
        "jz 3f",
        "cmp edi, {set_tsc}",
        "je 3f",
        "cmp edi, {set_seccomp}",
        "je {install}",
        "jmp r11",
        "3:",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "call {slow_path}",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        real = sym PRCTL,
        set_tsc = const libc::PR_SET_TSC,
        set_seccomp = const libc::PR_SET_SECCOMP,
        install = sym install_by_prctl,
        slow_path = sym slow_path,
    )
}

/// `syscall`, by which libseccomp and others install filters.
///
/// # Safety
/// Same as the C library's `syscall`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: c_long) -> c_long {
    core::arch::naked_asm!(
        "mov r11, qword ptr [rip + {real}]",
        "test r11, r11",
        "jz 3f",
        "2:",
        "cmp rdi, {seccomp}",
        "je {install}",
        "cmp rdi, {prctl}",
        "je {prctl_by_number}",
        "jmp r11",
        "3:",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 8",
        "call {find}",
        "mov r11, rax",
        "add rsp, 8",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp 2b",
        real = sym SYSCALL,
        seccomp = const libc::SYS_seccomp,
        prctl = const libc::SYS_prctl,
        install = sym install_by_number,
        prctl_by_number = sym prctl_by_number,
        find = sym find_syscall,
    )
}

/// Slow path of `prctl`, for the first call and for `PR_SET_TSC`: returns the function to jump to.
extern "C" fn slow_path(option: c_int, argument: c_int) -> *mut c_void {
    let real = find(&PRCTL, "prctl");
    if option == libc::PR_SET_TSC {
        forbid_tsc(argument);
    }
    // Reached when this is the program's first call of `prctl`.
    if option == libc::PR_SET_SECCOMP { install_by_prctl as *mut c_void } else { real }
}

extern "C" fn find_syscall() -> *mut c_void {
    find(&SYSCALL, "syscall")
}

fn forbid_tsc(argument: c_int) {
    if argument == libc::PR_TSC_SIGSEGV {
        with_signals_deferred(|| {
            clock::forbid_tsc();
            guarded(Process::forbid_tsc);
        });
    }
}

type Prctl = unsafe extern "C" fn(c_int, c_ulong, c_ulong, c_ulong, c_ulong) -> c_int;
type Syscall = unsafe extern "C" fn(c_long, c_ulong, c_ulong, c_ulong, c_ulong, c_ulong) -> c_long;

/// `prctl(PR_SET_SECCOMP, …)`: for the calling thread.
unsafe extern "C" fn install_by_prctl(
    option: c_int,
    mode: c_ulong,
    filter: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
) -> c_int {
    // SAFETY: `PRCTL` holds the address that `find` stored: that of the C library's `prctl`, which
    // has this C type on x86-64, where variadic and fixed integer arguments are passed alike.
    let real: Prctl = unsafe { std::mem::transmute(PRCTL.load(Relaxed)) };
    // SAFETY: the arguments are the caller's, passed on unchanged to the function it called.
    let call = || unsafe { real(option, mode, filter, third, fourth) };
    // A call without a filter only queries the kernel's support.
    let is_install = mode == c_ulong::from(libc::SECCOMP_MODE_STRICT) || filter != 0;
    if is_install { install(false, call, |result| *result == 0) } else { call() }
}

/// `syscall(SYS_seccomp, …)`.
unsafe extern "C" fn install_by_number(
    number: c_long,
    what: c_ulong,
    flags: c_ulong,
    filter: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
) -> c_long {
    // SAFETY: `SYSCALL` holds the address that `find` stored: that of the C library's `syscall`,
    // which has this C type on x86-64, where variadic and fixed integer arguments are passed alike.
    let real: Syscall = unsafe { std::mem::transmute(SYSCALL.load(Relaxed)) };
    // SAFETY: the arguments are the caller's, passed on unchanged to the function it called.
    let call = || unsafe { real(number, what, flags, filter, third, fourth) };
    let is_filter = what == c_ulong::from(libc::SECCOMP_SET_MODE_FILTER);
    let is_install = what == c_ulong::from(libc::SECCOMP_SET_MODE_STRICT) || is_filter && filter != 0;
    let all = is_filter && flags & libc::SECCOMP_FILTER_FLAG_TSYNC != 0;
    // A thread that could not be brought in is named by its number; a listener is a descriptor.
    let listens = flags & libc::SECCOMP_FILTER_FLAG_NEW_LISTENER != 0;
    let is_done = |result: &c_long| *result == 0 || listens && *result > 0;
    if is_install { install(all, call, is_done) } else { call() }
}

/// `syscall(SYS_prctl, …)`.
unsafe extern "C" fn prctl_by_number(
    number: c_long,
    option: c_ulong,
    argument: c_ulong,
    second: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
) -> c_long {
    // SAFETY: `SYSCALL` holds the address that `find` stored: that of the C library's `syscall`,
    // which has this C type on x86-64, where variadic and fixed integer arguments are passed alike.
    let real: Syscall = unsafe { std::mem::transmute(SYSCALL.load(Relaxed)) };
    // SAFETY: the arguments are the caller's, passed on unchanged to the function it called.
    let call = || unsafe { real(number, option, argument, second, third, fourth) };
    match option as c_int {
        libc::PR_SET_TSC => forbid_tsc(argument as c_int),
        libc::PR_SET_SECCOMP if argument == c_ulong::from(libc::SECCOMP_MODE_STRICT) || second != 0 => {
            return install(false, call, |result| *result == 0);
        }
        _ => {}
    }
    call()
}

/// Installs a filter by `call`, for `all` threads or the calling one.
fn install<R>(all: bool, call: impl FnOnce() -> R, is_done: impl Fn(&R) -> bool) -> R {
    with_signals_deferred(|| caught(|| guarded(Process::fill_pool)));
    if all {
        with_signals_deferred(|| caught(|| guarded(Process::quiesce_collector)));
    }
    let mut result = None;
    let is_installed = sandbox::install(all, || is_done(result.insert(call())));
    if all && !is_installed {
        with_signals_deferred(|| caught(|| guarded(|process| process.quiesce.resume())));
    }
    result.expect("it was called")
}
