//! Host times of calls of one kind. The first call in each process is apart, because it may load
//! code: a single one can take longer than all others together.

use super::{durations::Durations, session::ProcessId};
use serde::Serialize;

/// Host times of calls of one kind, beside their total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostTimes {
    /// Host time of the first call in each process, in ns: it may load code.
    pub first_calls_ns: u64,
    /// The median of the later calls in ns (right to 0.8 %); absent without a later call.
    pub median_ns: Option<u64>,
    /// What 99 of 100 of them did not exceed, in ns (right to 0.8 %).
    pub p99_ns: Option<u64>,
    /// The longest of them, in ns.
    pub max_ns: Option<u64>,
}

/// Counts the host times of calls of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostTimesBuilder {
    /// The process whose first call is counted.
    process: Option<ProcessId>,
    first_calls_ns: u64,
    later_ns: u64,
    max_ns: u64,
    durations: Durations,
}

impl HostTimesBuilder {
    /// Counts a call of `process` that took `ns`. Only of one that did its work (`is_timed`) the
    /// length counts for median, p99 and maximum.
    pub(crate) fn add(&mut self, process: ProcessId, ns: u64, is_timed: bool) {
        if self.process.replace(process) != Some(process) {
            self.first_calls_ns += ns;
            return;
        }
        self.later_ns += ns;
        if is_timed {
            self.max_ns = self.max_ns.max(ns);
            self.durations.add(ns);
        }
    }

    /// Host time of all calls but the first ones.
    pub(crate) fn later_ns(&self) -> u64 {
        self.later_ns
    }

    /// Host time of all calls.
    pub(crate) fn total_ns(&self) -> u64 {
        self.first_calls_ns + self.later_ns
    }

    /// The lengths of the later calls.
    pub(crate) fn durations(&self) -> &Durations {
        &self.durations
    }

    pub(crate) fn finish(&self) -> HostTimes {
        let quantile = |percent| self.durations.quantile(percent).map(|ns| ns.min(self.max_ns));
        HostTimes {
            first_calls_ns: self.first_calls_ns,
            median_ns: quantile(50),
            p99_ns: quantile(99),
            max_ns: (self.durations.calls() > 0).then_some(self.max_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interner::Id;

    #[test]
    fn the_first_call_in_each_process_is_apart() {
        let mut times = HostTimesBuilder::default();
        let [a, b] = [0, 1].map(ProcessId::at);
        let alone = times.finish();
        assert_eq!((alone.first_calls_ns, alone.median_ns, alone.max_ns), (0, None, None));
        for (process, ns) in [(a, 9_000_000), (a, 3), (a, 5), (b, 7_000_000), (b, 4)] {
            times.add(process, ns, true);
        }
        times.add(b, 60, false);
        let found = times.finish();
        assert_eq!((found.first_calls_ns, times.later_ns(), times.total_ns()), (16_000_000, 72, 16_000_072));
        assert_eq!((found.median_ns, found.p99_ns, found.max_ns), (Some(4), Some(5), Some(5)));
    }
}
