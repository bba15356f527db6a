//! Sums up the time in which a device or queue was busy.
//!
//! Memory is bounded: beyond [`KEPT`] intervals the earlier half is replaced by its sum. A later
//! command that began before that counts from there on, and is counted as late.

/// Limit of the kept intervals, and of new ones before they are merged.
const KEPT: usize = 1 << 16;

/// Intervals in which a device or queue was busy.
#[derive(Clone, Default)]
pub(super) struct Busy {
    intervals: Vec<(u64, u64)>,
    /// Number of intervals that are sorted and disjoint already.
    merged: usize,
    /// Time before which intervals are replaced by their sum.
    since: u64,
    summed_ns: u64,
    first: Option<u64>,
    end: u64,
    /// Commands that began before `since`, and were added after it was set.
    late: u64,
}

impl Busy {
    /// Adds a command; returns the time before which to sum up if there are too many intervals.
    pub(super) fn add(&mut self, begin: u64, end: u64) -> Option<u64> {
        self.first = Some(self.first.map_or(begin, |first| first.min(begin)));
        self.end = self.end.max(end);
        self.late += u64::from(begin < self.since);
        if end <= self.since {
            return None;
        }
        self.intervals.push((begin.max(self.since), end));
        if self.intervals.len() - self.merged < KEPT {
            return None;
        }
        self.merge();
        (self.intervals.len() > KEPT).then(|| self.intervals[self.intervals.len() / 2].0)
    }

    fn merge(&mut self) {
        self.intervals.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(self.intervals.len());
        for (begin, end) in self.intervals.drain(..) {
            match merged.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((begin, end)),
            }
        }
        self.intervals = merged;
        self.merged = self.intervals.len();
    }

    /// Sums up the intervals before `since`; returns these, sorted and disjoint.
    pub(super) fn sum_up_before(&mut self, since: u64) -> Vec<(u64, u64)> {
        self.merge();
        let mut left = self.intervals.split_off(self.intervals.partition_point(|(begin, _)| *begin < since));
        let mut taken = std::mem::take(&mut self.intervals);
        if let Some(last) = taken.last_mut().filter(|(_, end)| *end > since) {
            left.insert(0, (since, last.1));
            last.1 = since;
        }
        (self.intervals, self.since) = (left, since);
        self.merged = self.intervals.len();
        self.summed_ns += taken.iter().map(|(begin, end)| end - begin).sum::<u64>();
        taken
    }

    /// Returns the busy time, the time from the first begin to the last end, and the number of late
    /// commands.
    pub(super) fn total(&mut self) -> (u64, u64, u64) {
        self.merge();
        let kept: u64 = self.intervals.iter().map(|(begin, end)| end - begin).sum();
        (self.summed_ns + kept, self.end - self.first.unwrap_or(self.end), self.late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_summed_up_is_counted_once_and_what_comes_late_is_counted_as_late() {
        let mut busy = Busy::default();
        let added = [(10, 20), (15, 30), (40, 50)].map(|(begin, end)| busy.add(begin, end));
        assert_eq!(added, [None; 3]);
        assert_eq!(busy.sum_up_before(45), [(10, 30), (40, 45)]);
        assert_eq!(busy.total(), (30, 40, 0));
        busy.add(5, 8);
        busy.add(42, 60);
        assert_eq!(busy.total(), (25 + 15, 55, 2));
        assert_eq!(busy.sum_up_before(u64::MAX), [(45, 60)]);
    }

    #[test]
    fn memory_is_bounded_however_many_commands_come() {
        let mut busy = Busy::default();
        for at in 0..5 * KEPT as u64 {
            if let Some(since) = busy.add(10 * at, 10 * at + 5) {
                busy.sum_up_before(since);
            }
            assert!(busy.intervals.len() <= 2 * KEPT);
        }
        assert_eq!(busy.total(), (25 * KEPT as u64, 50 * KEPT as u64 - 5, 0));
    }
}
