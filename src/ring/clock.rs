//! The stamp of every event: the invariant time-stamp counter, or `clock_gettime` where the machine has none.
//!
//! A program may forbid itself the instruction that reads the counter while it is recorded. Stamps go on in the same
//! ticks then, reckoned from `clock_gettime`.
#![allow(unsafe_code)] // one C call and one instruction, both without preconditions

use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::time::Duration;

const UNKNOWN: u8 = 0;
const TSC: u8 = 1;
const SYSTEM: u8 = 2;
const RECKONED: u8 = 3;
/// Which clock stamps are read from; found out once, by whoever asks first. Release: after the two that follow.
static SOURCE: AtomicU8 = AtomicU8::new(if cfg!(loom) { TSC } else { UNKNOWN });
/// A moment by both clocks: a stamp, `CLOCK_MONOTONIC_RAW`. When the counter was chosen; then, when it was forbidden.
static MOMENT: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Ticks in a second, as measured between the two.
static TICK_HZ: AtomicU64 = AtomicU64::new(0);

/// Some thread has forbidden itself to read the counter, or is about to.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// The shortest time in which a rate can be measured.
const SHORTEST: Duration = Duration::from_millis(5);

/// A raw stamp, in ticks of [`Clock::tick_hz`].
#[inline(always)]
pub fn now() -> u64 {
    // Relaxed: every thread that finds out comes to the same answer.
    if SOURCE.load(Relaxed) == TSC { tsc() } else { slow_now() }
}

/// The time-stamp counter, whatever the source of stamps is.
#[inline(always)]
pub(crate) fn tsc() -> u64 {
    // A model must go the same way again.
    if cfg!(loom) {
        return 1;
    }
    // SAFETY: rdtsc exists on every x86-64 processor and reads no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cold]
#[inline(never)]
fn slow_now() -> u64 {
    // Acquire: with a source come the moment and the rate.
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
            let [stamp, ns] = [0, 1].map(|i: usize| MOMENT[i].load(Relaxed));
            stamp + ticks_of(monotonic_ns().saturating_sub(ns), TICK_HZ.load(Relaxed))
        }
        TSC => tsc(),
        _ => monotonic_ns(),
    }
}

fn remember((stamp, ns): (u64, u64)) {
    MOMENT[0].store(stamp, Relaxed);
    MOMENT[1].store(ns, Relaxed);
}

fn ticks_of(ns: u64, hz: u64) -> u64 {
    (ns as u128 * hz as u128 / 1_000_000_000) as u64
}

/// The program is about to forbid its threads to read the counter, which would be a SIGSEGV: it is not read any more. (By a
/// ring's producer neither: see `Ring::forbid_tsc`.)
pub fn forbid_tsc() {
    FORBIDDEN.store(true, Relaxed);
    // A program that does so in several threads at once is met by none.
    if SOURCE.compare_exchange(UNKNOWN, SYSTEM, Release, Relaxed) != Err(TSC) {
        return;
    }
    let [stamp, ns] = [0, 1].map(|i: usize| MOMENT[i].load(Relaxed));
    let since = Duration::from_nanos(monotonic_ns().saturating_sub(ns));
    std::thread::sleep(SHORTEST.saturating_sub(since));
    let (stamp_now, ns_now) = together(monotonic_ns);
    let hz = ((stamp_now - stamp) as u128 * 1_000_000_000 / (ns_now - ns).max(1) as u128) as u64;
    TICK_HZ.store(hz, Relaxed);
    // As much ahead as two clocks may be read apart: no call that is being made ends before it began.
    remember((stamp_now + hz / 10_000_000, ns_now));
    SOURCE.store(RECKONED, Release);
}

/// True when stamps are read from the time-stamp counter; else they are nanoseconds of `CLOCK_MONOTONIC_RAW`, or reckoned
/// from them.
pub fn is_tsc() -> bool {
    now();
    SOURCE.load(Relaxed) == TSC
}

/// CPUID leaf 0x8000_0007, EDX bit 8: the counter runs at one rate in every power state. And the program must not have
/// forbidden itself the instruction (`PR_SET_TSC`), which would then be a SIGSEGV.
fn has_invariant_tsc() -> bool {
    use core::arch::x86_64::__cpuid;
    let mut allowed: i32 = 0;
    let place: *mut i32 = &mut allowed;
    // SAFETY: PR_GET_TSC stores an int at its second argument.
    if unsafe { libc::prctl(libc::PR_GET_TSC, place) } == 0 && allowed != libc::PR_TSC_ENABLE {
        FORBIDDEN.store(true, Relaxed);
        return false;
    }
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Lets the calling thread, which may have forbidden itself the counter, read it, for what reads clocks in its own ways.
/// True when it had to be done: `forbid_again` is to follow.
pub fn allow_tsc() -> bool {
    let mut allowed: i32 = libc::PR_TSC_ENABLE;
    let place: *mut i32 = &mut allowed;
    if !FORBIDDEN.load(Relaxed) {
        return false;
    }
    // SAFETY: PR_GET_TSC stores an int at its second argument.
    unsafe { libc::prctl(libc::PR_GET_TSC, place) };
    // SAFETY: PR_SET_TSC takes a number.
    allowed != libc::PR_TSC_ENABLE && unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) } == 0
}

