//! The numbers of the calling thread and of its user.
#![allow(unsafe_code)] // two calls without preconditions

/// The calling thread's number, as the kernel and the trace have it.
pub(crate) fn gettid() -> u32 {
    // The C libraries of before 2.30 have no function for it.
    // SAFETY: a system call without arguments that cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// The effective user's number.
pub(crate) fn uid() -> u32 {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() }
}
