//! Waits of the collector. Between two passes it sleeps for a given time. When the program does
//! nothing, it sleeps until the process has used CPU time, without which it launches nothing: an
//! idle program is not woken.
//!
//! A timer on the process's CPU time sends a signal to the collector's thread only, which blocks
//! the signal and waits for it, so no handler runs. It is the signal that C libraries reserve for
//! their own timers (glibc: SIGTIMER, for threads of `SIGEV_THREAD`). That one is sent to
//! single threads only, so waiting for it takes none away from the program.
#![allow(unsafe_code)] // a timer and a signal, by system calls: not every C library has these functions

use crate::platform::ids::gettid;
use crate::platform::signals::KERNEL_SET;
use libc::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const SIGNAL: c_int = 32;
/// The signal as a set.
const SIGNALS: u64 = 1 << (SIGNAL - 1);
/// CPU time of the process after which the wait ends. The kernel checks every 1 to 10 ms.
const USED: Duration = Duration::from_millis(10);

/// Ends the wait of another thread. SeqCst orders it with the condition of the wait: either the
/// waiting thread sees the condition before it sleeps, or it is woken.
#[derive(Default)]
pub(crate) struct Waker {
    /// Id of the thread that waits idly; 0: none.
    sleeper: AtomicI32,
    /// 1 from a wake-up until a wait.
    is_woken: AtomicU32,
}

impl Waker {
    /// Ends the present wait, if there is one.
    pub(crate) fn wake(&self) {
        self.is_woken.store(1, SeqCst);
        let how = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word outlives the call, which wakes at most one thread that waits for it.
        unsafe { libc::syscall(libc::SYS_futex, self.is_woken.as_ptr(), how, 1) };
        let sleeper = self.sleeper.load(SeqCst);
        if sleeper != 0 {
            // SAFETY: `tgkill` only sends a signal, which the target thread blocks. If the thread
            // has ended, it fails without effect.
            unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), sleeper, SIGNAL) };
        }
    }

    /// Sleeps for `time`, or until woken; not at all if that was since the last wait. One system
    /// call: a channel's own wait first yields the processor several times, each for as long as the
    /// slices of other threads are.
    pub(crate) fn wait(&self, time: Duration) {
        if !time.is_zero() && self.is_woken.swap(0, SeqCst) == 0 {
            let how = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            let word = self.is_woken.as_ptr();
            // SAFETY: the word outlives the call, which reads it, and the time is initialised.
            unsafe { libc::syscall(libc::SYS_futex, word, how, 0, &timespec(time)) };
        }
    }
}

/// The timer of the thread that created it, which blocks every signal.
pub(crate) struct IdleWait {
    /// `None` when the kernel has no timer left.
    timer: Option<c_int>,
}

impl IdleWait {
    pub(crate) fn new() -> IdleWait {
        // SAFETY: a `sigevent` consists of integers and a pointer that is unused here; zero is
        // valid for all of them.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = SIGNAL;
        event.sigev_notify_thread_id = gettid() as c_int;
        let (no_set, mut timer) = (null_mut::<u64>(), 0 as c_int);
        let block = libc::SIG_BLOCK;
        // Blocked for good (see `change_mask`): unblocked, the signal would end the process.
        // SAFETY: `SIGNALS` is a set of `KERNEL_SET` bytes, and the previous set is not requested.
        let blocked =
            unsafe { libc::syscall(libc::SYS_rt_sigprocmask, block, &SIGNALS, no_set, KERNEL_SET) } == 0;
        let clock = libc::CLOCK_PROCESS_CPUTIME_ID;
        // SAFETY: `event` is initialised, and `timer` has room for the new timer's id.
        let made =
            blocked && unsafe { libc::syscall(libc::SYS_timer_create, clock, &event, &mut timer) } == 0;
        IdleWait { timer: made.then_some(timer) }
    }

    /// Sleeps until the process has used CPU time, the waker is called, or `long` has passed.
    /// `is_over` is checked after the waker is armed and skips the wait. Returns false when there
    /// is no timer.
    pub(crate) fn sleep(&mut self, long: Duration, waker: &Waker, is_over: impl FnOnce() -> bool) -> bool {
        let Some(timer) = self.timer else { return false };
        // SAFETY: the timer is this thread's own; the new time is initialised, and the old one is
        // not requested.
        let set = unsafe { libc::syscall(libc::SYS_timer_settime, timer, 0, &once_after(USED), 0) };
        if set != 0 {
            self.end();
            return false;
        }
        waker.sleeper.store(gettid() as i32, SeqCst);
        if !is_over() {
            let (nothing, long) = (null_mut::<libc::siginfo_t>(), timespec(long));
            // SAFETY: `SIGNALS` is a set of `KERNEL_SET` bytes, no `siginfo_t` is requested, and
            // `long` is initialised.
            unsafe { libc::syscall(libc::SYS_rt_sigtimedwait, &SIGNALS, nothing, &long, KERNEL_SET) };
        }
        waker.sleeper.store(0, SeqCst);
        true
    }

    fn end(&mut self) {
        if let Some(timer) = self.timer.take() {
            // SAFETY: the timer is this thread's own, and `take` keeps it from being deleted twice.
            unsafe { libc::syscall(libc::SYS_timer_delete, timer) };
        }
    }
}

impl Drop for IdleWait {
    fn drop(&mut self) {
        self.end();
    }
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ }
}

fn once_after(time: Duration) -> libc::itimerspec {
    libc::itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::signals::with_signals_blocked;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::Instant;

    /// Returns how long a thread sleeps that may sleep for `long`, while `busy` runs in this one.
    fn slept(long: Duration, waker: &Waker, busy: impl FnOnce(&AtomicBool)) -> Duration {
        let (begun, over) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let sleeper = with_signals_blocked(|| {
                scope.spawn(|| {
                    let (mut wait, since) = (IdleWait::new(), Instant::now());
                    assert!(wait.sleep(long, waker, || {
                        begun.store(true, Relaxed);
                        false
                    }));
                    over.store(true, Relaxed);
                    since.elapsed()
                })
            });
            while !begun.load(Relaxed) {
                std::thread::yield_now();
            }
            busy(&over);
            sleeper.join().unwrap()
        })
    }

    #[test]
    fn a_wake_up_before_or_during_a_wait_ends_it() {
        let (waker, long) = (Waker::default(), Duration::from_secs(600));
        waker.wake();
        waker.wait(long);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| waker.wait(long));
            std::thread::sleep(Duration::from_millis(1));
            waker.wake();
            sleeper.join().unwrap();
        });
        let (short, since) = (Duration::from_millis(3), Instant::now());
        waker.is_woken.store(0, SeqCst);
        waker.wait(short);
        assert!(since.elapsed() >= short);
    }

    #[test]
    fn the_wait_ends_on_cpu_use_on_a_wake_up_or_on_its_timeout() {
        let (waker, long) = (Waker::default(), Duration::from_secs(60));
        slept(long, &waker, |over| while !over.load(Relaxed) {});
        slept(long, &waker, |over| {
            while !over.load(Relaxed) {
                waker.wake();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let short = Duration::from_millis(3);
        assert!(slept(short, &waker, |_| {}) >= short);
        waker.wake();
        let mut none = IdleWait { timer: None };
        assert!(!none.sleep(long, &waker, || true), "no timer, no sleep");
    }
}
