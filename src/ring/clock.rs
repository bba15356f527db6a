//! Event time stamps: the invariant time-stamp counter (TSC), or `clock_gettime` on machines
//! without one.
//!
//! A program may disable the RDTSC instruction for itself while it is recorded. Stamps then
//! continue in the same ticks, computed from `clock_gettime`.
#![allow(unsafe_code)] // C calls and RDTSC

use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::time::Duration;

const UNKNOWN: u8 = 0;
const TSC: u8 = 1;
const SYSTEM: u8 = 2;
const RECKONED: u8 = 3;
/// The source of stamps, chosen at first use. Release: after `ANCHOR` and `TICK_HZ`.
static SOURCE: AtomicU8 = AtomicU8::new(if cfg!(loom) { TSC } else { UNKNOWN });
/// A stamp and `CLOCK_MONOTONIC_RAW` in ns, read together: when the TSC was chosen, or again when
/// it was disabled.
static ANCHOR: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Ticks per second, measured between the two readings.
static TICK_HZ: AtomicU64 = AtomicU64::new(0);

/// Result of [`measure_hz`]; 0: not measured yet.
static MEASURED_HZ: AtomicU64 = AtomicU64::new(0);

/// Some thread has disabled RDTSC for itself, or is about to.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// The shortest interval over which a rate can be measured.
const SHORTEST: Duration = Duration::from_millis(5);

/// A raw stamp, in ticks of [`Clock::tick_hz`].
#[inline(always)]
pub fn now() -> u64 {
    // Relaxed: every thread that chooses comes to the same result.
    if SOURCE.load(Relaxed) == TSC { tsc() } else { slow_now() }
}

/// Reads the TSC, whatever the source of stamps is.
#[inline(always)]
pub(crate) fn tsc() -> u64 {
    // A model must be deterministic.
    if cfg!(loom) {
        return 1;
    }
    // SAFETY: RDTSC exists on every x86-64 processor and reads no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cold]
#[inline(never)]
fn slow_now() -> u64 {
    // Acquire: the source is published after the moment and the rate.
    match SOURCE.load(Acquire) {
        UNKNOWN => {
            let source = if has_invariant_tsc() { TSC } else { SYSTEM };
            if source == TSC {
                remember((tsc(), monotonic_ns()));
            }
            let _ = SOURCE.compare_exchange(UNKNOWN, source, Release, Relaxed);
            now()
        }
        RECKONED => {
            let [stamp, ns] = [0, 1].map(|i: usize| ANCHOR[i].load(Relaxed));
            stamp + ticks_of(monotonic_ns().saturating_sub(ns), TICK_HZ.load(Relaxed))
        }
        TSC => tsc(),
        _ => monotonic_ns(),
    }
}

fn remember((stamp, ns): (u64, u64)) {
    ANCHOR[0].store(stamp, Relaxed);
    ANCHOR[1].store(ns, Relaxed);
}

fn ticks_of(ns: u64, hz: u64) -> u64 {
    (ns as u128 * hz as u128 / 1_000_000_000) as u64
}

/// Stops reading the TSC, because the program is about to disable it (reading it would be a
/// SIGSEGV). A ring's producer must be stopped too: see `Ring::forbid_tsc`.
pub fn forbid_tsc() {
    FORBIDDEN.store(true, Relaxed);
    // Only one thread switches the source, also if several disable the TSC at once.
    if SOURCE.compare_exchange(UNKNOWN, SYSTEM, Release, Relaxed) != Err(TSC) {
        return;
    }
    let [stamp, ns] = [0, 1].map(|i: usize| ANCHOR[i].load(Relaxed));
    let since = Duration::from_nanos(monotonic_ns().saturating_sub(ns));
    std::thread::sleep(SHORTEST.saturating_sub(since));
    let (stamp_now, ns_now) = together(monotonic_ns);
    let hz = ((stamp_now - stamp) as u128 * 1_000_000_000 / (ns_now - ns).max(1) as u128) as u64;
    TICK_HZ.store(hz, Relaxed);
    // Advanced by more than two clock readings can differ: no call in progress ends before it
    // began.
    remember((stamp_now + hz / 10_000_000, ns_now));
    SOURCE.store(RECKONED, Release);
}

/// True if stamps are read from the TSC; else they are nanoseconds of `CLOCK_MONOTONIC_RAW`, or
/// computed from them.
pub fn is_tsc() -> bool {
    now();
    SOURCE.load(Relaxed) == TSC
}

/// CPUID leaf 0x8000_0007, EDX bit 8: the counter runs at one rate in every power state. Also false
/// if the program has disabled RDTSC (`PR_SET_TSC`), which would make it a SIGSEGV.
fn has_invariant_tsc() -> bool {
    use core::arch::x86_64::__cpuid;
    let mut allowed: i32 = 0;
    let place: *mut i32 = &mut allowed;
    // SAFETY: PR_GET_TSC stores an int at its second argument, which is a local one.
    if unsafe { libc::prctl(libc::PR_GET_TSC, place) } == 0 && allowed != libc::PR_TSC_ENABLE {
        FORBIDDEN.store(true, Relaxed);
        return false;
    }
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Enables RDTSC for the calling thread, for code that reads clocks by other means. True if it was
/// disabled: the caller must call `forbid_again`.
pub fn allow_tsc() -> bool {
    let mut allowed: i32 = libc::PR_TSC_ENABLE;
    let place: *mut i32 = &mut allowed;
    if !FORBIDDEN.load(Relaxed) {
        return false;
    }
    // SAFETY: PR_GET_TSC stores an int at its second argument, which is a local one.
    unsafe { libc::prctl(libc::PR_GET_TSC, place) };
    // SAFETY: PR_SET_TSC takes a number and no pointer.
    allowed != libc::PR_TSC_ENABLE && unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) } == 0
}

