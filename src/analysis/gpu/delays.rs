//! Measures how long kernels waited from the entry of their launch to their begin, and keeps some
//! launches, evenly spread, for pages to draw.

use super::rows::{LaunchArrow, LaunchDelay};
use crate::durations::Durations;

/// Launches that are kept.
const ARROWS: usize = 256;

/// The delays of all processes.
#[derive(Clone, Default)]
pub(super) struct Delays {
    durations: Durations,
    longest: u64,
    total: u64,
    /// Every launch whose number is a multiple of `stride`; 0: of 1.
    arrows: Vec<LaunchArrow>,
    stride: u64,
}

impl Delays {
    /// Adds a launch and the begin of its first kernel.
    pub(super) fn add(&mut self, arrow: LaunchArrow) {
        let delay = arrow.begin_ns.saturating_sub(arrow.launched_ns);
        let number = self.durations.calls();
        self.durations.add(delay);
        self.longest = delay.max(self.longest);
        self.total = self.total.saturating_add(delay);
        if !number.is_multiple_of(self.stride.max(1)) {
            return;
        }
        self.arrows.push(arrow);
        if self.arrows.len() > ARROWS {
            self.stride = 2 * self.stride.max(1);
            let mut number = 0;
            self.arrows.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// Returns the delays, and the launches that were kept.
    pub(super) fn finish(self) -> (Option<LaunchDelay>, Vec<LaunchArrow>) {
        let quantile = |percent| self.durations.quantile(percent).unwrap_or(0).min(self.longest);
        let delay = (self.durations.calls() > 0).then(|| LaunchDelay {
            kernels: self.durations.calls(),
            median_ns: quantile(50),
            p99_ns: quantile(99),
            max_ns: self.longest,
            total_ns: self.total,
        });
        (delay, self.arrows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launches_that_are_kept_are_evenly_spread() {
        let mut delays = Delays::default();
        for at in 0..5_000 {
            let arrow =
                LaunchArrow { pid: 1, tid: 7, device: 1, queue: 2, launched_ns: at, begin_ns: at + 9 };
            delays.add(arrow);
        }
        let (delay, arrows) = delays.finish();
        assert_eq!(
            delay.map(|delay| (delay.kernels, delay.max_ns, delay.total_ns)),
            Some((5_000, 9, 45_000))
        );
        let steps: Vec<u64> =
            arrows.windows(2).map(|pair| pair[1].launched_ns - pair[0].launched_ns).collect();
        assert!(arrows.len() <= ARROWS && arrows.len() > ARROWS / 2, "{}", arrows.len());
        assert!(steps.iter().all(|step| *step == 32), "{steps:?}");
    }
}
