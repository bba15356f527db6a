//! Events in the order of their ends, whichever threads made them.
//!
//! A trace has each thread's calls in the order in which they returned; threads follow one another as the collector looked at
//! their rings. What one thread did between two looks is therefore written before what another did at the same time. An event
//! waits here until something was read that ended two seconds later: the collector looks more often than that.

use foldhash::HashMap;
use rocshim_trace::{Call, Record};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How much later something else must have ended, in ns.
const PATIENCE: u64 = 2_000_000_000;
/// So many events wait at most, some 50 MiB; a process that makes as many in two seconds is looked at all the time.
const MOST: usize = 50_000;

/// Those that wait.
#[derive(Default)]
pub(super) struct InTime {
    /// By thread, in the order in which they returned, with when that was.
    threads: HashMap<u32, VecDeque<(u64, Record)>>,
    /// The first of each thread that has some: when it ended, and the thread.
    first: BinaryHeap<Reverse<(u64, u32)>>,
    waiting: usize,
    latest: u64,
}

impl InTime {
    /// An event of a thread that ended at `end`.
    pub(super) fn push(&mut self, thread: u32, end: u64, record: Record) {
        self.latest = self.latest.max(end);
        self.waiting += 1;
        let queue = self.threads.entry(thread).or_default();
        if queue.is_empty() {
            self.first.push(Reverse((end, thread)));
        }
        queue.push_back((end, record));
    }

    /// The first one, if nothing before it can come; at the end of the trace nothing can.
    pub(super) fn pop(&mut self, at_end: bool) -> Option<Record> {
        let Reverse((end, thread)) = *self.first.peek()?;
        let is_due = at_end || self.waiting > MOST || self.latest.saturating_sub(end) > PATIENCE;
        if !is_due {
            return None;
        }
        self.first.pop();
        self.waiting -= 1;
        let queue = self.threads.get_mut(&thread)?;
        let (_, record) = queue.pop_front()?;
        match queue.front() {
            Some((next, _)) => self.first.push(Reverse((*next, thread))),
            None => drop(self.threads.remove(&thread)),
        }
        Some(record)
    }
}

/// The thread of an event, and when it ended; `None` for a record that is none.
pub(super) fn end_of(record: &Record) -> Option<(u32, u64)> {
    let of_call = |call: &Call| (call.tid, call.t.saturating_add(call.dur));
    match record {
        Record::Gap(gap) => Some((gap.tid, gap.t.saturating_add(gap.dur))),
        _ => record.call().map(of_call),
    }
}

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
            let (thread, end) = end_of(&record).unwrap();
            in_time.push(thread, end, record);
        }
        // The last one ended PATIENCE + 30: what ended before 30 is due, which is what was entered at 10 and 20.
        assert_eq!(popped(&mut in_time, false), [(1, 10), (2, 20)]);
        assert_eq!(popped(&mut in_time, true), [(1, 30), (2, 40), (1, PATIENCE + 25)]);
    }

    #[test]
    fn no_more_wait_than_may() {
        let mut in_time = InTime::default();
        (0..=MOST as u64).for_each(|t| in_time.push(1, t, event(1, t)));
        assert_eq!(popped(&mut in_time, false), [(1, 0)]);
    }
}
