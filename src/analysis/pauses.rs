//! Collects the intervals in which recording was stopped: calls in them are neither in the trace
//! nor counted as lost.

use crate::units::{percent, time};
use rocshim_trace::Recording;
use std::collections::BTreeMap;

/// The pauses of a process.
#[derive(Clone, Default)]
pub(crate) struct Pauses {
    /// Stops (false) and starts (true) of recording by time. A recovered trace may state one twice.
    changes: BTreeMap<u64, bool>,
}

impl Pauses {
    pub(crate) fn note(&mut self, recording: &Recording) {
        self.changes.insert(recording.t, recording.state == "started");
    }

    /// Returns true if recording was never stopped.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.values().all(|on| *on)
    }

    /// Returns the time in which nothing was recorded, for a trace that ends at `end`.
    pub(crate) fn total(&self, end: u64) -> u64 {
        let (mut total, mut since) = (0, None);
        for (t, on) in &self.changes {
            match (on, since) {
                (false, None) => since = Some(*t),
                (true, Some(stopped)) => {
                    total += t - stopped;
                    since = None;
                }
                _ => {}
            }
        }
        total + since.map_or(0, |stopped| end.saturating_sub(stopped))
    }

    /// Returns a sentence about the pauses; `None` if recording was never stopped.
    pub(crate) fn sentence(&self, end: u64) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        Some(match self.total(end) {
            0 => "recording was stopped".into(),
            total => {
                let share = percent(total as f64 / end.max(total) as f64);
                format!("recording was stopped for {share} of the time ({})", time(total))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(changes: &[(u64, &str)]) -> Pauses {
        let mut pauses = Pauses::default();
        changes.iter().for_each(|(t, state)| pauses.note(&Recording { t: *t, state: (*state).into() }));
        pauses
    }

    #[test]
    fn stretches_are_added_and_what_is_reported_twice_counts_once() {
        let twice = pauses(&[(100, "stopped"), (300, "started"), (100, "stopped"), (700, "stopped")]);
        assert_eq!(twice.total(1000), 500);
        assert_eq!(
            twice.sentence(1000).as_deref(),
            Some("recording was stopped for 50.0% of the time (500 ns)")
        );
        assert_eq!(pauses(&[(0, "stopped")]).sentence(0).as_deref(), Some("recording was stopped"));
        assert_eq!(pauses(&[]).sentence(10), None);
    }
}
