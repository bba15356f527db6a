//! The device's clock: nanoseconds of `CLOCK_MONOTONIC`, so that device times and host times can be
//! compared.
#![allow(unsafe_code)] // clock_gettime: std's `Instant` does not give the number

/// Ticks of the device's clock in a second.
pub(crate) const FREQUENCY: u64 = 1_000_000_000;

/// The time now; never 0, which the runtime takes for "not yet".
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and `time` is ours to write.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * FREQUENCY + time.tv_nsec as u64
}