/// The calling thread is as before [`allow_tsc`].
pub fn forbid_again() {
    // SAFETY: PR_SET_TSC takes a number. Not `prctl`, which the shim exports for its sake.
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
        // SAFETY: `time` is a valid place for the answer; these clocks exist on every Linux that ROCm runs on.
        false => unsafe { libc::clock_gettime(which, place) },
        // The C library's reads the counter, in the program's place.
        // SAFETY: as above.
        true => unsafe { libc::syscall(libc::SYS_clock_gettime, which, place) as i32 },
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How stamps become times: nanoseconds since the moment of `start`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The stamp that is time 0.
    pub start: u64,
    /// What that moment is in nanoseconds since 1970.
    pub unix_ns: u64,
    /// Ticks in a second.
    pub tick_hz: u64,
}

impl Clock {
    /// Nanoseconds from time 0 to `stamp`; 0 for a stamp before it.
    pub fn ns(&self, stamp: u64) -> u64 {
        self.duration_ns(stamp.saturating_sub(self.start))
    }

    /// Ticks as nanoseconds.
    pub fn duration_ns(&self, ticks: u64) -> u64 {
        (ticks as u128 * 1_000_000_000 / self.tick_hz.max(1) as u128) as u64
    }
}

/// Turns ticks into nanoseconds by a multiplication, as exactly as [`Clock::duration_ns`].
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    tick_hz: u64,
    /// Nanoseconds of a tick, times 2 to the `shift`, rounded down.
    multiplier: u64,
    shift: u32,
}

impl Rate {
    /// Of so many ticks in a second.
    pub fn new(tick_hz: u64) -> Rate {
        let tick_hz = tick_hz.max(1);
        // As many bits as there is room for.
        let scaled = |shift: u32| (1_000_000_000_u128 << shift) / u128::from(tick_hz);
        let shift = (0..=64).take_while(|shift| u64::try_from(scaled(*shift)).is_ok()).last().unwrap_or(0);
        Rate { tick_hz, multiplier: scaled(shift) as u64, shift }
    }

    /// Ticks as nanoseconds, rounded down.
    #[inline]
    pub fn ns(&self, ticks: u64) -> u64 {
        let whole = u128::from(ticks) * 1_000_000_000;
        if ticks.checked_shr(self.shift).unwrap_or(0) != 0 {
            return (whole / u128::from(self.tick_hz)) as u64;
        }
        // The multiplier is less than one too small and there are less than 2^`shift` ticks: what comes out is right, or
        // one too small.
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

/// Two clocks read at one moment: a stamp and nanoseconds since 1970.
pub fn anchor() -> (u64, u64) {
    together(unix_ns)
}

/// A stamp and what `clock` says at the same moment: the tightest of a few tries, since a switch to another thread
/// between the two reads would set them apart.
fn together(clock: impl Fn() -> u64) -> (u64, u64) {
    let read = || {
        let (before, time, after) = (now(), clock(), now());
        (after - before, before + (after - before) / 2, time)
    };
    let (_, stamp, time) =
        (0..4).map(|_| read()).fold(read(), |best, next| if next.0 < best.0 { next } else { best });
    (stamp, time)
}

/// Measures the tick rate against the system's clock for `span` (5 ms give about ten parts per million).
pub fn measure_hz(span: Duration) -> u64 {
    if !is_tsc() {
        return match TICK_HZ.load(Relaxed) {
            0 => 1_000_000_000,
            hz => hz,
        };
    }
    let (ticks, ns) = together(monotonic_ns);
    std::thread::sleep(span);
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
    fn where_the_instruction_is_forbidden_the_counter_is_not_read() {
        let forbidden = std::thread::spawn(|| {
            // SAFETY: PR_SET_TSC takes a number; it holds for this thread, which reads no clock that needs it, and ends.
            let done = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) };
            let has = has_invariant_tsc();
            // SAFETY: as above.
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
                // Of every length, and around whole seconds, where rounding shows.
                let around = (i * tick_hz).wrapping_add(i % 3).wrapping_sub(1);
                for ticks in [ticks >> (i % 64), around, i, u64::MAX - i] {
                    assert_eq!(rate.ns(ticks), clock(tick_hz).duration_ns(ticks), "{ticks} at {tick_hz} Hz");
                }
            }
        }
    }

    #[test]
    fn the_measured_rate_agrees_with_a_second_measurement() {
        let (first, second) = (measure_hz(Duration::from_millis(30)), measure_hz(Duration::from_millis(30)));
        let ratio = first as f64 / second as f64;
        assert!((0.999..1.001).contains(&ratio), "{first} Hz and {second} Hz");
    }
}
