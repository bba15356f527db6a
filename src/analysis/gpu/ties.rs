//! The call that a report belongs to, also where another tool's number stands between them.

use foldhash::HashMap;
use rocshim_trace::Gpu;

/// A recorded call: its thread and its id.
pub(crate) type CallKey = (u32, u64);

/// The links of one process between another tool's numbers and recorded calls.
#[derive(Clone, Default)]
pub(crate) struct Ties {
    calls: HashMap<u64, CallKey>,
    /// Reports whose link has not been read yet, by the other tool's number.
    waiting: HashMap<u64, Vec<Gpu>>,
}

impl Ties {
    /// Hands on each report whose call is now decided: `report` itself, or those that waited for
    /// the link that it is. A report that no recorded call caused has `None`.
    pub(crate) fn tie(&mut self, report: &Gpu, mut take: impl FnMut(&Gpu, Option<CallKey>)) {
        if report.op == "link" {
            let Some(call) = report.of else { return };
            self.calls.insert(report.other, call);
            let waiting = self.waiting.remove(&report.other).unwrap_or_default();
            return waiting.iter().for_each(|report| take(report, Some(call)));
        }
        match report.of.or_else(|| self.calls.get(&report.other).copied()) {
            None if report.other != 0 => {
                self.waiting.entry(report.other).or_default().push(report.clone());
            }
            call => take(report, call),
        }
    }

    /// Hands on the reports whose link is not in the trace.
    pub(crate) fn end(&mut self, mut take: impl FnMut(&Gpu, Option<CallKey>)) {
        self.waiting.drain().for_each(|(_, reports)| reports.iter().for_each(|report| take(report, None)));
    }
}
