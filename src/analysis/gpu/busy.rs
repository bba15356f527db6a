//! For how long a device was busy.

/// Intervals in which a device was busy.
#[derive(Clone, Default)]
pub(super) struct Busy {
    intervals: Vec<(u64, u64)>,
    /// How many are sorted and apart already.
    merged: usize,
}

/// So many new intervals are merged at once.
const MERGE: usize = 1 << 16;

impl Busy {
    pub(super) fn add(&mut self, begin: u64, end: u64) {
        self.intervals.push((begin, end));
        if self.intervals.len() - self.merged >= MERGE {
            self.merge();
        }
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

    /// Returns the intervals, sorted and apart.
    pub(super) fn into_intervals(mut self) -> Vec<(u64, u64)> {
        self.merge();
        self.intervals
    }

    /// For how long it was busy, and from when to when.
    pub(super) fn total(&mut self) -> (u64, u64) {
        self.merge();
        let busy = self.intervals.iter().map(|(begin, end)| end - begin).sum();
        let span =
            self.intervals.first().zip(self.intervals.last()).map_or(0, |(first, last)| last.1 - first.0);
        (busy, span)
    }
}
