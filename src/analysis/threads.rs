//! Each thread's calls, the time inside them, and the time between them.

use super::{interner::Interner, units};
use rocshim_trace::Call;
use serde::Serialize;

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ThreadRow {
    /// Its process.
    pub pid: u32,
    /// Its thread id.
    pub tid: u32,
    /// Events, including those inside other calls.
    pub events: u64,
    /// Calls that the program itself made, without those inside other calls.
    pub calls: u64,
    /// Time inside them.
    pub in_calls_ns: u64,
    /// When the first was entered, since the process's epoch.
    pub first_ns: u64,
    /// When the last returned.
    pub last_ns: u64,
    /// The longest time between two of them.
    pub longest_gap_ns: u64,
    /// When that began.
    pub(crate) longest_gap_at_ns: u64,
}

crate::table! {
    /// The threads.
    THREADS: ThreadRow = "threads", "Threads (calls: made by the program itself; gap: between two calls)",
        "a thread";
    |row|
    number("pid", "pid", "the process") => row.pid;
    number("tid", "thread", "its number") => row.tid;
    count("events", "events", "its events, those inside another call among them") => row.events;
    count("calls", "calls", "calls that the program made itself") => row.calls;
    time("in_calls_ns", "in calls", "time inside them") => row.in_calls_ns;
    time("span_ns", "span", "from the first call to the return of the last").derived().no_sum().optional()
        => row.last_ns.saturating_sub(row.first_ns);
    time("longest_gap_ns", "longest gap", "the longest time between two calls").no_sum() => row.longest_gap_ns;
}

/// Times between two calls of a thread, grouped by duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GapRow {
    /// Lower bound of the duration, ns.
    pub from_ns: u64,
    /// Upper bound, exclusive, ns; absent for the longest.
    pub below_ns: Option<u64>,
    /// Number of such times.
    pub gaps: u64,
    /// Their sum, ns.
    pub total_ns: u64,
}

crate::table! {
    /// The times between calls by their lengths, each with the time of all.
    GAPS: (GapRow, u64) = "gaps",
        "Time between calls of a thread (the program's own work, and waiting outside HIP)",
        "times between two calls of a thread that are about as long";
    |row|
    count("gaps", "gaps", "how many") => row.0.gaps;
    time("total_ns", "together", "their time together") => row.0.total_ns;
    share("share", "share", "that as a part of all time between calls").derived()
        => row.0.total_ns as f64 / row.1.max(1) as f64;
    words("from_ns", "length", "how long each is at least (from_ns), and less than (below_ns)").name()
        => row.0.length();
}

impl GapRow {
    fn length(&self) -> String {
        match self.below_ns {
            Some(below) if self.from_ns == 0 => format!("below {}", units::time(below)),
            Some(below) => format!("{} to {}", units::time(self.from_ns), units::time(below)),
            None => format!("{} and more", units::time(self.from_ns)),
        }
    }
}

/// Lengths of gaps: below 1 µs, 10 µs, … 1 s, and beyond.
const STEPS: [u64; 7] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// Numbers and sums of gaps by duration, over all threads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps([(u64, u64); STEPS.len() + 1]);

impl Gaps {
    fn count(&mut self, gap: u64) {
        let (gaps, total) = &mut self.0[STEPS.iter().take_while(|step| gap >= **step).count()];
        (*gaps, *total) = (*gaps + 1, *total + gap);
    }

    /// Adds the gaps of another count.
    pub(crate) fn add(&mut self, other: &Gaps) {
        for ((gaps, total), (more, longer)) in self.0.iter_mut().zip(other.0) {
            (*gaps, *total) = (*gaps + more, *total + longer);
        }
    }

    /// Returns a row for each duration that occurs, shortest first.
    pub(crate) fn rows(&self) -> Vec<GapRow> {
        let from = std::iter::once(0).chain(STEPS);
        let below = STEPS.into_iter().map(Some).chain([None]);
        let rows = from.zip(below).zip(self.0);
        rows.filter(|(_, (gaps, _))| *gaps > 0)
            .map(|((from_ns, below_ns), (gaps, total_ns))| GapRow { from_ns, below_ns, gaps, total_ns })
            .collect()
    }
}

