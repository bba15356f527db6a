//! The clock of the reports: what the driver calls the system's time, `CLOCK_BOOTTIME`, to which the runtime brings the
//! device's own counter; commands without a time of their own have `CLOCK_MONOTONIC`. The two differ by the time for which
//! the machine was suspended.
#![allow(unsafe_code)] // clock_gettime

use rocshim_ring::clock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// For how long the machine was suspended before GPU times were asked for, ns; 0 for what may be nothing.
static SUSPENDED: AtomicU64 = AtomicU64::new(0);
/// Less than this may be the time between two readings.
const NOTHING: u64 = 1_000_000;
/// A reading that took so many ticks is taken: about half a microsecond.
const NARROW: u64 = 1 << 10;
/// Otherwise the narrowest of so many.
const TRIES: usize = 4;

/// A reading of the clock beside a stamp.
pub(super) struct Reading {
    /// The stamp, taken before.
    pub(super) stamp: u64,
    /// Ticks until it was read.
    pub(super) width: u64,
    now: u64,
}

/// GPU times are asked for.
pub(super) fn begin() {
    let suspended = at(libc::CLOCK_BOOTTIME).saturating_sub(at(libc::CLOCK_MONOTONIC));
    SUSPENDED.store(if suspended < NOTHING { 0 } else { suspended }, Relaxed);
}

/// Reads the clock.
pub(super) fn read() -> Reading {
    let mut best = Reading { stamp: 0, width: u64::MAX, now: 0 };
    for _ in 0..TRIES {
        let stamp = clock::now();
        let now = at(libc::CLOCK_BOOTTIME);
        let width = clock::now().saturating_sub(stamp);
        if width < best.width {
            best = Reading { stamp, width, now };
        }
        if width <= NARROW {
            break;
        }
    }
    best
}

impl Reading {
    /// How long ago `time` was, ns.
    pub(super) fn since(&self, time: u64) -> i64 {
        let (age, suspended) = (self.now as i64 - time as i64, SUSPENDED.load(Relaxed) as i64);
        // By the other clock everything would be older than it is by that time, and nothing is younger than nothing.
        if suspended != 0 && age >= suspended { age - suspended } else { age }
    }
}

fn at(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both clocks exist, and there is a place for the time. (No system call: the C library reads it from memory.)
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
