//! How long the collector sleeps between two looks at the rings.
//!
//! At the rate that the last look showed, the fullest ring is to be a quarter full at the next. What comes after a pause
//! comes unannounced: while the program was busy within the last tenth of a second, a look comes often enough for a burst; after that
//! seldom, so that an idle program costs nothing.

use std::time::{Duration, Instant};

/// How full a ring may be at the next look.
const AIM: f32 = 0.25;
/// No rate makes it look more often.
const SHORTEST: Duration = Duration::from_micros(200);
/// After events were seen, it looks at least so often: a ring of 1 MiB holds 16,384 launches.
const READY: Duration = Duration::from_millis(2);
/// Nothing happens.
const LONGEST: Duration = Duration::from_millis(20);
/// It does not for so long.
const IDLE: Duration = Duration::from_millis(100);

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

    /// How long to sleep after a look that ended `now` and had found the fullest ring so full.
    pub(crate) fn after(&mut self, fill: f32, now: Instant) -> Duration {
        let passed = now - self.looked;
        self.looked = now;
        if fill > 0.0 {
            self.busy = now;
            return passed.mul_f32((AIM / fill).min(1000.0)).clamp(SHORTEST, READY);
        }
        if now - self.busy < IDLE { READY } else { LONGEST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_looked_at_again_when_a_quarter_of_it_is_full() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut pause = Pause::new(start);
        assert_eq!(pause.after(0.5, at(2)), Duration::from_millis(1));
        assert_eq!(pause.after(0.25, at(3)), Duration::from_millis(1));
        assert_eq!(pause.after(1.0, at(4)), Duration::from_micros(250));
        assert_eq!(pause.after(1.0, at(4)), SHORTEST, "never without rest");
        assert_eq!(pause.after(1e-5, at(5)), READY, "a few events now and then");
        assert_eq!(pause.after(0.0, at(100)), READY);
        assert_eq!(pause.after(0.0, at(106)), LONGEST, "a tenth of a second without any");
        assert_eq!(pause.after(0.1, at(126)), READY);
    }
}
