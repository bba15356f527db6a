//! Guards for the shim's slow work on a program's thread: signals are deferred, cancellation is
//! disabled, the time-stamp counter may be read, and `errno` is restored.
//!
//! Without them, a signal handler that calls a hooked function could wait for a lock that its own
//! thread holds, and a cancelled thread would end in one of the shim's system calls.
#![allow(unsafe_code)] // signal masks, the cancellation state and errno are the C library's

use parking_lot::{Mutex, MutexGuard};
use rocshim_ring::{clock, sandbox};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

const PTHREAD_CANCEL_DISABLE: c_int = 1;
/// Size of the kernel's signal sets in bytes.
pub(crate) const KERNEL_SET: usize = 8;
/// Signals raised by an instruction. They are not deferred: while blocked they kill the process,
/// and a program may handle faults of memory that the shim reads.
const SYNCHRONOUS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// While it lives, the calling thread receives no deferrable signal and is not cancelled. Dropped
/// on the thread that created it.
pub(crate) struct SignalGuard {
    /// The program's signal mask; `None` in a sandbox, where the shim makes no system call.
    mask: Option<libc::sigset_t>,
    /// The program's cancellation state.
    cancel: c_int,
    errno: c_int,
    /// The program has forbidden the thread the time-stamp counter.
    forbids_tsc: bool,
    /// Makes the guard `!Send`.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl SignalGuard {
    pub(crate) fn new() -> SignalGuard {
        let (errno, mut cancel) = (errno(), 0);
        // SAFETY: `cancel` receives the previous state.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut cancel) };
        let mask = (!sandbox::is_new()).then(|| change_mask(libc::SIG_BLOCK, &deferrable()));
        SignalGuard {
            mask,
            cancel,
            errno,
            forbids_tsc: clock::allow_tsc(),
            _not_send: std::marker::PhantomData,
        }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        if self.forbids_tsc {
            clock::forbid_again();
        }
        if let Some(mask) = self.mask.filter(|_| !sandbox::is_new()) {
            change_mask(libc::SIG_SETMASK, &mask);
        }
        let mut ours = 0;
        // SAFETY: `self.cancel` is a state that the C library returned; `ours` receives the
        // present.
        unsafe { pthread_setcancelstate(self.cancel, &mut ours) };
        set_errno(self.errno);
    }
}

/// A locked mutex, with a [`SignalGuard`] that outlives the lock.
pub(crate) struct GuardedLock<'a, T> {
    // Dropped in this order: signals are deferred until the mutex is free.
    guard: MutexGuard<'a, T>,
    _signals: SignalGuard,
}

/// Locks `mutex` with signals deferred until it is released.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> GuardedLock<'_, T> {
    let signals = SignalGuard::new();
    GuardedLock { guard: mutex.lock(), _signals: signals }
}

impl<T> Deref for GuardedLock<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for GuardedLock<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Runs `work` under a [`SignalGuard`].
pub(crate) fn with_signals_deferred<T>(work: impl FnOnce() -> T) -> T {
    let _signals = SignalGuard::new();
    work()
}

/// Runs `work` and restores `errno`.
pub(crate) fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    let before = errno();
    let result = work();
    set_errno(before);
    result
}

/// Runs `work`, which writes to a file or pipe, and discards the SIGPIPE or SIGXFSZ that it raises,
/// so that the signal does not reach the program.
pub(crate) fn without_write_signals<T>(work: impl FnOnce() -> T) -> T {
    let _signals = SignalGuard::new();
    let before = pending();
    let result = work();
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        if !contains(&before, signal) && contains(&pending(), signal) {
            consume(signal);
        }
    }
    result
}

