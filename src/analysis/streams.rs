//! Counts the commands on each stream.

use super::interner::Interner;
use foldhash::HashMap;
use rocshim_trace::{Call, Hex, Stream, StreamRef};
use serde::Serialize;

/// A stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamRow {
    /// Its process.
    pub pid: u32,
    /// Its id in the trace; 0 is the default stream.
    pub stream: StreamRef,
    /// Its handle (`hipStream_t`); absent for the default stream.
    pub handle: Option<Hex>,
    /// Launch calls, failed ones among them.
    pub launches: u64,
    /// Launch calls that were recorded into a graph instead of being executed.
    pub captured: u64,
    /// Launches of graphs.
    pub graph_launches: u64,
    /// Copies, and memory being set.
    pub copies: u64,
    /// Calls that wait for it, that make it wait, or that record an event on it.
    pub syncs: u64,
    /// When the first of these calls was entered, since the process's epoch.
    pub first_ns: u64,
    /// When the last returned.
    pub last_ns: u64,
}

crate::table! {
    /// The streams.
    STREAMS: StreamRow = "streams", "Streams (HIP calls, also those made inside library calls)",
        "a stream with what was submitted to it";
    |row|
    number("pid", "pid", "the process") => row.pid;
    words("handle", "stream", "its hipStream_t").name() => name(row.handle);
    count("launches", "launches", "launch calls, failed ones among them") => row.launches;
    count("captured", "captured", "calls that were recorded into a graph instead").if_any() => row.captured;
    count("graph_launches", "graphs", "launches of graphs").if_any() => row.graph_launches;
    count("copies", "copies", "copies, and memory being set") => row.copies;
    count("syncs", "waits, events", "calls that wait, that make it wait, or that record an event") => row.syncs;
    time("span_ns", "span", "from the first of these calls to the return of the last")
        .derived().no_sum().optional() => row.last_ns.saturating_sub(row.first_ns);
}

/// Handles of implicit streams: `hipStreamLegacy` and `hipStreamPerThread` of hip_runtime_api.h.
fn name(handle: Option<Hex>) -> String {
    match handle {
        None => "default".into(),
        Some(Hex(1)) => "legacy default".into(),
        Some(Hex(2)) => "per thread".into(),
        Some(handle) => handle.to_string(),
    }
}

/// The kind of work that a call submits to a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    Launch,
    Captured,
    GraphLaunch,
    Copy,
    Sync,
}

/// The streams of a process.
#[derive(Clone, Default)]
pub(crate) struct Streams {
    rows: Interner<StreamRef, StreamRow>,
    handles: HashMap<u32, Hex>,
    /// Cache: the index of the last call's stream, because most calls use the same stream as the
    /// one before.
    last: usize,
}

impl Streams {
    /// Adds the definition of a stream.
    pub(crate) fn define(&mut self, stream: &Stream) {
        self.handles.insert(stream.id, stream.handle);
    }

    /// Counts a call on a stream.
    #[inline]
    pub(crate) fn count(&mut self, stream: StreamRef, call: &Call, work: Work) {
        if self.rows.values().get(self.last).is_none_or(|row| row.stream != stream) {
            let new = || StreamRow { stream, first_ns: u64::MAX, ..StreamRow::default() };
            self.last = self.rows.number(stream, new);
        }
        let row = self.rows.get_mut(self.last);
        *match work {
            Work::Launch => &mut row.launches,
            Work::Captured => &mut row.captured,
            Work::GraphLaunch => &mut row.graph_launches,
            Work::Copy => &mut row.copies,
            Work::Sync => &mut row.syncs,
        } += 1;
        row.first_ns = row.first_ns.min(call.t);
        row.last_ns = row.last_ns.max(call.t + call.dur);
    }

    /// The rows of process `pid`, in the order in which the streams were first used.
    pub(crate) fn rows(&self, pid: u32) -> impl Iterator<Item = StreamRow> + '_ {
        let handle = |stream| match stream {
            StreamRef::Default => None,
            StreamRef::Id(id) => self.handles.get(&id).copied(),
        };
        self.rows.values().iter().map(move |row| StreamRow { pid, handle: handle(row.stream), ..row.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_has_what_was_put_on_it() {
        let mut streams = Streams::default();
        streams.define(&Stream { id: 3, handle: Hex(0x77) });
        let call = |t| Call { t, dur: 5, ..Call::default() };
        for (stream, t, work) in [
            (StreamRef::Default, 10, Work::Copy),
            (StreamRef::Id(3), 20, Work::Launch),
            (StreamRef::Id(3), 30, Work::Launch),
            (StreamRef::Default, 40, Work::Sync),
            (StreamRef::Id(3), 25, Work::GraphLaunch),
            (StreamRef::Id(3), 26, Work::Captured),
        ] {
            streams.count(stream, &call(t), work);
        }
        let expected = [
            StreamRow { pid: 9, copies: 1, syncs: 1, first_ns: 10, last_ns: 45, ..StreamRow::default() },
            StreamRow {
                pid: 9,
                stream: StreamRef::Id(3),
                handle: Some(Hex(0x77)),
                launches: 2,
                captured: 1,
                graph_launches: 1,
                first_ns: 20,
                last_ns: 35,
                ..StreamRow::default()
            },
        ];
        assert_eq!(streams.rows(9).collect::<Vec<_>>(), expected);
    }
}
