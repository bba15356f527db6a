//! Fork safety: delays `fork` while we hold locks that the child would inherit.
//!
//! Three kinds: the loader's list lock, which the C library does not release in a child, our own
//! locks that the child continues to use, and the lock of our arena.
//!
//! ```text
//!   our thread: take a ForkGuard ─► work ─► drop it
//!   fork:       block new guards ─► wait until no guard is left ─► fork ─► allow guards again
//! ```
#![allow(unsafe_code)] // fork handlers

use crate::platform::memory;
use crate::platform::sched::sleep_briefly;
use crate::platform::signals::{self, GuardedLock};
use parking_lot::Mutex;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Number of threads that hold a [`ForkGuard`].
static HOLDERS: AtomicU32 = AtomicU32::new(0);
/// Number of threads that are between the fork handlers `before` and `after`.
static FORKING: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Number of guards that the thread holds.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Limit of the sleeps that a fork waits for guards: 0.1 s, in which all should be dropped.
const MAX_SLEEPS: u32 = 2000;

/// While it lives, no other thread forks. A thread may hold several.
pub(crate) struct ForkGuard(());

/// Waits until no thread is forking, and delays forks while the guard lives.
pub(crate) fn block_forks() -> ForkGuard {
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    if depth == 0 {
        // SeqCst, here and below: of a holder and a forking thread, at least one sees the other.
        HOLDERS.fetch_add(1, SeqCst);
        while FORKING.load(SeqCst) != 0 {
            HOLDERS.fetch_sub(1, SeqCst);
            sleep_briefly();
            HOLDERS.fetch_add(1, SeqCst);
        }
    }
    ForkGuard(())
}

impl Drop for ForkGuard {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            HOLDERS.fetch_sub(1, SeqCst);
        }
    }
}

/// A locked mutex that children continue to use. Forks wait for it, so a child finds the mutex free
/// and its value consistent.
pub(crate) struct ForkGuarded<T: 'static> {
    // Dropped in this order: forks wait until the mutex is free.
    guard: GuardedLock<'static, T>,
    _forks: ForkGuard,
}

/// Locks a mutex that children continue to use.
pub(crate) fn lock<T>(mutex: &'static Mutex<T>) -> ForkGuarded<T> {
    let forks = block_forks();
    ForkGuarded { guard: signals::lock(mutex), _forks: forks }
}

impl<T> Deref for ForkGuarded<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for ForkGuarded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Registers the fork handlers: forks wait for guards, and call `in_child` in the child.
pub(crate) fn register_atfork(in_child: unsafe extern "C" fn()) {
    // Handlers before a fork run in reverse order of registration, the others in order. So only
    // the fork itself lies between `before` and the handlers after it.
    // SAFETY: the three handlers are functions of this library, which was preloaded and is never
    // unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
    // SAFETY: `in_child` is a function of this library, which is never unloaded.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

unsafe extern "C" fn before() {
    FORKING.fetch_add(1, SeqCst);
    // Bounded: a thread that forks in a signal handler may itself hold a guard.
    (0..MAX_SLEEPS).take_while(|_| HOLDERS.load(SeqCst) != 0).for_each(|_| sleep_briefly());
    // Last: a thread that holds a guard may need memory to drop it.
    memory::begin_fork();
}

unsafe extern "C" fn after() {
    memory::end_fork();
    FORKING.fetch_sub(1, SeqCst);
}

/// Resets the counts in a child for which no fork handler ran. Returns false when another thread of
/// the parent held a guard, and possibly a lock that is never released here, or our memory's lock.
pub(crate) fn begin_child() -> bool {
    let own = (DEPTH.get() != 0).into();
    FORKING.store(0, SeqCst);
    HOLDERS.swap(own, SeqCst) == own && memory::begin_child()
}

/// Resets the counts in the child, which has one thread.
unsafe extern "C" fn after_in_child() {
    memory::end_fork();
    FORKING.store(0, SeqCst);
    HOLDERS.store((DEPTH.get() != 0).into(), SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_hold_several_fork_guards() {
        let before = DEPTH.get();
        let (one, two) = (block_forks(), block_forks());
        assert_eq!(DEPTH.get(), before + 2);
        drop((one, two));
        assert_eq!(DEPTH.get(), before);
    }

    #[test]
    fn a_fork_waits_until_every_guard_is_dropped() {
        let guard = block_forks();
        let forking = std::thread::spawn(|| {
            // SAFETY: a fork handler may be called at any time; it only counts and sleeps.
            unsafe { before() };
            let holders = HOLDERS.load(SeqCst);
            // SAFETY: `before` was called above, so the count does not go below 0.
            unsafe { after() };
            holders
        });
        while FORKING.load(SeqCst) == 0 {
            sleep_briefly();
        }
        drop(guard);
        assert_eq!(forking.join().unwrap(), 0);
    }
}
