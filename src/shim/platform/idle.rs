//! The sleep of the collector while the program does nothing: until the program has used the processor for a while, without
//! which it launches nothing. A program that rests is left to rest.
//!
//! A timer on the process's processor time sends a signal to the collector's thread alone, which blocks it and waits for
//! it: no handler runs. It is the signal that C libraries keep for such timers of their own (glibc: SIGTIMER, for the
//! threads of `SIGEV_THREAD`), which is only ever sent to a thread: to wait for it takes none away from the program.
#![allow(unsafe_code)] // a timer and a signal, by system calls: not every C library has these functions, and none their errors

use crate::platform::ids::gettid;
use crate::platform::signals::KERNEL_SET;
use libc::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::time::Duration;

const SIGNAL: c_int = 32;
/// As a set.
const SIGNALS: u64 = 1 << (SIGNAL - 1);
/// Processor time of the whole process after which it ends. The system looks at its own pace, every 1 to 10 ms.
const USED: Duration = Duration::from_millis(10);

/// Ends the sleep of another thread. In one order with what that thread is to find (`SeqCst`): either it finds it before it
/// sleeps, or it is woken.
#[derive(Default)]
pub(crate) struct Alarm {
    /// Who sleeps; 0: nobody.
    sleeper: AtomicI32,
}

impl Alarm {
    /// Ends the sleep that goes on, or the next.
    pub(crate) fn ring(&self) {
        let sleeper = self.sleeper.load(SeqCst);
        if sleeper != 0 {
            // SAFETY: a signal to a thread of this process, which blocks it; if that has ended, it is an error and nothing else.
            unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), sleeper, SIGNAL) };
        }
    }
}

/// The timer of the thread that made it, which blocks every signal.
pub(crate) struct Doze {
    /// `None` where the system has no such timers to give.
    timer: Option<c_int>,
}

impl Doze {
    pub(crate) fn new() -> Doze {
        // SAFETY: a sigevent is numbers and a pointer that is not used.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = SIGNAL;
        event.sigev_notify_thread_id = gettid() as c_int;
        let (no_set, mut timer) = (null_mut::<u64>(), 0 as c_int);
        let block = libc::SIG_BLOCK;
        // Nobody lets it through again, see `quiet`: unheard, it would end the process.
        // SAFETY: a set of signals of that many bytes; the one before is not wanted.
        let blocked =
            unsafe { libc::syscall(libc::SYS_rt_sigprocmask, block, &SIGNALS, no_set, KERNEL_SET) } == 0;
        let clock = libc::CLOCK_PROCESS_CPUTIME_ID;
        // SAFETY: the event says whom to tell, and there is a place for the number.
        let made =
            blocked && unsafe { libc::syscall(libc::SYS_timer_create, clock, &event, &mut timer) } == 0;
        Doze { timer: made.then_some(timer) }
    }

    /// Sleeps until the process has used the processor, or `alarm` rings, or for so `long`. `is_over` tells after the alarm
    /// is set that there is no need to. False where there is no such sleep.
    pub(crate) fn sleep(&mut self, long: Duration, alarm: &Alarm, is_over: impl FnOnce() -> bool) -> bool {
        let Some(timer) = self.timer else { return false };
        // SAFETY: the timer is ours; a time, and nothing wanted of the one before.
        let set = unsafe { libc::syscall(libc::SYS_timer_settime, timer, 0, &once_after(USED), 0) };
        if set != 0 {
            self.end();
            return false;
        }
        alarm.sleeper.store(gettid() as i32, SeqCst);
        if !is_over() {
            let (nothing, long) = (null_mut::<libc::siginfo_t>(), timespec(long));
            // SAFETY: a set of signals of that many bytes, nothing wanted of what is told, and a time.
            unsafe { libc::syscall(libc::SYS_rt_sigtimedwait, &SIGNALS, nothing, &long, KERNEL_SET) };
        }
        alarm.sleeper.store(0, SeqCst);
        true
    }

    fn end(&mut self) {
        if let Some(timer) = self.timer.take() {
            // SAFETY: the timer is ours.
            unsafe { libc::syscall(libc::SYS_timer_delete, timer) };
        }
    }
}

impl Drop for Doze {
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
    use crate::platform::signals::without_signals;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::Instant;

    /// How long a thread sleeps that may for `long`, while `busy` goes on in this one.
    fn slept(long: Duration, alarm: &Alarm, busy: impl FnOnce(&AtomicBool)) -> Duration {
        let (begun, over) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let sleeper = without_signals(|| {
                scope.spawn(|| {
                    let (mut doze, since) = (Doze::new(), Instant::now());
                    assert!(doze.sleep(long, alarm, || {
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
    fn it_ends_when_the_process_works_when_it_is_told_or_when_its_time_is_over() {
        let (alarm, long) = (Alarm::default(), Duration::from_secs(60));
        slept(long, &alarm, |over| while !over.load(Relaxed) {});
        slept(long, &alarm, |over| {
            while !over.load(Relaxed) {
                alarm.ring();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let short = Duration::from_millis(3);
        assert!(slept(short, &alarm, |_| {}) >= short);
        alarm.ring();
        let mut none = Doze { timer: None };
        assert!(!none.sleep(long, &alarm, || true), "no timer, no sleep");
    }
}
