//! The payload of a report of the HIP runtime: when a command began and ended on the GPU, and whose it was.
//!
//! A report arrives on whatever thread of the runtime saw the command complete. Its times are of the runtime's own clock; the
//! event holds how long before a stamp of ours the command had ended, by a reading of that clock beside the stamp, so that no
//! drift between the two clocks adds up.

use crate::payload::{Payload, high, low, pair};
use crate::slot::{Event, Kind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a report is about; events hold the index.
pub const GPU_OPS: [&str; 4] = ["dispatch", "copy", "barrier", "link"];

/// A command as the runtime reports it, or the number that somebody else gave to a call.
pub const DISPATCH: u8 = 0;
/// A copy or fill.
pub const MOVE: u8 = 1;
/// A barrier.
pub const BARRIER: u8 = 2;
/// No report: a call of this thread has a number of somebody else's, by which its commands will be reported.
pub const LINK: u8 = 3;
/// A report that was not understood: nothing else of it is known.
pub const UNREAD: u8 = 0xff;

/// Bit of a correlation number of ours.
const OURS: u64 = 1 << 63;
/// The call has passed every hook: the low bits are its number in the runtime's list of functions.
const UNHOOKED: u64 = 1 << 62;
const TID_AT: u32 = 40;
const TID: u64 = (1 << 22) - 1;
const ID: u64 = (1 << TID_AT) - 1;

/// What the number says that a call was given and its commands are reported with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correlation {
    /// There is none: no call of the program's, or the runtime could not be asked to give numbers.
    #[default]
    None,
    /// A recorded call.
    Call {
        /// Its thread.
        tid: u32,
        /// Its number there.
        id: u64,
    },
    /// A call of the runtime's function number `api` that no hook saw.
    Unhooked {
        /// The thread; 0 where it has no ring.
        tid: u32,
        /// The function's number in the runtime's own list.
        api: u32,
    },
    /// A number of somebody else's.
    Other(u64),
}

impl Correlation {
    /// As the runtime carries it.
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

    /// Reads it back.
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

/// A report. In a link only `correlation` counts (the call), and `begin` (the other number).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One of [`DISPATCH`], [`MOVE`], [`BARRIER`], [`LINK`], [`UNREAD`].
    pub op: u8,
    /// The runtime's number of the kind of command (`cl_command_type`).
    pub kind: u32,
    /// Whose command it is, as a number ([`Correlation`]).
    pub correlation: u64,
    /// When it began, by the runtime's clock, ns.
    pub begin: u64,
    /// How long it took, ns.
    pub dur: u64,
    /// How long before the stamp it had ended, ns.
    pub age: i64,
    /// How many ticks before the event's own stamp that stamp was taken.
    pub before: u32,
    /// The reading of the runtime's clock beside the stamp took so many ticks.
    pub width: u64,
    /// The device, as the driver numbers its nodes.
    pub device: u32,
    /// The queue, as the runtime numbers them on the device.
    pub queue: u64,
    /// Of a copy or fill: bytes. Of a dispatch: the number of the definition of the kernel's name, plus one; 0: not known.
    pub what: u64,
}

/// Word that holds how long before the event's own stamp the other one was taken.
const BEFORE_AT: usize = 3;
/// Ticks in a unit of the narrow width.
const WIDTH_UNIT: u64 = 64;

impl Payload for Report {
    const KIND: Kind = Kind::Gpu;
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
    /// Reads it back.
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

    /// Gives the word that is known when the event has its stamp to `put`: the other one was taken `before` ticks earlier.
    pub fn store_before(&self, before: u32, mut put: impl FnMut(usize, u64)) {
        put(BEFORE_AT, pair(before, self.what as u32));
    }
}

/// How a copy of the HIP runtime is asked for GPU times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuTime<'a> {
    /// The runtime's file.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// It is asked; else it is not any more, or cannot be.
    pub on: bool,
    /// The functions in its list, and what stands for their names in order.
    pub apis: (u32, u64),
    /// The release whose list that is; `None`: not known, and commands are reported without their calls.
    #[serde(borrow)]
    pub release: Option<Cow<'a, str>>,
    /// Somebody else is registered beside us.
    pub shared: bool,
    /// Why it cannot be asked.
    #[serde(borrow)]
    pub why: Option<Cow<'a, str>>,
    /// The names of its functions that launch, copy or fill, with their numbers.
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
    fn a_correlation_is_read_as_it_was_given() {
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
    fn a_report_is_read_as_it_was_stored_however_long_its_command_took() {
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
            assert_eq!((event.hook, event.kind, event.slots(), event.ticks), (5, Kind::Gpu, slots, 0));
            assert_eq!(Report { before: 0, ..Report::read(event) }, report);
        }
    }

    #[test]
    fn the_open_call_is_the_innermost_one_of_the_runtime() {
        let (_ring, producer, mut consumer) = ring();
        assert_eq!(producer.open_runtime_call(), None);
        let outer = here(producer).enter(1, &Gemm::default()).unwrap();
        assert_eq!(below(producer).open_runtime_call(), None, "a BLAS call");
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
        below(producer).open_runtime_call()
    }
}
