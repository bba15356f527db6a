//! How long the collector sleeps between two looks at the rings.
//!
//! At the rate that the last look showed, the fullest ring is to be a quarter full at the next. What comes after a pause
//! comes unannounced: while the program was busy within the last tenth of a second, a look comes often enough for a burst;
//! after that more seldom. After a second without an event it sleeps until the program uses the processor: an idle
//! program costs nothing.

use std::time::{Duration, Instant};

/// How full a ring may be at the next look.
const AIM: f32 = 0.25;
/// No rate makes it look more often.
const SHORTEST: Duration = Duration::from_micros(200);
/// After events were seen, it looks at least so often.
const READY: Duration = Duration::from_millis(2);
/// Nothing happens.
pub(crate) const LONGEST: Duration = Duration::from_millis(20);
/// It does not for so long.
const QUIET: Duration = Duration::from_millis(100);
/// Nor for so long.
const IDLE: Duration = Duration::from_secs(1);

/// How to sleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sleep {
    For(Duration),
    /// Until the program does something.
    Doze,
}

/// Decides it.
pub(crate) struct Pause {
    /// The last look.
    looked: Instant,
    /// The last look that found something.
    busy: Instant,
}

impl Pause {
    /// Recording begins `now`.
    pub(crate) fn new(now: Instant) -> Pause {
        Pause { looked: now, busy: now }
    }

    /// How to sleep after a look that ended `now` and had found the fullest ring so full.
    pub(crate) fn after(&mut self, fill: f32, now: Instant) -> Sleep {
        let passed = now - self.looked;
        self.looked = now;
        if fill > 0.0 {
            self.busy = now;
            return Sleep::For(passed.mul_f32((AIM / fill).min(1000.0)).clamp(SHORTEST, READY));
        }
        match now - self.busy {
            idle if idle < QUIET => Sleep::For(READY),
            idle if idle < IDLE => Sleep::For(LONGEST),
            // A doze that was short: the program is at work, and makes no calls.
            _ if passed < LONGEST => Sleep::For(LONGEST),
            _ => Sleep::Doze,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_looked_at_again_when_a_quarter_of_it_is_full() {
        let start = Instant::now();
        let mut pause = Pause::new(start);
        let mut after = |fill, ms| pause.after(fill, start + Duration::from_millis(ms));
        assert_eq!(after(0.5, 2), Sleep::For(Duration::from_millis(1)));
        assert_eq!(after(0.25, 3), Sleep::For(Duration::from_millis(1)));
        assert_eq!(after(1.0, 4), Sleep::For(Duration::from_micros(250)));
        assert_eq!(after(1.0, 4), Sleep::For(SHORTEST), "never without rest");
        assert_eq!(after(1e-5, 5), Sleep::For(READY), "a few events now and then");
        assert_eq!(after(0.0, 100), Sleep::For(READY));
        assert_eq!(after(0.0, 106), Sleep::For(LONGEST), "a tenth of a second without any");
        assert_eq!(after(0.1, 126), Sleep::For(READY));
        assert_eq!(after(0.0, 1110), Sleep::For(LONGEST));
        assert_eq!(after(0.0, 1130), Sleep::Doze, "a second without any");
        assert_eq!(after(0.0, 1142), Sleep::For(LONGEST), "the program is at work");
        assert_eq!(after(0.0, 1162), Sleep::Doze);
        assert_eq!(after(0.1, 1174), Sleep::For(READY));
    }
}
