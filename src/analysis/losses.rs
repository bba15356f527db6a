//! Lists what is missing from traces: lost events by thread and reason, and calls in flight when a
//! process died.

use super::{interner::Interner, names, session::ProcessId};
use rocshim_trace::{Call, Gap, Word};
use serde::Serialize;

/// Events that a thread lost for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossRow {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// `ring_full`, `overwritten`, `no_memory`, …: as in the trace.
    pub reason: Word,
    /// Number of events.
    pub lost: u64,
    /// Number of gaps: runs of consecutive lost events.
    pub gaps: u64,
    /// When the first was lost, since the process's epoch.
    pub first_ns: u64,
    /// When the last was lost.
    pub last_ns: u64,
}

crate::table! {
    /// Lost events, most events first.
    LOSSES: LossRow = "losses", "Lost events", "events of a thread that were lost for one reason";
    |row|
    count("lost", "lost", "events") => row.lost;
    count("gaps", "gaps", "stretches of lost events") => row.gaps;
    number("pid", "pid", "the process") => row.pid;
    number("tid", "thread", "the thread") => row.tid;
    time("first_ns", "from", "when the first was lost").no_sum() => row.first_ns;
    time("last_ns", "to", "when the last was lost").no_sum() => row.last_ns;
    words("reason", "reason", "ring_full, overwritten, no_memory, …: as in the trace").name() => &row.reason;
}

/// A call in flight when its process died.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InFlightRow {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The function that was called.
    pub function: String,
    /// The subject of the call: the kernel, the sizes.
    pub what: String,
    /// When it was entered, since the process's epoch.
    pub t_ns: u64,
    /// True for a call inside another hooked call.
    pub nested: bool,
}

crate::table! {
    /// Calls that had not returned when the process died.
    IN_FLIGHT: InFlightRow = "in_flight", "In flight when the process died", "a call that had not returned";
    |row|
    number("pid", "pid", "the process") => row.pid;
    number("tid", "thread", "the thread") => row.tid;
    time("t_ns", "since", "when it was entered").no_sum() => row.t_ns;
    code("function", "function", "the function that was called").name() => names::function(&row.function);
    words("what", "what", "what it was called for: the kernel, the sizes")
        => format!("{}{}", row.what, if row.nested { " (inside another call)" } else { "" });
}

impl InFlightRow {
    /// Creates the row of a call that had not returned when the process died; `what` describes it.
    pub fn new(pid: u32, call: &Call, function: &str, what: String) -> Self {
        InFlightRow {
            pid,
            tid: call.tid,
            function: function.to_string(),
            what,
            t_ns: call.t,
            nested: call.parent.is_some(),
        }
    }
}

/// All losses.
#[derive(Clone, Default)]
pub(crate) struct Losses(Interner<(ProcessId, u32, Word), LossRow>);

impl Losses {
    /// Counts a gap of a process.
    pub(crate) fn count(&mut self, process: ProcessId, pid: u32, gap: &Gap) {
        let row = self.0.value((process, gap.tid, gap.reason.clone()), || LossRow {
            pid,
            tid: gap.tid,
            reason: gap.reason.clone(),
            lost: 0,
            gaps: 0,
            first_ns: gap.t,
            last_ns: gap.t,
        });
        row.lost += gap.lost;
        row.gaps += 1;
        row.first_ns = row.first_ns.min(gap.t);
        row.last_ns = row.last_ns.max(gap.t + gap.dur);
    }

    /// Returns the number of lost events.
    pub(crate) fn total(&self) -> u64 {
        self.0.values().iter().map(|row| row.lost).sum()
    }

    /// Every row, most events first.
    pub(crate) fn rows(&self) -> Vec<LossRow> {
        let mut rows = self.0.values().to_vec();
        rows.sort_by(|a, b| b.lost.cmp(&a.lost).then_with(|| (a.pid, a.tid).cmp(&(b.pid, b.tid))));
        rows
    }
}
