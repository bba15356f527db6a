//! The payload of a GPU report of the HIP runtime: when a command began and ended on the GPU, and
//! which call caused it.
//!
//! A report arrives on the runtime's thread that observed the completion. Its times are in the
//! runtime's own clock. The event stores how long before one of our stamps the command had ended,
//! from a reading of that clock beside the stamp, so drift between the two clocks does not add up.

use crate::payload::{Payload, high, low, pair};
use crate::slot::{Event, EventKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Names of the report kinds; events hold the index.
pub const GPU_OPS: [&str; 4] = ["dispatch", "copy", "barrier", "link"];

/// A kernel dispatch.
pub const DISPATCH: u8 = 0;
/// A copy or fill.
pub const MOVE: u8 = 1;
/// A barrier.
pub const BARRIER: u8 = 2;
/// Not a report: another tool's correlation number for a call of this thread; the call's commands
/// are reported with it.
pub const LINK: u8 = 3;
/// A report that could not be decoded: no other field is valid.
pub const UNREAD: u8 = 0xff;

/// Bit of a correlation number that the shim assigned.
const OURS: u64 = 1 << 63;
/// The call bypassed every hook: the low bits are its index in the runtime's list of functions.
const UNHOOKED: u64 = 1 << 62;
const TID_AT: u32 = 40;
const TID: u64 = (1 << 22) - 1;
const ID: u64 = (1 << TID_AT) - 1;

/// The meaning of the correlation number with which a command is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correlation {
    /// None: no call of the program, or the runtime could not be given numbers.
    #[default]
    None,
    /// A recorded call.
    Call {
        /// Its thread id.
        tid: u32,
        /// Its number in the thread.
        id: u64,
    },
    /// A call of the runtime's function number `api` that no hook intercepted.
    Unhooked {
        /// The thread id; 0 if it has no ring.
        tid: u32,
        /// The function's index in the runtime's own list.
        api: u32,
    },
    /// A number of another tool.
    Other(u64),
}

impl Correlation {
    /// Encodes it as the runtime's 64-bit correlation id.
    #[inline]
    pub fn number(self) -> u64 {
        match self {
            Correlation::None => 0,
            Correlation::Call { tid, id } => OURS | (u64::from(tid) & TID) << TID_AT | id & ID,
            Correlation::Unhooked { tid, api } => {
                OURS | UNHOOKED | (u64::from(tid) & TID) << TID_AT | u64::from(api)
            }
            Correlation::Other(number) => number & !OURS,
        }
    }

    /// Returns true for a number that the shim assigns.
    pub fn is_ours(number: u64) -> bool {
        number & OURS != 0
    }

    /// Decodes a correlation id.
    pub fn of(number: u64) -> Correlation {
        let tid = (number >> TID_AT & TID) as u32;
        match number {
            0 => Correlation::None,
            _ if number & OURS == 0 => Correlation::Other(number),
            _ if number & UNHOOKED != 0 => Correlation::Unhooked { tid, api: number as u32 },
            _ => Correlation::Call { tid, id: number & ID },
        }
    }
}

/// A report. In a link, only `correlation` (the call) and `begin` (the other number) are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One of [`DISPATCH`], [`MOVE`], [`BARRIER`], [`LINK`], [`UNREAD`].
    pub op: u8,
    /// The runtime's number for the kind of command (`cl_command_type`).
    pub kind: u32,
    /// The correlation id ([`Correlation`]).
    pub correlation: u64,
    /// Begin by the runtime's clock, ns.
    pub begin: u64,
    /// Duration, ns.
    pub dur: u64,
    /// How long before the reference stamp it had ended, ns.
    pub age: i64,
    /// Ticks from the reference stamp to the event's own stamp.
    pub before: u32,
    /// Duration of the clock reading beside the reference stamp, ticks.
    pub width: u64,
    /// The device, by the driver's node number.
    pub device: u32,
    /// The queue, by the runtime's number within the device.
    pub queue: u64,
    /// For a copy or fill: bytes. For a dispatch: the number of the definition of the kernel's
    /// name, plus one; 0: unknown.
    pub what: u64,
}

/// Word of `before`.
const BEFORE_AT: usize = 3;
/// Ticks per unit of the narrow `width`.
const WIDTH_UNIT: u64 = 64;

impl Payload for Report {
    const KIND: EventKind = EventKind::Gpu;
    const WORDS: usize = 10;
    const SHORT: bool = true;

    #[inline]
    fn is_wide(&self) -> bool {
        let long = self.dur | self.what > u32::MAX.into() || !(0..=i64::from(u32::MAX)).contains(&self.age);
        long || self.device > 0xff || self.queue > 0xffff || self.kind > 0xffff
    }

    fn store(&self, mut put: impl FnMut(usize, u64)) {
        put(0, self.correlation);
        put(1, self.begin);
        put(2, pair(self.dur as u32, self.age as u32));
        put(BEFORE_AT, pair(self.before, self.what as u32));
        let width = (self.width / WIDTH_UNIT).min(0xffff);
        let (op, device) = (u64::from(self.op), u64::from(self.device & 0xff));
        put(
            4,
            u64::from(self.kind & 0xffff)
                | op << 16
                | device << 24
                | (self.queue & 0xffff) << 32
                | width << 48,
        );
        if self.is_wide() {
            put(5, self.dur);
            put(6, self.age as u64);
            put(7, self.what);
            put(8, self.queue);
            put(9, pair(self.device, self.kind));
        }
    }
}

