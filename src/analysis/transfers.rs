//! Copies by direction, and calls that wait or order streams.

use super::{interner::Interner, table::Cell, units};
use rocshim_trace::{Call, Copy, Sync, Word};
use serde::Serialize;

/// Copies of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyRow {
    /// `copy` or `memset`.
    pub action: Word,
    /// `h2d`, `d2h`, …; absent for memory sets, and when unknown.
    pub kind: Option<Word>,
    /// True for functions that do not wait.
    pub is_async: bool,
    /// Numbers of calls and their host time.
    #[serde(flatten)]
    pub counts: Counts,
    /// Bytes of the calls that succeeded and were executed.
    pub bytes: u64,
    /// Number of these whose bytes are unknown, because an array's element size is.
    pub unmeasured: u64,
}

crate::table! {
    /// The copies, longest host time first.
    COPIES: CopyRow = "copies", "Copies (host time of the calls)", "copies of one kind";
    |row|
    count("calls", "calls", "calls, failed and captured ones among them") => row.counts.calls;
    count("failed", "failed", "calls that returned an error").if_any() => row.counts.failed;
    count("captured", "captured", "calls that were recorded into a graph instead").if_any()
        => row.counts.captured;
    time("total_ns", "total", "host time of all calls") => row.counts.total_ns;
    time("mean_ns", "mean", "host time of a call").derived().no_sum().optional() => row.counts.mean_ns();
    bytes("bytes", "size", "bytes of the calls that succeeded; +: of some calls they are not known")
        => Cell::Shown(row.size(), row.bytes);
    words("action", "what", "copy or memset, the direction (kind), and whether it waits (is_async)").name()
        => row.what();
}

impl CopyRow {
    fn size(&self) -> String {
        format!("{}{}", units::bytes(self.bytes), if self.unmeasured > 0 { "+" } else { "" })
    }

    fn what(&self) -> String {
        let what = self.kind.as_ref().map_or_else(String::new, |kind| format!(" {kind}"));
        format!("{}{what}{}", self.action, if self.is_async { ", async" } else { "" })
    }
}

/// Calls of one kind that wait or order streams.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SyncRow {
    /// `device`, `stream`, `event`, `wait_event` or `record_event`.
    pub action: Word,
    /// Numbers of calls and their host time.
    #[serde(flatten)]
    pub counts: Counts,
    /// The longest call.
    pub max_ns: u64,
}

crate::table! {
    /// The calls that wait, longest host time first.
    SYNCS: SyncRow = "syncs", "Waiting and ordering (host time of the calls)",
        "calls that wait for one kind of thing, or order it";
    |row|
    count("calls", "calls", "calls, failed and captured ones among them") => row.counts.calls;
    count("failed", "failed", "calls that returned an error").if_any() => row.counts.failed;
    count("captured", "captured", "calls that were recorded into a graph instead").if_any()
        => row.counts.captured;
    time("total_ns", "total", "host time of all calls") => row.counts.total_ns;
    time("mean_ns", "mean", "host time of a call").derived().no_sum().optional() => row.counts.mean_ns();
    time("max_ns", "longest", "the longest call").no_sum() => row.max_ns;
    words("action", "what", "what waits for what").name() => match row.action.as_str() {
        "device" => "the host waits for the device",
        "stream" => "the host waits for a stream",
        "event" => "the host waits for an event",
        "wait_event" => "a stream is to wait for an event",
        "record_event" => "an event is recorded",
        other => other,
    };
}

/// Counts of calls.
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
    /// Host time of a call.
    fn mean_ns(&self) -> u64 {
        self.total_ns / self.calls.max(1)
    }
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
