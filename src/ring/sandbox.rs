//! Detects that the calling thread is in a sandbox: under a seccomp filter that the program itself
//! has installed, and that may kill the process for a system call of the shim.
//!
//! A filter that was present when the program started belongs to its environment (a container, a
//! service manager) and allows for any program. One that the program installs allows what the
//! program needs: from then on the shim makes no system call on the filtered threads. Filters are
//! noticed because the shim interposes `prctl` and `syscall`. (A program that executes the system
//! call instruction itself is not noticed.)

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Which threads are under filters that the program has installed.
struct Filters {
    /// A thread has installed one for itself; the threads that it starts inherit it.
    some: AtomicBool,
    /// One was installed for all threads.
    all: AtomicBool,
}

static FILTERS: Filters = Filters::none();

thread_local! {
    /// The thread was known to the shim before any filter was installed, and has installed none.
    static IS_FREE: Cell<bool> = const { Cell::new(false) };
}

/// Notes that the calling thread is in no sandbox, if the program has installed no filter yet.
pub fn begin_thread() {
    FILTERS.begin_thread();
}

/// True when the calling thread is in a sandbox, or may have inherited one.
pub fn is_new() -> bool {
    FILTERS.hold_this_thread()
}

/// Runs `work`, which installs a filter for `all` threads or for the calling one, and returns
/// whether that succeeded.
pub fn install(all: bool, work: impl FnOnce() -> bool) -> bool {
    FILTERS.install(all, work)
}

/// Resets the state in a forked child, whose only thread is the calling one.
pub fn begin_child() {
    if !is_new() {
        FILTERS.some.store(false, Relaxed);
    }
}

impl Filters {
    const fn none() -> Filters {
        Filters { some: AtomicBool::new(false), all: AtomicBool::new(false) }
    }

    fn begin_thread(&self) {
        IS_FREE.with(|free| free.set(!self.some.load(Relaxed)));
    }

    fn hold_this_thread(&self) -> bool {
        // Relaxed: a filtered thread has installed the filter itself, was started by one that had,
        // or was waited for.
        self.all.load(Relaxed) || self.some.load(Relaxed) && !IS_FREE.try_with(Cell::get).unwrap_or(false)
    }

    fn install(&self, all: bool, work: impl FnOnce() -> bool) -> bool {
        let some = self.some.swap(true, Relaxed);
        let others = all && !self.all.swap(true, Relaxed);
        let free = IS_FREE.with(|free| free.replace(false));
        let is_done = work();
        if !is_done {
            self.some.store(some, Relaxed);
            IS_FREE.with(|thread| thread.set(free));
            if others {
                self.all.store(false, Relaxed);
            }
        }
        is_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_holds_its_thread_and_those_that_begin_later() {
        let filters = &Filters::none();
        let begin = || (filters.begin_thread(), filters.hold_this_thread()).1;
        assert!(!begin());
        let sandboxed = || {
            assert!(!begin());
            assert!(!filters.install(false, || false), "what fails changes nothing");
            assert!(!filters.hold_this_thread());
            assert!(filters.install(false, || true));
            let later = std::thread::scope(|scope| scope.spawn(begin).join().unwrap());
            (filters.hold_this_thread(), later)
        };
        let sandboxed = std::thread::scope(|scope| scope.spawn(sandboxed).join().unwrap());
        assert_eq!(sandboxed, (true, true));
        assert!(!filters.hold_this_thread(), "a thread that was there before is free");
        assert!(!filters.install(true, || false));
        assert!(!filters.hold_this_thread());
    }
}
