//! Copies by direction, and calls that wait or order streams.

use super::interner::Interner;
use rocshim_trace::{Call, Copy, Sync, Word};
use serde::Serialize;

/// Copies of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyRow {
    /// `copy` or `memset`.
    pub action: Word,
    /// `h2d`, `d2h`, …; absent for memory sets, and when unknown.
    pub kind: Option<Word>,
    /// By the functions that do not wait.
    pub is_async: bool,
    #[serde(flatten)]
    pub counts: Counts,
    /// Bytes of the calls that succeeded and were executed.
    pub bytes: u64,
    /// Those of them whose bytes are not known: an array's elements.
    pub unmeasured: u64,
}

/// Calls of one kind that wait or order streams.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SyncRow {
    /// `device`, `stream`, `event`, `wait_event` or `record_event`.
    pub action: Word,
    #[serde(flatten)]
    pub counts: Counts,
    /// The longest call.
    pub max_ns: u64,
}

/// What is counted of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Calls, failed and captured ones among them.
    pub calls: u64,
    /// Calls that returned an error.
    pub failed: u64,
    /// Calls that were recorded into a graph instead of being executed.
    pub captured: u64,
    /// Host time of all calls.
    pub total_ns: u64,
}

impl Counts {
    fn count(&mut self, call: &Call, capture: Option<u32>) {
        self.calls += 1;
        self.failed += u64::from(call.status != 0 || call.unwound);
        self.captured += u64::from(capture.is_some());
        self.total_ns += call.dur;
    }
}

/// All copies.
#[derive(Clone, Default)]
pub(crate) struct Copies(Interner<(Word, Option<Word>, bool), CopyRow>);

impl Copies {
    /// Counts a copy.
    pub(crate) fn count(&mut self, copy: &Copy) {
        let key = (copy.action.clone(), copy.kind.clone(), copy.is_async);
        let row = self.0.value(key, || CopyRow {
            action: copy.action.clone(),
            kind: copy.kind.clone(),
            is_async: copy.is_async,
            counts: Counts::default(),
            bytes: 0,
            unmeasured: 0,
        });
        row.counts.count(&copy.call, copy.capture);
        if copy.call.status == 0 && copy.capture.is_none() {
            row.bytes += copy.bytes.unwrap_or(0);
            row.unmeasured += u64::from(copy.bytes.is_none());
        }
    }

    /// Every row, longest host time first.
    pub(crate) fn rows(&self) -> Vec<CopyRow> {
        let mut rows = self.0.values().to_vec();
        rows.sort_by_key(|row| std::cmp::Reverse(row.counts.total_ns));
        rows
    }
}

/// All calls that wait or order streams.
#[derive(Clone, Default)]
pub(crate) struct Syncs(Interner<Word, SyncRow>);

impl Syncs {
    /// Counts a call.
    pub(crate) fn count(&mut self, sync: &Sync) {
        let make = || SyncRow { action: sync.action.clone(), counts: Counts::default(), max_ns: 0 };
        let row = self.0.value(sync.action.clone(), make);
        row.counts.count(&sync.call, sync.capture);
        row.max_ns = row.max_ns.max(sync.call.dur);
    }

    /// Every row, longest host time first.
    pub(crate) fn rows(&self) -> Vec<SyncRow> {
        let mut rows = self.0.values().to_vec();
        rows.sort_by_key(|row| std::cmp::Reverse(row.counts.total_ns));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_that_moved_are_counted() {
        let call = |status| Call { dur: 5, status, ..Call::default() };
        let copy = |status, bytes, capture| Copy {
            call: call(status),
            action: "copy".into(),
            kind: Some("d2h".into()),
            bytes,
            capture,
            ..Copy::default()
        };
        let mut copies = Copies::default();
        [
            copy(0, Some(10), None),
            copy(1, Some(100), None),
            copy(0, Some(1000), Some(3)),
            copy(0, None, None),
        ]
        .iter()
        .for_each(|copy| copies.count(copy));
        let row = &copies.rows()[0];
        assert_eq!(row.counts, Counts { calls: 4, failed: 1, captured: 1, total_ns: 20 });
        assert_eq!((row.bytes, row.unmeasured), (10, 1));
    }
}
