//! The collector rests while the program installs a seccomp filter for all its threads, and from
//! then on: the filter may end the process for any system call of the collector's.
//!
//! ```text
//!   WORKING ──the program asks──► ASKED ──the collector──► RESTING ──no filter was installed──► WORKING
//! ```
#![allow(unsafe_code)] // a futex, by its system call

use crate::platform::fork::nap;
use crate::platform::ids::gettid;
use rocshim_drain::Stat;
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

const WORKING: u32 = 0;
const ASKED: u32 = 1;
const RESTING: u32 = 2;

/// How often the asking thread looks: a second in all.
const LOOKS: u32 = 20_000;

/// Whether the collector of a process rests.
#[derive(Default)]
pub(crate) struct Rest {
    state: AtomicU32,
    /// The collector's thread.
    tid: AtomicU32,
}

impl Rest {
    /// The calling thread is the collector.
    pub(crate) fn begin(&self) {
        self.tid.store(gettid(), Relaxed);
    }

    /// Asks the collector to rest, and returns when it sleeps, or after a second. `wake` ends its
    /// idle wait.
    pub(crate) fn ask(&self, wake: impl FnOnce()) {
        if self.tid.load(Relaxed) == 0 {
            return;
        }
        self.state.store(ASKED, Release);
        wake();
        // Acquire: its last write is done.
        let is_resting = || self.state.load(Acquire) == RESTING && self.sleeps();
        (0..LOOKS).take_while(|_| !is_resting()).for_each(|_| nap());
    }

    /// True when the collector's thread sleeps in a system call.
    fn sleeps(&self) -> bool {
        let tid = self.tid.load(Relaxed);
        Stat::of(format_args!("self/task/{tid}")).is_none_or(|stat| stat.sleeps)
    }

    /// No filter was installed: the collector works on.
    pub(crate) fn end(&self) {
        self.state.store(WORKING, Release);
        self.futex(libc::FUTEX_WAKE, i32::MAX as u32);
    }

    /// Of the collector: rests if it was asked to, for as long as that lasts.
    pub(crate) fn rest_if_asked(&self) {
        if self.state.compare_exchange(ASKED, RESTING, Release, Relaxed).is_err() {
            return;
        }
        while self.state.load(Acquire) == RESTING {
            self.futex(libc::FUTEX_WAIT, RESTING);
        }
    }

    fn futex(&self, what: i32, value: u32) {
        let what = what | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: a word that lives as long as the process, and no time limit.
        unsafe { libc::syscall(libc::SYS_futex, self.state.as_ptr(), what, value, null::<libc::timespec>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_that_was_asked_rests_until_it_may_go_on() {
        let rest = Rest::default();
        rest.ask(|| panic!("there is no collector to be woken"));
        let is_over = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                rest.begin();
                while is_over.load(Relaxed) == 0 {
                    rest.rest_if_asked();
                    nap();
                }
            });
            while rest.tid.load(Relaxed) == 0 {
                nap();
            }
            rest.ask(|| {});
            assert_eq!(rest.state.load(Relaxed), RESTING);
            is_over.store(1, Relaxed);
            rest.end();
        });
    }
}
