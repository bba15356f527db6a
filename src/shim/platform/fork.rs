//! No fork falls into the middle of what its child could not finish: the loader's list, which is locked while we look at it
//! and which the C library does not unlock in a child, and locks of ours that the child goes on to use.
//!
//! ```text
//!   a thread of ours holds forks off ─► looks ─► lets them go     a fork: nobody begins anew ─► waits until all let go ─► forks
//! ```
#![allow(unsafe_code)] // fork handlers, and a system call that is no cancellation point

use crate::platform::signals::{self, Held, keeping_errno};
use parking_lot::Mutex;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Threads that hold forks off.
static HOLDERS: AtomicU32 = AtomicU32::new(0);
/// Threads that are about to fork, or do.
static FORKING: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// How often the thread holds them off.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Naps before a fork goes ahead nevertheless: a tenth of a second, in which everyone has let go.
const PATIENCE: u32 = 2000;

/// As long as it lives, no other thread forks.
pub(crate) struct HoldOff(());

/// Waits until no thread is forking, and keeps them from it.
pub(crate) fn hold_off() -> HoldOff {
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    if depth == 0 {
        // SeqCst, here and below: of a holder and a fork, one sees the other.
        HOLDERS.fetch_add(1, SeqCst);
        while FORKING.load(SeqCst) != 0 {
            HOLDERS.fetch_sub(1, SeqCst);
            nap();
            HOLDERS.fetch_add(1, SeqCst);
        }
    }
    HoldOff(())
}

impl Drop for HoldOff {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            HOLDERS.fetch_sub(1, SeqCst);
        }
    }
}

/// A lock that children go on to use: no fork comes while it is held, so that they find it free and what it guards whole.
pub(crate) struct Locked<T: 'static> {
    // In this order: forks wait until the lock is free.
    guard: Held<'static, T>,
    _held: HoldOff,
}

/// Takes such a lock.
pub(crate) fn lock<T>(mutex: &'static Mutex<T>) -> Locked<T> {
    let held = hold_off();
    Locked { guard: signals::lock(mutex), _held: held }
}

impl<T> Deref for Locked<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Locked<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// From now on forks heed this, and call `in_child` in the child.
pub(crate) fn heed(in_child: unsafe extern "C" fn()) {
    // SAFETY: functions of this library, which is never unloaded (it was preloaded). Of handlers that run before a fork the
    // last one registered comes first, of the others the first: between ours lies the fork alone.
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
    // SAFETY: as above.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

unsafe extern "C" fn before() {
    FORKING.fetch_add(1, SeqCst);
    // A thread that forks in a signal handler may hold it off itself.
    (0..PATIENCE).take_while(|_| HOLDERS.load(SeqCst) != 0).for_each(|_| nap());
}

unsafe extern "C" fn after() {
    FORKING.fetch_sub(1, SeqCst);
}

/// In a child that no fork handler has seen. False where another thread of its parent held forks
/// off, and maybe a lock.
pub(crate) fn begin_child() -> bool {
    let own = (DEPTH.get() != 0).into();
    FORKING.store(0, SeqCst);
    HOLDERS.swap(own, SeqCst) == own
}

/// The child has one thread.
unsafe extern "C" fn after_in_child() {
    FORKING.store(0, SeqCst);
    HOLDERS.store((DEPTH.get() != 0).into(), SeqCst);
}

/// A moment in which any other thread may go on, whatever its priority.
pub(crate) fn nap() {
    let moment = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
    let nothing: *mut libc::timespec = std::ptr::null_mut();
    // Not `nanosleep`: the thread may be one that is to be cancelled.
    // SAFETY: a time, and no place for what is left of it.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_nanosleep, &moment, nothing) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_hold_forks_off_more_than_once() {
        let before = DEPTH.get();
        let (one, two) = (hold_off(), hold_off());
        assert_eq!(DEPTH.get(), before + 2);
        drop((one, two));
        assert_eq!(DEPTH.get(), before);
    }

    #[test]
    fn a_fork_waits_until_everyone_has_let_go() {
        let held = hold_off();
        let forks = std::thread::spawn(|| {
            // SAFETY: as the C library calls them around a fork.
            unsafe { before() };
            let holders = HOLDERS.load(SeqCst);
            // SAFETY: as above.
            unsafe { after() };
            holders
        });
        while FORKING.load(SeqCst) == 0 {
            nap();
        }
        drop(held);
        assert_eq!(forks.join().unwrap(), 0);
    }
}
