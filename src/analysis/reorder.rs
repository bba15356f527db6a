//! A reorder buffer: delivers events in the order of their ends, across threads.
//!
//! A trace has each thread's calls in the order in which they returned; threads follow one another
//! as the collector polled their rings. So what one thread did between two polls is written before
//! what another did at the same time. An event waits here until one was read that ended two seconds
//! later: the collector polls more often than that.

use foldhash::HashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// An event is delivered once another one was read that ended this much later, ns.
const PATIENCE: u64 = 2_000_000_000;
/// Limit of the waiting events, some 50 MiB; a process that makes that many in two seconds is
/// polled continuously.
const MOST: usize = 50_000;

/// The waiting events.
#[derive(Clone)]
pub(crate) struct ReorderBuffer<T> {
    /// By thread, in the order in which they ended, each with its end.
    threads: HashMap<u32, VecDeque<(u64, T)>>,
    /// The first waiting event of each thread: its end, and the thread.
    first: BinaryHeap<Reverse<(u64, u32)>>,
    waiting: usize,
    latest: u64,
}

impl<T> Default for ReorderBuffer<T> {
    fn default() -> ReorderBuffer<T> {
        ReorderBuffer { threads: HashMap::default(), first: BinaryHeap::new(), waiting: 0, latest: 0 }
    }
}

impl<T> ReorderBuffer<T> {
    /// Adds an event of a thread that ended at `end`, ns since the epoch.
    pub(crate) fn push(&mut self, thread: u32, end: u64, event: T) {
        self.latest = self.latest.max(end);
        self.waiting += 1;
        let queue = self.threads.entry(thread).or_default();
        if queue.is_empty() {
            self.first.push(Reverse((end, thread)));
        }
        queue.push_back((end, event));
    }

    /// Removes the first event if no earlier one can follow, as at the end of the trace.
    pub(crate) fn pop(&mut self, at_end: bool) -> Option<T> {
        let Reverse((end, thread)) = *self.first.peek()?;
        let is_due = at_end || self.waiting > MOST || self.latest.saturating_sub(end) > PATIENCE;
        if !is_due {
            return None;
        }
        self.first.pop();
        self.waiting -= 1;
        let queue = self.threads.get_mut(&thread)?;
        let (_, event) = queue.pop_front()?;
        match queue.front() {
            Some((next, _)) => self.first.push(Reverse((*next, thread))),
            None => drop(self.threads.remove(&thread)),
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn popped(buffer: &mut ReorderBuffer<(u32, u64)>, at_end: bool) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| buffer.pop(at_end)).collect()
    }

    #[test]
    fn threads_that_were_polled_one_after_the_other_are_merged() {
        let mut buffer = ReorderBuffer::default();
        for (tid, end) in [(1, 10), (1, 30), (2, 20), (2, 40), (1, PATIENCE + 25)] {
            buffer.push(tid, end, (tid, end));
        }
        // What ended more than PATIENCE before the last one is due.
        assert_eq!(popped(&mut buffer, false), [(1, 10), (2, 20)]);
        assert_eq!(popped(&mut buffer, true), [(1, 30), (2, 40), (1, PATIENCE + 25)]);
    }

    #[test]
    fn the_buffer_is_bounded() {
        let mut buffer = ReorderBuffer::default();
        (0..=MOST as u64).for_each(|end| buffer.push(1, end, (1, end)));
        assert_eq!(popped(&mut buffer, false), [(1, 0)]);
    }
}
