//! Events in the order of their ends, whichever threads made them.
//!
//! A trace has each thread's calls in the order in which they returned; threads follow one another as the collector looked at
//! their rings. What one thread did between two looks is therefore written before what another did at the same time. An event
//! waits here until something was read that ended two seconds later: the collector looks more often than that.

use rocshim_trace::{Call, Record};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// How much later something else must have ended, in ns.
const PATIENCE: u64 = 2_000_000_000;
/// So many events wait at most, some 50 MiB; a process that makes as many in two seconds is looked at all the time.
const MOST: usize = 100_000;

struct Waiting {
    end: u64,
    /// Its place in the trace.
    number: u64,
    record: Record,
}

/// Those that wait.
#[derive(Default)]
pub(super) struct InTime {
    waiting: BinaryHeap<Reverse<Waiting>>,
    number: u64,
    latest: u64,
}

impl InTime {
    /// An event that ended at `end`.
    pub(super) fn push(&mut self, end: u64, record: Record) {
        self.number += 1;
        self.latest = self.latest.max(end);
        self.waiting.push(Reverse(Waiting { end, number: self.number, record }));
    }

    /// The first one, if nothing before it can come; at the end of the trace nothing can.
    pub(super) fn pop(&mut self, at_end: bool) -> Option<Record> {
        let first = self.waiting.peek()?.0.end;
        let is_due = at_end || self.waiting.len() > MOST || self.latest.saturating_sub(first) > PATIENCE;
        is_due.then(|| self.waiting.pop())?.map(|Reverse(waiting)| waiting.record)
    }
}

/// When an event ended; `None` for a record that is none.
pub(super) fn end_of(record: &Record) -> Option<u64> {
    let of_call = |call: &Call| call.t.saturating_add(call.dur);
    match record {
        Record::Gap(gap) => Some(gap.t.saturating_add(gap.dur)),
        _ => record.call().map(of_call),
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        (self.end, self.number).cmp(&(other.end, other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_trace::Sync;

    fn event(tid: u32, t: u64) -> Record {
        Record::Sync(Sync { call: Call { tid, t, dur: 5, ..Call::default() }, ..Sync::default() })
    }

    fn popped(in_time: &mut InTime, at_end: bool) -> Vec<(u32, u64)> {
        let of = |record: Record| record.call().map(|call| (call.tid, call.t));
        std::iter::from_fn(|| in_time.pop(at_end)).filter_map(of).collect()
    }

    #[test]
    fn threads_that_were_looked_at_one_after_the_other_are_merged() {
        let mut in_time = InTime::default();
        for (tid, t) in [(1, 10), (1, 30), (2, 20), (2, 40), (1, PATIENCE + 25)] {
            let record = event(tid, t);
            in_time.push(end_of(&record).unwrap(), record);
        }
        // The last one ended PATIENCE + 30: what ended before 30 is due, which is what was entered at 10 and 20.
        assert_eq!(popped(&mut in_time, false), [(1, 10), (2, 20)]);
        assert_eq!(popped(&mut in_time, true), [(1, 30), (2, 40), (1, PATIENCE + 25)]);
    }

    #[test]
    fn no_more_wait_than_may() {
        let mut in_time = InTime::default();
        (0..=MOST as u64).for_each(|t| in_time.push(t, event(1, t)));
        assert_eq!(popped(&mut in_time, false), [(1, 0)]);
    }
}
