//! The payloads of HIP calls other than launches: graphs and captures, copies, synchronisation.
//!
//! Each fits one slot if the call succeeds; only a copy of several dimensions, or between devices,
//! takes two.

use crate::payload::{Payload, high, low, pair};
use crate::slot::{Event, EventKind};

/// Names of the graph actions; events hold the index.
pub const GRAPH_ACTIONS: [&str; 5] = ["launch", "begin_capture", "end_capture", "instantiate", "update"];

/// A call on a graph or a capture. What it creates is known only after the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphCall {
    /// Index into [`GRAPH_ACTIONS`].
    pub action: u8,
    /// `hipStreamCaptureMode`, if a capture begins.
    pub mode: u8,
    /// `hipGraphExec_t`.
    pub exec: u64,
    /// `hipStream_t`.
    pub stream: u64,
    /// `hipGraph_t`.
    pub graph: u64,
    /// The number of the definition of the graph's contents, plus one; 0 for none.
    pub nodes: u32,
    /// The number of the capture's definition, plus one; 0 for none.
    pub capture: u32,
}

impl Payload for GraphCall {
    const KIND: EventKind = EventKind::Graph;
    const WORDS: usize = 5;
    const SHORT: bool = true;

    #[inline(always)]
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        put(0, self.action as u64 | (self.mode as u64) << 8);
        put(1, self.exec);
        put(2, self.stream);
        put(3, self.graph);
        put(4, pair(self.nodes, self.capture));
    }
}

impl GraphCall {
    /// Decodes the payload.
    pub fn read(event: &Event) -> GraphCall {
        let word = |index| event.payload(index);
        GraphCall {
            action: word(0) as u8,
            mode: (word(0) >> 8) as u8,
            exec: word(1),
            stream: word(2),
            graph: word(3),
            nodes: low(word(4)),
            capture: high(word(4)),
        }
    }

    /// Passes the words that are known after the call to `put`.
    pub fn store_made(&self, mut put: impl FnMut(usize, u64)) {
        put(1, self.exec);
        put(3, self.graph);
        put(4, pair(self.nodes, self.capture));
    }
}

/// A copy between memory regions.
pub const COPY: u8 = 0;
/// A fill.
pub const MEMSET: u8 = 1;
/// Both ends of a copy are plain memory.
pub const PLAIN: u8 = 0;
/// One end of a copy is a symbol of the device code.
pub const SYMBOL: u8 = 1;
/// One end of a copy is an array.
pub const ARRAY: u8 = 2;
/// The arguments of a copy were not read.
pub const UNREAD: u8 = 3;
/// `kind` of a copy between devices, for which `hipMemcpyKind` has no value.
pub const PEER: u32 = 0x8000_0000;
/// `kind` of a copy whose arguments do not determine it.
pub const UNKNOWN_KIND: u32 = 0x8000_0001;

/// A copy or a fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// [`COPY`] or [`MEMSET`].
    pub what: u8,
    /// [`PLAIN`], [`SYMBOL`], [`ARRAY`] or [`UNREAD`].
    pub via: u8,
    /// The asynchronous form.
    pub is_async: bool,
    /// Element size of a fill, bytes.
    pub unit: u8,
    /// `hipMemcpyKind`, [`PEER`] or [`UNKNOWN_KIND`].
    pub kind: u32,
    /// Destination: an address, a symbol or an array.
    pub dst: u64,
    /// Source, or the fill value.
    pub src: u64,
    /// Bytes per row; elements for a fill, or if an array is one end of a three-dimensional copy.
    pub width: u64,
    /// `hipStream_t`.
    pub stream: u64,
    /// Rows; 0 for one dimension.
    pub height: u64,
    /// Layers; 0 for fewer than three dimensions.
    pub depth: u64,
    /// Row pitches in bytes: destination, source.
    pub pitches: [u64; 2],
    /// Devices of a copy between devices: destination, source.
    pub devices: [u32; 2],
}

impl Payload for Copy {
    const KIND: EventKind = EventKind::Copy;
    const WORDS: usize = 10;
    const SHORT: bool = true;

    #[inline(always)]
    fn is_wide(&self) -> bool {
        self.height | self.depth != 0 || self.kind == PEER
    }

    #[inline(always)]
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        let bits = [self.what, self.via, self.is_async as u8, self.unit];
        put(0, self.dst);
        put(1, self.src);
        put(2, self.width);
        put(3, self.stream);
        put(4, pair(u32::from_le_bytes(bits), self.kind));
        if self.is_wide() {
            put(5, self.height);
            put(6, self.depth);
            put(7, self.pitches[0]);
            put(8, self.pitches[1]);
            put(9, pair(self.devices[0], self.devices[1]));
        }
    }
}

