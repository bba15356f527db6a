//! Ids of the calling thread and user.
#![allow(unsafe_code)] // two system calls without preconditions

/// Returns the calling thread's id, as the kernel and the trace have it.
pub(crate) fn gettid() -> u32 {
    // C libraries before glibc 2.30 have no function for it.
    // SAFETY: `gettid` takes no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Returns the effective user id.
pub(crate) fn uid() -> u32 {
    // SAFETY: `geteuid` takes no arguments and cannot fail.
    unsafe { libc::geteuid() }
}
