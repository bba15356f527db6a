//! Assigns each GPU report to the recorded call that caused it, and determines whether that call is
//! in scope.
//!
//! A report names its call, or the number that another tool gave to that call; a *link* then
//! relates that number to the call. Reports, links and calls come from different threads, so each
//! may be read before what it refers to. The number of waiting reports is bounded: beyond that, a
//! report has no call.

use foldhash::HashMap;
use rocshim_trace::Gpu;

/// A recorded call: its thread and its id.
pub type CallKey = (u32, u64);

/// A link is kept until between one and two times this many others were read.
const LINKS: usize = 1 << 20;
/// Limit of the reports that wait for a link or a call.
const WAITING: usize = 1 << 18;

/// The reports of a process, by the key that each waits for.
#[derive(Clone)]
struct WaitingReports<K> {
    by_key: HashMap<K, Vec<Gpu>>,
    count: usize,
}

impl<K> Default for WaitingReports<K> {
    fn default() -> WaitingReports<K> {
        WaitingReports { by_key: HashMap::default(), count: 0 }
    }
}

impl<K: std::hash::Hash + Eq> WaitingReports<K> {
    /// Adds a report; returns all waiting reports if there would be too many.
    fn push(&mut self, key: K, report: Gpu) -> Vec<Gpu> {
        let all = if self.count < WAITING { Vec::new() } else { self.take_all() };
        self.by_key.entry(key).or_default().push(report);
        self.count += 1;
        all
    }

    fn take(&mut self, key: &K) -> Vec<Gpu> {
        let taken = match self.count {
            0 => None,
            _ => self.by_key.remove(key),
        };
        let taken = taken.unwrap_or_default();
        self.count -= taken.len();
        taken
    }

    fn take_all(&mut self) -> Vec<Gpu> {
        self.count = 0;
        self.by_key.drain().flat_map(|(_, reports)| reports).collect()
    }
}

/// The links of a process between another tool's numbers and recorded calls.
#[derive(Clone, Default)]
pub(super) struct Ties {
    /// Calls by their number, `None` if several have it: the latest, and the generation before
    /// them.
    links: [HashMap<u64, Option<CallKey>>; 2],
    unlinked: WaitingReports<u64>,
    /// True if two calls have the same number, so assignments by number may be wrong.
    pub(super) is_ambiguous: bool,
}

impl Ties {
    /// Handles a report or a link; passes each decided report to `take`, with its call if a
    /// recorded call caused it.
    pub(super) fn tie(&mut self, report: &Gpu, mut take: impl FnMut(&Gpu, Option<CallKey>)) {
        if report.op == "link" {
            let Some(call) = report.of.filter(|_| report.other != 0) else { return };
            self.link(report.other, call);
            self.unlinked.take(&report.other).iter().for_each(|report| take(report, Some(call)));
            return;
        }
        match self.call(report.other) {
            _ if report.of.is_some() || report.other == 0 => take(report, report.of),
            Some(call) => take(report, call),
            None => {
                let given_up = self.unlinked.push(report.other, report.clone());
                given_up.iter().for_each(|report| take(report, None));
            }
        }
    }

    fn link(&mut self, number: u64, call: CallKey) {
        if self.links[0].len() >= LINKS {
            self.links.swap(0, 1);
            self.links[0].clear();
        }
        let is_other = self.call(number).is_some_and(|known| known != Some(call));
        self.is_ambiguous |= is_other;
        self.links[0].insert(number, Some(call).filter(|_| !is_other));
    }

    /// Returns the call with this number: `Some(None)` if several have it, `None` if none has.
    fn call(&self, number: u64) -> Option<Option<CallKey>> {
        self.links.iter().find_map(|links| links.get(&number).copied())
    }

    /// Passes on the reports whose links are not in the trace.
    pub(super) fn end(&mut self, mut take: impl FnMut(&Gpu)) {
        self.unlinked.take_all().iter().for_each(&mut take);
    }
}

/// The calls of a thread that are in scope, as the ids at which that changes.
#[derive(Clone, Default)]
struct Thread {
    last: u64,
    changes: Vec<(u64, bool)>,
}