/// The threads of a process.
#[derive(Clone, Default)]
pub(crate) struct Threads {
    rows: Interner<u32, ThreadRow>,
    /// Cache: the index of the last event's thread, because most events are of the same thread as
    /// the one before.
    last: usize,
    pub gaps: Gaps,
}

impl Threads {
    /// Counts an event; a thread's come in the order in which the calls returned.
    #[inline]
    pub(crate) fn count(&mut self, call: &Call) {
        if self.rows.values().get(self.last).is_none_or(|row| row.tid != call.tid) {
            let new = || ThreadRow { tid: call.tid, first_ns: u64::MAX, ..ThreadRow::default() };
            self.last = self.rows.number(call.tid, new);
        }
        let row = self.rows.get_mut(self.last);
        row.events += 1;
        if call.parent.is_some() {
            return;
        }
        if row.calls > 0 {
            // Time in which a thread lost events is reported as lost, not as a gap of the program.
            let gap = call.t.saturating_sub(row.last_ns);
            self.gaps.count(gap);
            if gap > row.longest_gap_ns {
                (row.longest_gap_ns, row.longest_gap_at_ns) = (gap, row.last_ns);
            }
        }
        row.calls += 1;
        row.in_calls_ns += call.dur;
        row.first_ns = row.first_ns.min(call.t);
        row.last_ns = row.last_ns.max(call.t + call.dur);
    }

    /// Returns the rows of process `pid`.
    pub(crate) fn rows(&self, pid: u32) -> impl Iterator<Item = ThreadRow> + '_ {
        let begun = |row: &ThreadRow| if row.calls == 0 { 0 } else { row.first_ns };
        self.rows.values().iter().map(move |row| ThreadRow { pid, first_ns: begun(row), ..row.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tid: u32, t: u64, dur: u64, parent: Option<u64>) -> Call {
        Call { tid, t, dur, parent, ..Call::default() }
    }

    #[test]
    fn calls_inside_another_are_no_calls_of_the_program_and_leave_no_gap() {
        let mut threads = Threads::default();
        // Thread 7: 100 to 200, then 1,200 to 1,700 with a call inside, then 1,700 to 1,710. Gaps:
        // 1,000 and 0.
        threads.count(&call(7, 100, 100, None));
        threads.count(&call(9, 150, 10, None));
        threads.count(&call(7, 1300, 50, Some(3)));
        threads.count(&call(7, 1200, 500, None));
        threads.count(&call(7, 1700, 10, None));
        // Thread 9: 150 to 160, then 5,000,160 to 5,000,161. A gap of 5 ms.
        threads.count(&call(9, 5_000_160, 1, None));
        let rows: Vec<ThreadRow> = threads.rows(4).collect();
        assert_eq!(rows.len(), 2);
        let seven = &rows[0];
        assert_eq!((seven.pid, seven.tid, seven.events, seven.calls), (4, 7, 4, 3));
        assert_eq!((seven.in_calls_ns, seven.first_ns, seven.last_ns), (610, 100, 1710));
        assert_eq!((seven.longest_gap_ns, seven.longest_gap_at_ns), (1000, 200));
        assert_eq!((rows[1].longest_gap_ns, rows[1].longest_gap_at_ns), (5_000_000, 160));
        let gap = |from_ns, below_ns, total_ns| GapRow { from_ns, below_ns, gaps: 1, total_ns };
        let expected = [
            gap(0, Some(1_000), 0),
            gap(1_000, Some(10_000), 1_000),
            gap(1_000_000, Some(10_000_000), 5_000_000),
        ];
        assert_eq!(threads.gaps.rows(), expected);
    }

    #[test]
    fn the_longest_gaps_have_no_upper_bound() {
        let mut gaps = Gaps::default();
        gaps.count(1_000_000_000);
        gaps.count(999_999_999);
        let mut more = Gaps::default();
        more.count(u64::MAX / 2);
        gaps.add(&more);
        let found: Vec<_> = gaps.rows().iter().map(|row| (row.from_ns, row.below_ns, row.gaps)).collect();
        assert_eq!(found, [(100_000_000, Some(1_000_000_000), 1), (1_000_000_000, None, 2)]);
    }
}
