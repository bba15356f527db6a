//! Work of ours that nothing disturbs and of which the program notices nothing: signals wait until it is done, its thread
//! cannot be cancelled in it and may read every clock, `errno` comes back as it was.
//!
//! Without it a signal handler that calls a hooked function might wait for a lock that the thread beneath it holds, and a
//! thread that is to be cancelled would end in one of our own system calls.
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
/// Bytes of the kernel's signal sets.
pub(crate) const KERNEL_SET: usize = 8;
/// Signals that an instruction raises. They do not wait: blocked, they end the process, and a program may have a handler
/// for what its memory does when it is read.
const OF_INSTRUCTIONS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// As long as it lives, the calling thread is left alone. It ends in the thread in which it began.
pub(crate) struct Quiet {
    /// The program's; `None` in a sandbox of the program's, where no system call is made.
    mask: Option<libc::sigset_t>,
    cancel: c_int,
    errno: c_int,
    /// The thread has forbidden itself the time-stamp counter.
    forbids_tsc: bool,
    /// It is the thread's, and no other's.
    _own: std::marker::PhantomData<*const ()>,
}

impl Quiet {
    pub(crate) fn begin() -> Quiet {
        let (errno, mut cancel) = (errno(), 0);
        // SAFETY: `cancel` is a place for the old state.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut cancel) };
        let mask = (!sandbox::is_new()).then(|| change_mask(libc::SIG_BLOCK, &waiting()));
        Quiet { mask, cancel, errno, forbids_tsc: clock::allow_tsc(), _own: std::marker::PhantomData }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if self.forbids_tsc {
            clock::forbid_again();
        }
        if let Some(mask) = self.mask.filter(|_| !sandbox::is_new()) {
            change_mask(libc::SIG_SETMASK, &mask);
        }
        let mut ours = 0;
        // SAFETY: `ours` is a place for the old state.
        unsafe { pthread_setcancelstate(self.cancel, &mut ours) };
        set_errno(self.errno);
    }
}

/// What a lock guards, held undisturbed.
pub(crate) struct Held<'a, T> {
    // In this order: the thread is left alone until the lock is free.
    guard: MutexGuard<'a, T>,
    _quiet: Quiet,
}

/// Takes a lock, undisturbed from before to after.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Held<'_, T> {
    let quiet = Quiet::begin();
    Held { guard: mutex.lock(), _quiet: quiet }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Does `work`, undisturbed.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let _quiet = Quiet::begin();
    work()
}

/// Does `work`, after which `errno` is as it was.
pub(crate) fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    let before = errno();
    let result = work();
    set_errno(before);
    result
}

/// Does `work`, which writes somewhere: into a pipe that nobody reads, or beyond the size that files may have. The signal
/// that this raises is ours, and does not reach the program.
pub(crate) fn without_signals_of_writing<T>(work: impl FnOnce() -> T) -> T {
    let _quiet = Quiet::begin();
    let before = pending();
    let result = work();
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        if !holds(&before, signal) && holds(&pending(), signal) {
            take(signal);
        }
    }
    result
}

/// Starts what `work` starts with every signal blocked: the program's signals are the program's threads' business.
pub(crate) fn without_signals<T>(work: impl FnOnce() -> T) -> T {
    let mut all = empty();
    // SAFETY: a signal set.
    unsafe { libc::sigfillset(&mut all) };
    let before = change_mask(libc::SIG_BLOCK, &all);
    let result = work();
    change_mask(libc::SIG_SETMASK, &before);
    result
}

/// Every signal that can wait.
fn waiting() -> libc::sigset_t {
    let mut set = empty();
    // SAFETY: a signal set.
    unsafe { libc::sigfillset(&mut set) };
    for signal in OF_INSTRUCTIONS {
        // SAFETY: a signal set and a signal.
        unsafe { libc::sigdelset(&mut set, signal) };
    }
    set
}

fn empty() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: a place for a signal set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: it was filled just now.
    unsafe { set.assume_init() }
}

/// Changes the thread's mask; gives the one before. By the system call: the C library's function lets signals of its own
/// through, of which `doze` uses one.
fn change_mask(how: c_int, mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = empty();
    let place: *mut libc::sigset_t = &mut before;
    // SAFETY: two signal sets, and how many bytes of them the kernel knows.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, mask as *const libc::sigset_t, place, KERNEL_SET) };
    before
}

fn pending() -> libc::sigset_t {
    let mut set = empty();
    // SAFETY: a place for a signal set.
    unsafe { libc::sigpending(&mut set) };
    set
}

fn holds(set: &libc::sigset_t, signal: c_int) -> bool {
    // SAFETY: a signal set and a signal.
    unsafe { libc::sigismember(set, signal) == 1 }
}

fn take(signal: c_int) {
    let mut set = empty();
    // SAFETY: a signal set and a signal.
    unsafe { libc::sigaddset(&mut set, signal) };
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a signal set, nothing wanted of what is told, and a time.
    unsafe { libc::sigtimedwait(&set, std::ptr::null_mut(), &at_once) };
}

fn errno() -> c_int {
    // SAFETY: cannot fail.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: glibc's address of this thread's errno is valid as long as the thread.
    unsafe { *place }
}

fn set_errno(errno: c_int) {
    // SAFETY: cannot fail.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { *place = errno };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_nobody_reads_raises_no_signal_and_errno_stays() {
        let mut pipe = [0; 2];
        // SAFETY: a place for two descriptors.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        // SAFETY: the reading end, made just now.
        unsafe { libc::close(pipe[0]) };
        // SAFETY: SIGPIPE would now end the process; nothing else in this process writes into a pipe.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        set_errno(77);
        // SAFETY: one byte of a constant.
        let written = without_signals_of_writing(|| unsafe { libc::write(pipe[1], c"x".as_ptr().cast(), 1) });
        assert_eq!((written, errno()), (-1, 77));
        assert!(!holds(&pending(), libc::SIGPIPE));
    }

    #[test]
    fn a_signal_waits_until_the_work_is_done() {
        static CAME: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        extern "C" fn came(_: c_int) {
            CAME.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        let count = || CAME.load(std::sync::atomic::Ordering::Relaxed);
        // SAFETY: a handler that adds to a number.
        unsafe { libc::signal(libc::SIGUSR1, came as extern "C" fn(c_int) as usize) };
        let during = quietly(|| {
            // SAFETY: the signal has a handler.
            unsafe { libc::raise(libc::SIGUSR1) };
            count()
        });
        assert_eq!((during, count()), (0, 1));
    }
}
