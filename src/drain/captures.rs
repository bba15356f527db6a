//! Tracks which streams belong to which capture, over time.

use crate::history::History;
use foldhash::{HashMap, HashSet};
use rocshim_ring::definition::Stream;

/// The beginning of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begun {
    /// When.
    pub(crate) stamp: u64,
    /// The stream on which it began.
    pub(crate) stream: Stream,
    /// `hipStreamCaptureMode`.
    pub(crate) mode: u8,
    /// The thread that began it.
    pub(crate) tid: u32,
}

/// The captures of a process.
#[derive(Default)]
pub(crate) struct Captures {
    begun: HashMap<u32, Begun>,
    /// Captures whose record is in the current file.
    emitted: HashSet<u32>,
    streams: HashMap<Stream, History<u32>>,
    /// The streams of each capture that has not ended.
    members: HashMap<u32, Vec<Stream>>,
    /// Stamp of the last change.
    last: u64,
}

impl Captures {
    /// Capture `number` begins.
    pub(crate) fn begin(&mut self, number: u32, begun: Begun) {
        self.begun.insert(number, begun);
        self.join(begun.stamp, number, begun.stream);
    }

    /// The begin of capture `number`, on the first request for the current file; then its record
    /// must be emitted.
    pub(crate) fn emit(&mut self, number: u32) -> Option<Begun> {
        let begun = self.begun.get(&number)?;
        self.emitted.insert(number).then_some(*begun)
    }

    /// Starts a new file, in which nothing is emitted yet.
    pub(crate) fn clear_emitted(&mut self) {
        self.emitted.clear();
    }

    /// `stream` joins capture `number` at `stamp`.
    pub(crate) fn join(&mut self, stamp: u64, number: u32, stream: Stream) {
        self.last = self.last.max(stamp);
        self.streams.entry(stream).or_default().set(stamp, Some(number));
        self.members.entry(number).or_default().push(stream);
    }

    /// `stream` leaves its capture at `stamp`.
    pub(crate) fn leave(&mut self, stamp: u64, stream: Stream) {
        self.last = self.last.max(stamp);
        if let Some(history) = self.streams.get_mut(&stream) {
            history.set(stamp, None);
        }
    }

    /// Capture `number` ended at `stamp`.
    pub(crate) fn end(&mut self, stamp: u64, number: u32) {
        for stream in self.members.remove(&number).unwrap_or_default() {
            // The stream may have joined another capture since, after this one failed.
            if self.at(stamp, stream) == Some(number) {
                self.leave(stamp, stream);
            }
        }
    }

    /// The capture that recorded the work submitted to `stream` at `stamp`.
    pub(crate) fn at(&self, stamp: u64, stream: Stream) -> Option<u32> {
        self.streams.get(&stream)?.at(stamp)
    }

    /// True if it is certain that no stream belonged to a capture at `stamp`.
    pub(crate) fn is_none_at(&self, stamp: u64) -> bool {
        self.none_since().is_some_and(|since| stamp >= since)
    }

    /// The stamp since which no stream belongs to a capture; `None` while one may.
    pub(crate) fn none_since(&self) -> Option<u64> {
        self.members.is_empty().then_some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(handle: u64) -> Stream {
        Stream { handle, tid: 0 }
    }

    #[test]
    fn a_capture_spans_its_streams_from_join_to_end() {
        let mut captures = Captures::default();
        let begun = Begun { stamp: 10, stream: stream(0xa), mode: 2, tid: 7 };
        captures.begin(1, begun);
        captures.join(20, 1, stream(0xb));
        captures.end(30, 1);
        captures.join(40, 2, stream(0xb));
        let at = |stamp| [0xa, 0xb].map(|handle| captures.at(stamp, stream(handle)));
        assert_eq!([9, 10, 20, 29].map(at), [[None, None], [Some(1), None], [Some(1); 2], [Some(1); 2]]);
        assert_eq!([30, 40].map(at), [[None, None], [None, Some(2)]]);
        assert_eq!([captures.emit(1), captures.emit(1)], [Some(begun), None]);
        assert!(!captures.is_none_at(99), "2 has not ended");
        captures.end(50, 2);
        assert_eq!([49, 50].map(|stamp| captures.is_none_at(stamp)), [false, true]);
    }

    #[test]
    fn per_thread_streams_are_distinct() {
        let mut captures = Captures::default();
        captures.join(1, 1, Stream::of(2, 7, false));
        assert_eq!(captures.at(2, Stream::of(2, 7, false)), Some(1));
        assert_eq!(
            captures.at(2, Stream::of(0, 7, true)),
            Some(1),
            "the default stream of a function for that"
        );
        assert_eq!(captures.at(2, Stream::of(0, 7, false)), None);
        assert_eq!(captures.at(2, Stream::of(2, 8, false)), None);
    }

    #[test]
    fn a_destroyed_stream_s_handle_is_free() {
        let mut captures = Captures::default();
        captures.join(1, 1, stream(0xa));
        captures.leave(5, stream(0xa));
        assert_eq!((captures.at(4, stream(0xa)), captures.at(5, stream(0xa))), (Some(1), None));
        captures.end(9, 1);
    }

    #[test]
    fn a_failed_capture_that_is_restarted_is_two() {
        let mut captures = Captures::default();
        captures.join(1, 1, stream(0xa));
        captures.join(5, 2, stream(0xa));
        captures.end(7, 2);
        captures.end(8, 1);
        let at = |stamp| captures.at(stamp, stream(0xa));
        assert_eq!([2, 5, 7, 8].map(at), [Some(1), Some(2), None, None]);
    }
}
