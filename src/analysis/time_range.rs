//! Converts the times of several processes to one time line.
//!
//! A trace's times are relative to its epoch. They are kept as Unix ns until all traces are read,
//! and reported since the earliest epoch: comparable between hosts as far as the hosts' clocks
//! agree.

use rocshim_trace::Call;

/// The epochs of the processes that were read.
#[derive(Clone, Default)]
pub(crate) struct Epoch {
    /// Epoch of the process being read in Unix ns; 0 if its header has none.
    own: u64,
    earliest: Option<u64>,
}

/// From the first call to the last, Unix nanoseconds.
#[derive(Clone)]
pub(crate) struct TimeRange {
    first: u64,
    last: u64,
}

impl Default for TimeRange {
    fn default() -> TimeRange {
        TimeRange { first: u64::MAX, last: 0 }
    }
}

impl Epoch {
    /// Begins a process with this epoch.
    pub(crate) fn begin(&mut self, epoch: &str) {
        let epoch = epoch.parse().ok();
        self.own = epoch.unwrap_or(0);
        self.earliest = self.earliest.into_iter().chain(epoch).min();
    }

    /// Returns the earliest epoch, as traces write it.
    pub(crate) fn earliest(&self) -> Option<String> {
        self.earliest.map(|epoch| epoch.to_string())
    }
}

impl TimeRange {
    /// Adds a call of the process being read.
    #[inline]
    pub(crate) fn add(&mut self, epoch: &Epoch, call: &Call) {
        let t = epoch.own.saturating_add(call.t);
        self.first = self.first.min(t);
        self.last = self.last.max(t.saturating_add(call.dur));
    }

    /// Returns begin and end since the earliest epoch; `None` without calls.
    pub(crate) fn since(&self, epoch: &Epoch) -> Option<(u64, u64)> {
        let zero = epoch.earliest.unwrap_or(0);
        (self.first <= self.last).then(|| (self.first.saturating_sub(zero), self.last.saturating_sub(zero)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_two_processes_are_since_the_earlier_epoch() {
        let call = |t, dur| Call { t, dur, ..Call::default() };
        let (mut epoch, mut both, mut none) = (Epoch::default(), TimeRange::default(), TimeRange::default());
        assert_eq!((epoch.earliest(), none.since(&epoch)), (None, None));
        epoch.begin("1000005000");
        both.add(&epoch, &call(300, 20));
        // This one began 4 µs before.
        epoch.begin("1000001000");
        both.add(&epoch, &call(1000, 10));
        both.add(&epoch, &call(2000, 10));
        // 1000001000 + 1000; 1000005000 + 300 + 20.
        assert_eq!(both.since(&epoch), Some((1000, 4320)));
        assert_eq!(epoch.earliest().as_deref(), Some("1000001000"));
        none.add(&epoch, &call(u64::MAX, u64::MAX));
        assert!(none.since(&epoch).is_some(), "damaged times do not overflow");
    }
}
