//! Whether the program has locked the calling thread into a sandbox (seccomp) of its own: one that
//! may end the process for a system call that none of the program's code makes.
//!
//! A filter that was there when the program began is its surroundings' (a container, a service
//! manager), which expect programs of all kinds. One that the program installs is made to its own
//! measure: from then on nothing is opened, made or removed by its threads, and nothing is asked.
//! That is known because the program passes the shim's `prctl` or `syscall` when it installs one.
//! (A program that executes the instruction itself is not noticed.)

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Which threads filters of the program's hold.
struct Filters {
    /// A thread has installed one, which those that it starts inherit.
    some: AtomicBool,
    /// One was installed for all threads.
    all: AtomicBool,
}

static FILTERS: Filters = Filters::none();

thread_local! {
    /// The thread was known to the shim before any filter was installed, and has installed none.
    static IS_FREE: Cell<bool> = const { Cell::new(false) };
}

/// Notes that the calling thread is in no sandbox of the program's, if none was installed yet.
pub fn begin_thread() {
    FILTERS.begin_thread();
}

/// True when the calling thread is in a sandbox of the program's, or may have inherited one.
pub fn is_new() -> bool {
    FILTERS.hold_this_thread()
}

/// Installs a filter by `work`, for `all` threads or the calling one. True when it is installed.
pub fn install(all: bool, work: impl FnOnce() -> bool) -> bool {
    FILTERS.install(all, work)
}

/// In the child of a fork, whose only thread is the calling one.
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
        // Relaxed: a thread that a filter holds has installed it itself, was started by one that
        // had, or was waited for.
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
