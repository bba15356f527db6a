//! Whether the program has locked itself into a sandbox (seccomp) since it began: one that may end it for a system call
//! that none of its own code makes.
//!
//! A filter that was there from the beginning is the surroundings' (a container, a service manager), which expect programs
//! of all kinds. One that the program has put up itself is made to its own measure: from then on nothing is opened, made
//! or removed on its behalf.
#![allow(unsafe_code)] // one system call without preconditions

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// The mode of the thread that began; -1 before it was asked.
static AT_FIRST: AtomicI32 = AtomicI32::new(-1);

/// What surrounds the process now is not of its own making.
pub fn begin() {
    AT_FIRST.store(mode(), Relaxed);
}

/// True when the calling thread has come into a sandbox since [`begin`].
pub fn is_new() -> bool {
    AT_FIRST.load(Relaxed) == 0 && mode() != 0
}

/// The thread's mode: 0 without a filter. (One that forbids the question has answered it.)
fn mode() -> i32 {
    // Not `prctl`, which the shim exports.
    // SAFETY: PR_GET_SECCOMP takes no argument.
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_SECCOMP) as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_the_thread_puts_up_is_noticed() {
        begin();
        assert!(!is_new());
        let sandboxed = std::thread::spawn(|| {
            let allow = libc::sock_filter { code: 6, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
            let mut rules = [allow];
            let filter = libc::sock_fprog { len: 1, filter: rules.as_mut_ptr() };
            // SAFETY: PR_SET_NO_NEW_PRIVS takes numbers; it holds for this thread, which starts no program, and ends.
            unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            // SAFETY: a filter of one rule, which allows everything, for this thread alone.
            let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter) };
            (set, is_new())
        });
        let (set, is_new_there) = sandboxed.join().unwrap();
        // A machine that filters already lets no difference be seen.
        assert!(set != 0 || mode() != 0 || is_new_there);
        assert!(!is_new(), "the others' threads are their own");
    }
}