/// Runs `work` with every signal blocked. A thread that it starts inherits the mask, so the
/// program's signals are delivered to the program's threads only.
pub(crate) fn with_signals_blocked<T>(work: impl FnOnce() -> T) -> T {
    let mut all = empty_set();
    // SAFETY: `all` is an initialised signal set.
    unsafe { libc::sigfillset(&mut all) };
    let before = change_mask(libc::SIG_BLOCK, &all);
    let result = work();
    change_mask(libc::SIG_SETMASK, &before);
    result
}

/// Returns the set of signals that can be deferred.
fn deferrable() -> libc::sigset_t {
    let mut set = empty_set();
    // SAFETY: `set` is an initialised signal set.
    unsafe { libc::sigfillset(&mut set) };
    for signal in SYNCHRONOUS {
        // SAFETY: `set` is an initialised signal set.
        unsafe { libc::sigdelset(&mut set, signal) };
    }
    set
}

fn empty_set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `set` has the size of a signal set, which the call initialises.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: `sigemptyset` initialised it.
    unsafe { set.assume_init() }
}

/// Changes the thread's signal mask and returns the previous one. By the system call, because the C
/// library's function never blocks its internal signals, one of which `idle` uses.
fn change_mask(how: c_int, mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = empty_set();
    let previous: *mut libc::sigset_t = &mut before;
    let mask: *const libc::sigset_t = mask;
    // SAFETY: both sets are initialised and at least `KERNEL_SET` bytes long.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, mask, previous, KERNEL_SET) };
    before
}

fn pending() -> libc::sigset_t {
    let mut set = empty_set();
    // SAFETY: `set` is a signal set, which the call overwrites.
    unsafe { libc::sigpending(&mut set) };
    set
}

fn contains(set: &libc::sigset_t, signal: c_int) -> bool {
    // SAFETY: `set` is an initialised signal set.
    unsafe { libc::sigismember(set, signal) == 1 }
}

fn consume(signal: c_int) {
    let mut set = empty_set();
    // SAFETY: `set` is an initialised signal set.
    unsafe { libc::sigaddset(&mut set, signal) };
    let no_wait = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `set` and `no_wait` are initialised; a null pointer requests no `siginfo_t`.
    unsafe { libc::sigtimedwait(&set, std::ptr::null_mut(), &no_wait) };
}

fn errno() -> c_int {
    // SAFETY: has no preconditions.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the address of this thread's `errno` is valid while the thread runs.
    unsafe { *errno }
}

fn set_errno(errno: c_int) {
    // SAFETY: has no preconditions.
    let address = unsafe { libc::__errno_location() };
    // SAFETY: the address of this thread's `errno` is valid while the thread runs, and no other
    // thread writes to it.
    unsafe { *address = errno };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_to_a_pipe_without_reader_raises_no_signal_and_keeps_errno() {
        let mut pipe = [0; 2];
        // SAFETY: `pipe` has room for two descriptors.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        // SAFETY: the reading end, created above and used by no other code.
        unsafe { libc::close(pipe[0]) };
        // SAFETY: restores SIGPIPE's default action; no other code in this process writes to a
        // pipe.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        set_errno(77);
        let byte = c"x".as_ptr().cast();
        // SAFETY: `byte` points to a constant of that length.
        let written = without_write_signals(|| unsafe { libc::write(pipe[1], byte, 1) });
        assert_eq!((written, errno()), (-1, 77));
        assert!(!contains(&pending(), libc::SIGPIPE));
    }

    #[test]
    fn a_signal_is_deferred_until_the_guard_is_dropped() {
        static CAME: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        extern "C" fn came(_: c_int) {
            CAME.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        let count = || CAME.load(std::sync::atomic::Ordering::Relaxed);
        // SAFETY: the handler is async-signal-safe: it adds to an atomic.
        unsafe { libc::signal(libc::SIGUSR1, came as extern "C" fn(c_int) as usize) };
        let during = with_signals_deferred(|| {
            // SAFETY: the handler was installed above.
            unsafe { libc::raise(libc::SIGUSR1) };
            count()
        });
        assert_eq!((during, count()), (0, 1));
    }
}
