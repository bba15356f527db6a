//! Launches in the trace, and what they refer to: kernels and streams, each told of before its first use.

use super::Decoder;
use crate::arguments::Words;
use crate::ids;
use crate::records::kernel_record;
use rocshim_ring::definition::Definition;
use rocshim_ring::event;
use rocshim_ring::slot::Event;
use rocshim_trace::{
    Arg, Hex, Kernel, Launch, OF_KERNEL, Record, Stream, StreamRef, write_launch, write_launch_with,
    write_record,
};

/// Functions of which is kept what they meant: more than most programs have in use at a time.
const KEPT: usize = 256;

/// What functions meant that were launched lately, until anything new is told.
pub(super) struct Recent {
    kept: Box<[Known; KEPT]>,
    /// How often all was forgotten: what was kept before does not hold.
    turn: u64,
}

#[derive(Clone, Copy)]
struct Known {
    turn: u64,
    function: u64,
    /// From when on.
    since: u64,
    kernel: (u32, ids::Kernel),
}

impl Default for Recent {
    fn default() -> Recent {
        let none = Known { turn: 0, function: 0, since: 0, kernel: (0, ids::Kernel::default()) };
        Recent { kept: Box::new([none; KEPT]), turn: 1 }
    }
}

impl Recent {
    /// Where `function` is kept. Addresses differ in their middle bits.
    fn place(function: u64) -> usize {
        (function.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }

    fn find(&self, function: u64, stamp: u64) -> Option<(u32, ids::Kernel)> {
        let known = &self.kept[Recent::place(function)];
        let holds = known.turn == self.turn && known.function == function && known.since <= stamp;
        holds.then_some(known.kernel)
    }

    fn put(&mut self, function: u64, since: u64, kernel: (u32, ids::Kernel)) {
        self.kept[Recent::place(function)] = Known { turn: self.turn, function, since, kernel };
    }

    /// Something was told that may change what functions mean.
    pub(super) fn forget(&mut self) {
        self.turn += 1;
    }
}

impl Decoder {
    /// A launch with its arguments.
    pub(super) fn launch(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Launch {
        let function = event::Launch::read(event).function;
        let (args, args_cut, args_raw) = self.arguments(function, event);
        Launch { args, args_cut, args_raw, ..self.bare_launch(tid, event, out).0 }
    }

    /// Writes a launch: the same line, its arguments straight from the bytes.
    pub(super) fn write_launch(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) {
        let (launch, number) = self.bare_launch(tid, event, out);
        let (words, count) = event::Launch::argument_words(event);
        let arguments = number.filter(|_| count > 0).and_then(|number| self.names.arguments(number));
        match arguments {
            Some(arguments) => {
                write_launch_with(out, &launch, |out| arguments.write(Words(words, count), out))
            }
            None if count > 0 => {
                let (args, args_cut, args_raw) = self.arguments(event.payload(0), event);
                write_launch(out, &Launch { args, args_cut, args_raw, ..launch });
            }
            None => write_launch(out, &launch),
        }
    }

    /// A launch without its arguments, and the number of its kernel.
    fn bare_launch(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> (Launch, Option<u32>) {
        let raw = event::Launch::read(event);
        let found = self.launched(raw.function, event, out);
        let mut call = self.call(tid, event);
        if found.is_some_and(|(_, kernel)| kernel.hook == Some(event.hook)) {
            call.hook = OF_KERNEL;
        }
        let blocks = |i: usize| if raw.block[i] == 0 { 0 } else { raw.grid[i].div_ceil(raw.block[i]) };
        let launch = Launch {
            call,
            kernel: found.map(|(_, kernel)| kernel.id),
            function: found.is_none().then_some(Hex(raw.function)),
            grid: if raw.items { std::array::from_fn(blocks) } else { raw.grid },
            block: raw.block,
            items: raw.items.then_some(raw.grid),
            lds: raw.shared,
            stream: self.stream(raw.stream, event.stamp, out),
            events: (raw.start | raw.stop != 0).then_some([Hex(raw.start), Hex(raw.stop)]),
            flags: raw.flags.into(),
            cooperative: raw.cooperative || self.row(event.hook).cooperative,
            capture: self.capture(tid, event, raw.stream, out),
            ..Launch::default()
        };
        (launch, found.map(|(number, _)| number))
    }

    /// The kernel that a launch of `function` means, with its number.
    fn launched(&mut self, function: u64, event: &Event, out: &mut Vec<u8>) -> Option<(u32, ids::Kernel)> {
        if let Some(found) = self.recent.find(function, event.stamp) {
            return Some(found);
        }
        let (number, _) = self.names.function(function, event.stamp)?;
        let kernel = self.kernel(function, event.stamp, Some(event.hook), out)?;
        let since = self.names.since(function).filter(|since| *since <= event.stamp);
        if let Some(since) = since {
            self.recent.put(function, since, (number, kernel));
        }
        Some((number, kernel))
    }

    /// The kernel that `function` meant at `stamp`, after its definition where this is its first use, by a launch through
    /// `hook` or by a graph.
    pub(super) fn kernel(
        &mut self,
        function: u64,
        stamp: u64,
        hook: Option<u16>,
        out: &mut Vec<u8>,
    ) -> Option<ids::Kernel> {
        let (number, kernel) = self.names.function(function, stamp)?;
        let (known, is_new) = self.ids.kernel(number, hook);
        if is_new {
            let record = Kernel { hook: known.hook, ..kernel_record(known.id, kernel) };
            write_record(out, &Record::Kernel(record.into()));
        }
        Some(known)
    }

    /// The stream that had this handle at `stamp`, after its definition where this is its first use.
    pub(super) fn stream(&mut self, handle: u64, stamp: u64, out: &mut Vec<u8>) -> StreamRef {
        if handle == 0 {
            return StreamRef::Default;
        }
        let (id, is_new) = self.ids.stream(handle, stamp);
        if is_new {
            write_record(out, &Record::Stream(Stream { id, handle: Hex(handle) }));
        }
        StreamRef::Id(id)
    }

    /// Ids that were given out since this was asked last: to be noted in the log before the lines so far are written.
    pub fn take_news(&mut self) -> Vec<Definition<'static>> {
        self.ids.take_news()
    }

    /// What a launch of `function` passed: its arguments, how many are missing, and, of a kernel that is not known, the
    /// bytes.
    fn arguments(&self, function: u64, event: &Event) -> (Vec<Arg>, u64, String) {
        let passed = event::Launch::read_arguments(event);
        if passed.is_empty() {
            return Default::default();
        }
        let kernel = self.names.function(function, event.stamp).and_then(|(_, kernel)| kernel.code.as_ref());
        match kernel.and_then(|code| code.arguments.as_ref()) {
            Some(arguments) => {
                let (args, cut) = arguments.read(&passed);
                (args, cut, String::new())
            }
            None => (Vec::new(), 0, passed.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}
