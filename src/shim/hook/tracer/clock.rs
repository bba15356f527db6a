//! Converts the GPU times of reports. The runtime maps the device's counter to the driver's system
//! time, `CLOCK_BOOTTIME`; commands without a device time have `CLOCK_MONOTONIC`. The two differ by
//! the time for which the machine was suspended.
#![allow(unsafe_code)] // clock_gettime

use rocshim_ring::clock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Time, in ns, for which the machine was suspended before GPU times were requested; 0 when below
/// [`NOISE`].
static SUSPENDED_NS: AtomicU64 = AtomicU64::new(0);
/// Difference, in ns, that may be the time between two readings.
const NOISE: u64 = 1_000_000;
/// Ticks within which a reading is accepted: about half a microsecond.
const NARROW_TICKS: u64 = 1 << 10;
/// Otherwise the narrowest of this many readings is used.
const MAX_READINGS: usize = 4;

/// A reading of the clock and of the stamp clock.
pub(super) struct Reading {
    /// Stamp taken before the reading.
    pub(super) stamp: u64,
    /// Ticks from the stamp to the end of the reading.
    pub(super) width: u64,
    now: u64,
}

/// Measures the suspended time, when GPU times are requested.
pub(super) fn begin() {
    let suspended = at(libc::CLOCK_BOOTTIME).saturating_sub(at(libc::CLOCK_MONOTONIC));
    SUSPENDED_NS.store(if suspended < NOISE { 0 } else { suspended }, Relaxed);
}

/// Reads the clock.
pub(super) fn read() -> Reading {
    let mut best = Reading { stamp: 0, width: u64::MAX, now: 0 };
    for _ in 0..MAX_READINGS {
        let stamp = clock::now();
        let now = at(libc::CLOCK_BOOTTIME);
        let width = clock::now().saturating_sub(stamp);
        if width < best.width {
            best = Reading { stamp, width, now };
        }
        if width <= NARROW_TICKS {
            break;
        }
    }
    best
}

impl Reading {
    /// Returns how long ago `time` was, ns.
    pub(super) fn since(&self, time: u64) -> i64 {
        let (age, suspended) = (self.now as i64 - time as i64, SUSPENDED_NS.load(Relaxed) as i64);
        // A `CLOCK_MONOTONIC` time appears older by the suspended time, and no true age is
        // negative.
        if suspended != 0 && age >= suspended { age - suspended } else { age }
    }
}

fn at(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both clocks exist on Linux, and `time` has room for the result. (The vDSO reads the
    // clock without a system call.)
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
