//! Keeps ring memory ready ahead of need, and returns it to the kernel.
//!
//! What threads took between two passes is what they may take again before the next. The collector
//! keeps that much and a quarter more ready. Ready memory beyond that is returned to the kernel
//! after a second in which it was not needed.

use rocshim_ring::Pool;
use std::time::{Duration, Instant};

/// Chunks that are always ready: 1 MiB, and 256 KiB for a process that is idle or has taken few.
const LEAST: u64 = 32;
const LEAST_AT_REST: u64 = 8;
/// A process that began with few and has taken fewer than these gets no more: a child that launches
/// a few times and exits.
const FEW: u64 = 4;
/// Limit of the chunks made ready ahead of need: 16 MiB. (More may be ready after a burst.)
const MOST: u64 = 512;
/// Limit of the chunks made ready per pass, because draining waits meanwhile.
const STEP: u64 = 32;
/// Interval at which the need decays by a quarter and surplus is returned.
const PERIOD: Duration = Duration::from_millis(250);
/// Time after an increase of need in which nothing is returned.
const QUIET: Duration = Duration::from_secs(1);
/// Time without any need after which the process counts as idle.
const REST: Duration = Duration::from_secs(5);

/// Keeps chunks ready.
pub(super) struct ReadyMemory {
    /// Chunks taken up to the last pass.
    taken: u64,
    /// Decaying maximum of the chunks taken between two passes.
    need: u64,
    /// Times of the last pass that found a chunk taken, and of the last that raised the need.
    busy: Instant,
    raised: Instant,
    /// Time of the last decay.
    period: Instant,
}

/// What to do with the pool.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Nothing,
    Warm(u64),
    Cool(u64),
}

impl ReadyMemory {
    /// Starts at `now`, when recording begins.
    pub(super) fn new(now: Instant) -> ReadyMemory {
        ReadyMemory { taken: 0, need: 0, busy: now, raised: now, period: now }
    }

    /// Measures how much was taken, and makes chunks ready or returns them.
    pub(super) fn adjust(&mut self, pool: &Pool, now: Instant) {
        let state = pool.state();
        match self.decide(state.taken, state.ready, now) {
            Action::Nothing => {}
            Action::Warm(chunks) => pool.warm(chunks as usize),
            Action::Cool(chunks) => pool.cool(chunks as usize),
        }
    }

    fn decide(&mut self, taken: u64, ready: u64, now: Instant) -> Action {
        let new = taken - self.taken;
        self.taken = taken;
        if new > 0 {
            self.busy = now;
        }
        if new > self.need {
            (self.need, self.raised) = (new, now);
        }
        let is_period = now - self.period >= PERIOD;
        if is_period {
            self.period = now;
            self.need -= self.need.div_ceil(4);
        }
        let is_busy = (taken >= FEW || ready > LEAST_AT_REST) && now - self.busy < REST;
        let least = if is_busy { LEAST } else { LEAST_AT_REST };
        let wanted = (self.need + self.need / 4).max(least);
        if ready < wanted.min(MOST) {
            return Action::Warm((wanted.min(MOST) - ready).min(STEP));
        }
        if ready > wanted && is_period && now - self.raised >= QUIET {
            return Action::Cool(ready - wanted);
        }
        Action::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_memory_follows_the_rate_and_is_returned_when_unneeded() {
        let start = Instant::now();
        let mut memory = ReadyMemory::new(start);
        let mut after = |ms, taken, ready| memory.decide(taken, ready, start + Duration::from_millis(ms));
        assert_eq!(after(1, 0, 32), Action::Nothing);
        assert_eq!(after(1, 3, 8), Action::Nothing, "a child that launches a few times");
        assert_eq!(after(2, 4, 28), Action::Warm(4));
        assert_eq!(after(3, 104, 0), Action::Warm(32), "not all at once");
        assert_eq!(after(4, 104, 120), Action::Warm(5), "as much as was taken, and a quarter more");
        assert_eq!(after(5, 4104, 0), Action::Warm(32));
        assert_eq!(after(6, 4104, 600), Action::Nothing, "more than the limit is not made ready");
        assert_eq!(after(800, 4104, 4700), Action::Nothing, "what was returned stays for a while");
        assert_eq!(after(1100, 4104, 4700), Action::Cool(1888), "then, what has not been needed since");
        let mut left = 2812;
        for quarter in 1..40 {
            if let Action::Cool(chunks) = after(1100 + 250 * quarter, 4104, left) {
                left -= chunks;
            }
        }
        assert_eq!(left, LEAST_AT_REST, "an idle process keeps little");
        assert_eq!(after(20_000, 4106, 6), Action::Warm(26), "and a busy one more");
    }
}
