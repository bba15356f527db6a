//! Quiesces the collector while the program installs a seccomp filter for all its threads, and
//! after it: the filter may kill the process for any system call of the collector.
//!
//! ```text
//!   WORKING ──program──► REQUESTED ──collector──► QUIESCED ──no filter was installed──► WORKING
//! ```
#![allow(unsafe_code)] // a futex, by its system call

use crate::platform::ids::gettid;
use crate::platform::sched::sleep_briefly;
use rocshim_drain::Stat;
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The collector writes the trace.
const WORKING: u32 = 0;
/// A thread is about to install a filter.
const REQUESTED: u32 = 1;
/// The collector sleeps.
const QUIESCED: u32 = 2;

/// Limit of the sleeps of the requesting thread: 1 s.
const MAX_SLEEPS: u32 = 20_000;

/// Whether a process's collector is quiesced.
#[derive(Default)]
pub(crate) struct Quiesce {
    state: AtomicU32,
    /// Thread id of the collector; 0: not started.
    tid: AtomicU32,
}

impl Quiesce {
    /// Registers the calling thread as the collector.
    pub(crate) fn set_collector(&self) {
        self.tid.store(gettid(), Relaxed);
    }

    /// Asks the collector to quiesce, and returns when it sleeps, or after a second. `wake` ends
    /// its idle wait.
    pub(crate) fn request(&self, wake: impl FnOnce()) {
        if self.tid.load(Relaxed) == 0 {
            return;
        }
        self.state.store(REQUESTED, Release);
        wake();
        // Acquire: the collector's last write is complete.
        let is_quiesced = || self.state.load(Acquire) == QUIESCED && self.sleeps();
        (0..MAX_SLEEPS).take_while(|_| !is_quiesced()).for_each(|_| sleep_briefly());
    }

    /// Returns true when the collector's thread sleeps in a system call.
    fn sleeps(&self) -> bool {
        let tid = self.tid.load(Relaxed);
        Stat::of(format_args!("self/task/{tid}")).is_none_or(|stat| stat.sleeps)
    }

    /// Resumes the collector, because no filter was installed.
    pub(crate) fn resume(&self) {
        self.state.store(WORKING, Release);
        self.futex(libc::FUTEX_WAKE, i32::MAX as u32);
    }

    /// Called by the collector: sleeps until resumed if that was requested.
    pub(crate) fn quiesce_if_requested(&self) {
        if self.state.compare_exchange(REQUESTED, QUIESCED, Release, Relaxed).is_err() {
            return;
        }
        while self.state.load(Acquire) == QUIESCED {
            self.futex(libc::FUTEX_WAIT, QUIESCED);
        }
    }

    fn futex(&self, operation: i32, value: u32) {
        let operation = operation | libc::FUTEX_PRIVATE_FLAG;
        let (word, no_timeout) = (self.state.as_ptr(), null::<libc::timespec>());
        // SAFETY: `word` is valid for the duration of the call, and a null timeout means none.
        unsafe { libc::syscall(libc::SYS_futex, word, operation, value, no_timeout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_quiesces_on_request_until_it_is_resumed() {
        let quiesce = Quiesce::default();
        quiesce.request(|| panic!("there is no collector to wake"));
        let is_over = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                quiesce.set_collector();
                while is_over.load(Relaxed) == 0 {
                    quiesce.quiesce_if_requested();
                    sleep_briefly();
                }
            });
            while quiesce.tid.load(Relaxed) == 0 {
                sleep_briefly();
            }
            quiesce.request(|| {});
            assert_eq!(quiesce.state.load(Relaxed), QUIESCED);
            is_over.store(1, Relaxed);
            quiesce.resume();
        });
    }
}
