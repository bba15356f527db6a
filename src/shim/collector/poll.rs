//! The collector's poll interval: how long it sleeps between two passes over the rings.
//!
//! The interval aims for the fullest ring to be a quarter full at the next pass, at the last
//! measured fill rate. A burst after a pause arrives unannounced, so for a tenth of a second after
//! the last event the interval is short enough for one, and longer afterwards. After a second
//! without events the collector waits until the program uses CPU time: an idle program costs
//! nothing.

use std::time::{Duration, Instant};

/// Target fill level of the fullest ring at the next pass.
const AIM: f32 = 0.25;
/// Minimum interval.
const SHORTEST: Duration = Duration::from_micros(200);
/// Maximum interval while events arrive, and right after.
const READY: Duration = Duration::from_millis(2);
/// Interval while no events arrive.
pub(crate) const LONGEST: Duration = Duration::from_millis(20);
/// Time without events after which the interval is [`LONGEST`].
const QUIET: Duration = Duration::from_millis(100);
/// Time without events after which the collector waits for CPU use.
const IDLE: Duration = Duration::from_secs(1);

/// How to sleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sleep {
    For(Duration),
    /// Until the program uses CPU time.
    Idle,
}

/// State of the poll interval.
pub(crate) struct PollInterval {
    /// Time of the last pass.
    last_pass: Instant,
    /// Time of the last pass that found events.
    busy: Instant,
}

impl PollInterval {
    /// Starts at `now`, when recording begins.
    pub(crate) fn new(now: Instant) -> PollInterval {
        PollInterval { last_pass: now, busy: now }
    }

    /// Returns how to sleep after a pass that ended at `now` and found the fullest ring at `fill`
    /// (0 to 1).
    pub(crate) fn after(&mut self, fill: f32, now: Instant) -> Sleep {
        let passed = now - self.last_pass;
        self.last_pass = now;
        if fill > 0.0 {
            self.busy = now;
            return Sleep::For(passed.mul_f32((AIM / fill).min(1000.0)).clamp(SHORTEST, READY));
        }
        match now - self.busy {
            idle if idle < QUIET => Sleep::For(READY),
            idle if idle < IDLE => Sleep::For(LONGEST),
            // The idle wait was short: the program is busy without calls.
            _ if passed < LONGEST => Sleep::For(LONGEST),
            _ => Sleep::Idle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_aims_for_a_quarter_full_ring_and_grows_without_events() {
        let start = Instant::now();
        let mut interval = PollInterval::new(start);
        let mut after = |fill, ms| interval.after(fill, start + Duration::from_millis(ms));
        assert_eq!(after(0.5, 2), Sleep::For(Duration::from_millis(1)));
        assert_eq!(after(0.25, 3), Sleep::For(Duration::from_millis(1)));
        assert_eq!(after(1.0, 4), Sleep::For(Duration::from_micros(250)));
        assert_eq!(after(1.0, 4), Sleep::For(SHORTEST), "never without rest");
        assert_eq!(after(1e-5, 5), Sleep::For(READY), "a few events now and then");
        assert_eq!(after(0.0, 100), Sleep::For(READY));
        assert_eq!(after(0.0, 106), Sleep::For(LONGEST), "a tenth of a second without any");
        assert_eq!(after(0.1, 126), Sleep::For(READY));
        assert_eq!(after(0.0, 1110), Sleep::For(LONGEST));
        assert_eq!(after(0.0, 1130), Sleep::Idle, "a second without any");
        assert_eq!(after(0.0, 1142), Sleep::For(LONGEST), "the program is at work");
        assert_eq!(after(0.0, 1162), Sleep::Idle);
        assert_eq!(after(0.1, 1174), Sleep::For(READY));
    }
}