/// Disables RDTSC for the calling thread again, after [`allow_tsc`].
pub fn forbid_again() {
    // SAFETY: PR_SET_TSC takes a number. Not `prctl`, which the shim itself interposes.
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) };
}

fn monotonic_ns() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC_RAW)
}

/// Nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    read_clock(libc::CLOCK_REALTIME)
}

/// CPU time of the calling thread, ns.
pub fn thread_cpu_ns() -> u64 {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read_clock(which: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let place: *mut libc::timespec = &mut time;
    match FORBIDDEN.load(Relaxed) {
        // SAFETY: `place` points to a local timespec; these clocks exist on every Linux that ROCm
        // supports.
        false => unsafe { libc::clock_gettime(which, place) },
        // The C library reads the TSC in user space, the system call does not. SAFETY: `place`
        // points to a local timespec.
        true => unsafe { libc::syscall(libc::SYS_clock_gettime, which, place) as i32 },
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Converts stamps to times: nanoseconds since the moment of `start`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The stamp that is time 0.
    pub start: u64,
    /// That moment in nanoseconds since 1970.
    pub unix_ns: u64,
    /// Ticks per second.
    pub tick_hz: u64,
}

impl Clock {
    /// Nanoseconds from time 0 to `stamp`; 0 for a stamp before it.
    pub fn ns(&self, stamp: u64) -> u64 {
        self.duration_ns(stamp.saturating_sub(self.start))
    }

    /// Converts ticks to nanoseconds.
    pub fn duration_ns(&self, ticks: u64) -> u64 {
        (ticks as u128 * 1_000_000_000 / self.tick_hz.max(1) as u128) as u64
    }
}

/// Converts ticks to nanoseconds by one multiplication, as exactly as [`Clock::duration_ns`].
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    tick_hz: u64,
    /// Nanoseconds per tick, times 2^`shift`, rounded down.
    multiplier: u64,
    shift: u32,
}

impl Rate {
    /// The conversion for `tick_hz` ticks per second.
    pub fn new(tick_hz: u64) -> Rate {
        let tick_hz = tick_hz.max(1);
        // As many bits as fit.
        let scaled = |shift: u32| (1_000_000_000_u128 << shift) / u128::from(tick_hz);
        let shift = (0..=64).take_while(|shift| u64::try_from(scaled(*shift)).is_ok()).last().unwrap_or(0);
        Rate { tick_hz, multiplier: scaled(shift) as u64, shift }
    }

    /// Converts ticks to nanoseconds, rounded down.
    #[inline]
    pub fn ns(&self, ticks: u64) -> u64 {
        let whole = u128::from(ticks) * 1_000_000_000;
        if ticks.checked_shr(self.shift).unwrap_or(0) != 0 {
            return (whole / u128::from(self.tick_hz)) as u64;
        }
        // The multiplier is less than one too small and there are fewer than 2^`shift` ticks, so
        // the result is right or one too small.
        let ns = ((u128::from(ticks) * u128::from(self.multiplier)) >> self.shift) as u64;
        let rest = whole - u128::from(ns) * u128::from(self.tick_hz);
        ns + u64::from(rest >= u128::from(self.tick_hz))
    }
}

impl Default for Rate {
    fn default() -> Rate {
        Rate::new(1)
    }
}

/// A stamp and nanoseconds since 1970, read together.
pub fn anchor() -> (u64, u64) {
    together(unix_ns)
}

/// A stamp and the reading of `clock` at the same moment: the closest of a few tries, because a
/// thread switch between the two reads would separate them.
fn together(clock: impl Fn() -> u64) -> (u64, u64) {
    let read = || {
        let (before, time, after) = (now(), clock(), now());
        (after - before, before + (after - before) / 2, time)
    };
    let (_, stamp, time) =
        (0..4).map(|_| read()).fold(read(), |best, next| if next.0 < best.0 { next } else { best });
    (stamp, time)
}

/// Measures the tick rate against the system's clock for `interval` (5 ms give about ten parts per
/// million); a forked child has the rate that its parent has measured, without waiting.
pub fn measure_hz(interval: Duration) -> u64 {
    let measured = MEASURED_HZ.load(Relaxed);
    if is_tsc() && measured != 0 {
        return measured;
    }
    let hz = measure(interval);
    MEASURED_HZ.store(hz, Relaxed);
    hz
}

fn measure(interval: Duration) -> u64 {
    if !is_tsc() {
        return match TICK_HZ.load(Relaxed) {
            0 => 1_000_000_000,
            hz => hz,
        };
    }
    let (ticks, ns) = together(monotonic_ns);
    std::thread::sleep(interval);
    let (ticks_end, ns_end) = together(monotonic_ns);
    ((ticks_end - ticks) as u128 * 1_000_000_000 / (ns_end - ns).max(1) as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_become_nanoseconds_without_overflow() {
        let clock = Clock { start: 1_000, unix_ns: 0, tick_hz: 2_500_000_000 };
        assert_eq!(clock.ns(1_000), 0);
        assert_eq!(clock.ns(3_500), 1_000);
        assert_eq!(clock.ns(500), 0, "a stamp before time 0");
        let year = 365 * 86_400 * 2_500_000_000u64;
        assert_eq!(clock.duration_ns(year), 365 * 86_400 * 1_000_000_000);
    }

    #[test]
    fn the_tsc_is_not_read_where_it_is_disabled() {
        let forbidden = std::thread::spawn(|| {
            // SAFETY: PR_SET_TSC takes a number; it affects this thread alone, which reads no TSC
            // until it is enabled again.
            let done = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) };
            let has = has_invariant_tsc();
            // SAFETY: PR_SET_TSC takes a number and enables what was disabled above.
            unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) };
            (done, has)
        });
        assert_eq!(forbidden.join().unwrap(), (0, false));
    }

    #[test]
    fn a_rate_is_exact() {
        let clock = |tick_hz| Clock { start: 0, unix_ns: 0, tick_hz };
        let rates =
            [1, 3, 19_200_000, 999_999_999, 1_000_000_000, 2_099_999_574, 2_445_423_902, 5_000_000_007];
        for tick_hz in rates {
            let rate = Rate::new(tick_hz);
            let mut ticks = 0x9e37_79b9_7f4a_7c15_u64;
            for i in 0..100_000_u64 {
                ticks = ticks.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Ticks of every length, and around whole seconds, where rounding errors show.
                let around = (i * tick_hz).wrapping_add(i % 3).wrapping_sub(1);
                for ticks in [ticks >> (i % 64), around, i, u64::MAX - i] {
                    assert_eq!(rate.ns(ticks), clock(tick_hz).duration_ns(ticks), "{ticks} at {tick_hz} Hz");
                }
            }
        }
    }

    #[test]
    fn the_measured_rate_agrees_with_a_second_measurement() {
        let (first, second) = (measure(Duration::from_millis(30)), measure_hz(Duration::from_millis(30)));
        assert_eq!(measure_hz(Duration::from_secs(3600)), second, "it is measured once");
        let ratio = first as f64 / second as f64;
        assert!((0.999..1.001).contains(&ratio), "{first} Hz and {second} Hz");
    }
}