impl Copy {
    /// A synchronous copy of one dimension; the caller sets source and destination.
    #[inline(always)]
    pub const fn plain(what: u8, width: u64, kind: u32) -> Copy {
        let (via, is_async, unit) = (PLAIN, false, 0);
        let (dst, src, stream, height, depth) = (0, 0, 0, 0, 0);
        let (pitches, devices) = ([0; 2], [0; 2]);
        Copy { what, via, is_async, unit, kind, dst, src, width, stream, height, depth, pitches, devices }
    }

    /// Decodes the payload.
    pub fn read(event: &Event) -> Copy {
        let word = |index| event.payload(index);
        let [what, via, is_async, unit] = low(word(4)).to_le_bytes();
        let (kind, is_async) = (high(word(4)), is_async != 0);
        let narrow = Copy { what, via, is_async, unit, kind, ..Copy::default() };
        let copy = Copy { dst: word(0), src: word(1), width: word(2), stream: word(3), ..narrow };
        if !event.wide {
            return copy;
        }
        let (pitches, devices) = ([word(7), word(8)], [low(word(9)), high(word(9))]);
        Copy { height: word(5), depth: word(6), pitches, devices, ..copy }
    }
}

/// Names of the synchronisation actions; events hold the index.
pub const SYNC_ACTIONS: [&str; 5] = ["device", "stream", "event", "wait_event", "record_event"];

/// A call that waits, or that orders streams by an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// Index into [`SYNC_ACTIONS`].
    pub action: u8,
    /// `hipStream_t`.
    pub stream: u64,
    /// `hipEvent_t`.
    pub event: u64,
    /// Flags argument, or 0.
    pub flags: u32,
}

impl Payload for Sync {
    const KIND: EventKind = EventKind::Sync;
    const WORDS: usize = 3;
    const SHORT: bool = true;

    #[inline(always)]
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        put(0, self.stream);
        put(1, self.event);
        put(2, pair(self.action.into(), self.flags));
    }
}

impl Sync {
    /// Decodes the payload.
    pub fn read(event: &Event) -> Sync {
        let word = |index| event.payload(index);
        Sync { stream: word(0), event: word(1), action: low(word(2)) as u8, flags: high(word(2)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now;
    use crate::slot::slots_for;
    use crate::tests::{call, drain, here, ring};

    #[test]
    fn a_copy_round_trips_and_takes_one_slot_if_plain() {
        let (_ring, producer, mut consumer) = ring();
        let plain = Copy {
            what: COPY,
            via: 2,
            is_async: true,
            unit: 0,
            kind: 1024,
            dst: u64::MAX,
            src: 1,
            width: 1 << 40,
            stream: 2,
            ..Copy::default()
        };
        let set = Copy { what: MEMSET, unit: 4, kind: 0, src: 0xffff_ffff, height: 5, ..plain };
        let layers = Copy { height: 3, depth: u64::MAX, pitches: [4, u64::MAX], ..plain };
        let peer = Copy { kind: PEER, devices: [7, u32::MAX], ..plain };
        for (payload, status, slots) in
            [(plain, 0, 1), (plain, 1, 2), (set, 0, 2), (layers, 0, 2), (peer, 700, 2)]
        {
            let before = consumer.position().head;
            call(producer, 1, &payload, status);
            assert_eq!(consumer.position().head - before, slots, "{payload:?}");
            let events = drain(&mut consumer);
            assert_eq!((Copy::read(&events[0]), events[0].status), (payload, status));
        }
    }

    #[test]
    fn a_synchronisation_round_trips_and_takes_one_slot() {
        let (_ring, producer, mut consumer) = ring();
        let sync = Sync { action: 4, stream: u64::MAX, event: 1 << 63, flags: u32::MAX };
        for (status, head) in [(0, 1), (600, 3)] {
            call(producer, 1, &sync, status);
            assert_eq!(consumer.position().head, head);
            assert_eq!(Sync::read(&drain(&mut consumer)[0]), sync);
        }
    }

    #[test]
    fn a_graph_call_stores_its_results_after_the_call() {
        let (_ring, producer, mut consumer) = ring();
        let asked = GraphCall { action: 3, mode: 2, stream: 9, graph: 8, ..GraphCall::default() };
        let made = GraphCall { exec: u64::MAX, nodes: u32::MAX, capture: 7, ..asked };
        let span = here(producer).enter(1, &asked).unwrap();
        made.store_made(|index, value| span.put(index, value));
        span.leave(now(), 0);
        assert_eq!(consumer.position().head, 1);
        assert_eq!(GraphCall::read(&drain(&mut consumer)[0]), made);
    }

    #[test]
    fn a_short_event_with_a_far_parent_takes_a_second_slot() {
        assert_eq!([GraphCall::WORDS, Copy::WORDS, Sync::WORDS].map(slots_for), [2, 2, 2]);
    }
}
