//! Detects whether the program has entered a seccomp sandbox since it began: one that may kill it
//! for a system call that its own code does not make.
//!
//! A filter that was there from the beginning belongs to the environment (a container, a service
//! manager), which expects all kinds of programs. A filter that the program installed fits only its
//! own code: from then on we open, create and remove nothing.
#![allow(unsafe_code)] // one system call without preconditions

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// The seccomp mode of the first thread; -1 before it is known.
static AT_FIRST: AtomicI32 = AtomicI32::new(-1);

/// Records the mode that the process inherited.
pub fn begin() {
    AT_FIRST.store(mode(), Relaxed);
}

/// True if the calling thread has entered a sandbox since [`begin`].
pub fn is_new() -> bool {
    AT_FIRST.load(Relaxed) == 0 && mode() != 0
}

/// The thread's seccomp mode: 0 without a filter. (A filter that forbids the query shows itself by
/// that.)
fn mode() -> i32 {
    // Not `prctl`, which the shim interposes. SAFETY: PR_GET_SECCOMP takes no argument.
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_SECCOMP) as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_the_thread_installs_is_detected() {
        begin();
        assert!(!is_new());
        let sandboxed = std::thread::spawn(|| {
            let allow = libc::sock_filter { code: 6, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
            let mut rules = [allow];
            let filter = libc::sock_fprog { len: 1, filter: rules.as_mut_ptr() };
            // SAFETY: PR_SET_NO_NEW_PRIVS takes numbers; it affects this thread alone, which starts
            // no program, and ends.
            unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            // SAFETY: `filter` points to a filter of one rule, which allows everything, for this
            // thread alone.
            let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter) };
            (set, is_new())
        });
        let (set, is_new_there) = sandboxed.join().unwrap();
        // A machine that filters already shows no difference.
        assert!(set != 0 || mode() != 0 || is_new_there);
        assert!(!is_new(), "the others' threads are their own");
    }
}