impl Report {
    /// Decodes the payload.
    pub fn read(event: &Event) -> Report {
        let word = |index| event.payload(index);
        let (times, last) = (word(2), word(4));
        let mut report = Report {
            op: (last >> 16) as u8,
            kind: last as u32 & 0xffff,
            correlation: word(0),
            begin: word(1),
            dur: low(times).into(),
            age: high(times).into(),
            before: low(word(BEFORE_AT)),
            width: (last >> 48) * WIDTH_UNIT,
            device: (last >> 24) as u32 & 0xff,
            queue: last >> 32 & 0xffff,
            what: high(word(BEFORE_AT)).into(),
        };
        if event.wide {
            (report.dur, report.age, report.what, report.queue) = (word(5), word(6) as i64, word(7), word(8));
            (report.device, report.kind) = (low(word(9)), high(word(9)));
        }
        report
    }

    /// Passes the word that is known once the event has its stamp to `put`: the ticks since the
    /// reference stamp.
    pub fn store_before(&self, before: u32, mut put: impl FnMut(usize, u64)) {
        put(BEFORE_AT, pair(before, self.what as u32));
    }
}

/// Whether GPU times are requested from one copy of the HIP runtime.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuTime<'a> {
    /// The runtime's file.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// They are requested; else no longer, or not possible.
    pub on: bool,
    /// Number of functions in the runtime's list, and a hash of their names in order.
    pub apis: (u32, u64),
    /// The release with that list; `None`: unknown, and commands are reported without their calls.
    #[serde(borrow)]
    pub release: Option<Cow<'a, str>>,
    /// Another tool is registered as well.
    pub shared: bool,
    /// Why they cannot be requested.
    #[serde(borrow)]
    pub why: Option<Cow<'a, str>>,
    /// Names of its functions that launch, copy or fill, with their numbers.
    #[serde(borrow)]
    pub functions: Vec<(u32, Cow<'a, str>)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Producer;
    use crate::clock::now;
    use crate::event::Gemm;
    use crate::hip::Copy;
    use crate::tests::{drain, here, launch, ring};

    #[test]
    fn a_correlation_id_round_trips() {
        let all = [
            Correlation::None,
            Correlation::Call { tid: 4_194_303, id: (1 << 40) - 1 },
            Correlation::Call { tid: 1, id: 1 },
            Correlation::Unhooked { tid: 0, api: 107 },
            Correlation::Unhooked { tid: 77, api: 505 },
            Correlation::Other(12),
        ];
        for correlation in all {
            assert_eq!(Correlation::of(correlation.number()), correlation);
        }
    }

    #[test]
    fn a_report_round_trips_for_commands_of_any_duration() {
        let (_ring, producer, mut consumer) = ring();
        let correlation = Correlation::Call { tid: 7, id: 3 }.number();
        let short = Report {
            op: MOVE,
            kind: 0x11f3,
            correlation,
            begin: 1 << 50,
            dur: 12,
            age: 7,
            ..Report::default()
        };
        let short = Report { width: 192, device: 2, queue: 9, what: 4096, ..short };
        let long = Report { op: DISPATCH, dur: 1 << 40, age: -5, what: 1 << 33, device: 300, ..short };
        for (report, slots) in [(short, 1), (long, 2)] {
            here(producer).report(5, &report, 0);
            let events = drain(&mut consumer);
            let [event] = &events[..] else { panic!("{events:?}") };
            assert_eq!((event.hook, event.kind, event.slots(), event.ticks), (5, EventKind::Gpu, slots, 0));
            assert_eq!(Report { before: 0, ..Report::read(event) }, report);
        }
    }

    #[test]
    fn the_call_in_flight_is_the_innermost_of_the_runtime() {
        let (_ring, producer, mut consumer) = ring();
        assert_eq!(producer.runtime_call_in_flight(), None);
        let outer = here(producer).enter(1, &Gemm::default()).unwrap();
        assert_eq!(below(producer).runtime_call_in_flight(), None, "a BLAS call");
        let launch_call = below(producer).enter(2, &launch()).unwrap();
        assert_eq!(inside(producer), Some(2));
        launch_call.leave(now(), 0);
        outer.leave(now(), 0);
        let copy = here(producer).enter(3, &Copy::default()).unwrap();
        assert_eq!(inside(producer), Some(3));
        below(producer).report(5, &Report::default(), 0);
        copy.leave(now(), 0);
        let tree: Vec<_> = drain(&mut consumer).iter().map(|e| (e.hook, e.id, e.parent)).collect();
        assert_eq!(tree, [(2, 2, 1), (1, 1, 0), (5, 4, 3), (3, 3, 0)]);
    }

    #[inline(never)]
    fn below(producer: Producer) -> Producer {
        here(producer)
    }

    #[inline(never)]
    fn inside(producer: Producer) -> Option<u64> {
        below(producer).runtime_call_in_flight()
    }
}