/// The reports of a process in a reading with a scope: a report is in scope if its call is.
#[derive(Clone, Default)]
pub(super) struct ScopedReports {
    threads: HashMap<u32, Thread>,
    uncalled: WaitingReports<CallKey>,
}

impl ScopedReports {
    /// Notes a call that was read; returns the reports that waited for it.
    pub(super) fn call(&mut self, (tid, id): CallKey, is_in_scope: bool) -> Vec<Gpu> {
        let thread = self.threads.entry(tid).or_default();
        // A call that encloses others returns after them, and requests no command itself.
        if id > thread.last {
            thread.last = id;
            if thread.changes.last().is_none_or(|(_, was)| *was != is_in_scope) {
                thread.changes.push((id, is_in_scope));
            }
        }
        self.uncalled.take(&(tid, id))
    }

    /// Returns whether a call is in scope; `None` if it was not read yet.
    pub(super) fn is_in_scope(&self, (tid, id): CallKey) -> Option<bool> {
        let thread = self.threads.get(&tid).filter(|thread| id <= thread.last)?;
        let before = thread.changes.partition_point(|(first, _)| *first <= id);
        before.checked_sub(1).map(|at| thread.changes[at].1)
    }

    /// Keeps a report until its call is read; returns the reports that are dropped for it.
    pub(super) fn wait(&mut self, call: CallKey, report: Gpu) -> Vec<Gpu> {
        self.uncalled.push(call, report)
    }

    /// Removes the reports whose calls are not in the trace.
    pub(super) fn end(&mut self) -> Vec<Gpu> {
        self.uncalled.take_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_number(other: u64, begin: u64) -> Gpu {
        Gpu { op: "dispatch".into(), other, begin, ..Gpu::default() }
    }

    fn link(other: u64, id: u64) -> Gpu {
        Gpu { op: "link".into(), of: Some((7, id)), other, ..Gpu::default() }
    }

    /// Returns begin and call of each report, in the order in which they are decided.
    fn tied(reports: &[Gpu]) -> (Vec<(u64, Option<CallKey>)>, bool) {
        let (mut ties, mut tied) = (Ties::default(), Vec::new());
        reports.iter().for_each(|report| ties.tie(report, |report, call| tied.push((report.begin, call))));
        ties.end(|report| tied.push((report.begin, None)));
        (tied, ties.is_ambiguous)
    }

    #[test]
    fn a_report_by_the_number_of_another_tool_has_its_call_before_and_after_the_link() {
        let reports = [by_number(40, 1), link(40, 1), link(41, 2), by_number(41, 2), by_number(42, 3)];
        assert_eq!(tied(&reports), (vec![(1, Some((7, 1))), (2, Some((7, 2))), (3, None)], false));
    }

    #[test]
    fn a_number_of_two_calls_is_ambiguous_and_zero_is_none() {
        let of_two = [link(40, 1), link(40, 2), by_number(40, 1), link(40, 2), by_number(40, 2)];
        assert_eq!(tied(&of_two), (vec![(1, None), (2, None)], true));
        assert!(!tied(&[link(40, 1), link(40, 1)]).1);
        assert_eq!(tied(&[link(0, 1), by_number(0, 1)]), (vec![(1, None)], false));
    }

    #[test]
    fn a_report_is_in_scope_where_its_call_is() {
        let mut scoped = ScopedReports::default();
        assert_eq!(scoped.is_in_scope((7, 2)), None);
        assert!(scoped.wait((7, 2), by_number(0, 5)).is_empty());
        for (id, is_in_scope, waited) in [(1, false, 0), (2, true, 1), (3, true, 0), (5, false, 0)] {
            assert_eq!(scoped.call((7, id), is_in_scope).len(), waited);
        }
        let of = [1, 2, 3, 4, 5, 6].map(|id| scoped.is_in_scope((7, id)));
        assert_eq!(of, [Some(false), Some(true), Some(true), Some(true), Some(false), None]);
        assert!(scoped.end().is_empty());
    }
}
