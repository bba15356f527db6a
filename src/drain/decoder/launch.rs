//! Launches in the trace, and what they refer to: kernels and streams, each told of before its first use.

use super::Decoder;
use crate::ids;
use crate::records::kernel_record;
use rocshim_ring::definition::Definition;
use rocshim_ring::event;
use rocshim_ring::slot::Event;
use rocshim_trace::{Arg, Hex, Kernel, Launch, OF_KERNEL, Record, Stream, StreamRef, write_record};

impl Decoder {
    pub(super) fn launch(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Launch {
        let raw = event::Launch::read(event);
        let kernel = self.kernel(raw.function, event.stamp, Some(event.hook), out);
        let mut call = self.call(tid, event);
        if kernel.is_some_and(|kernel| kernel.hook == Some(event.hook)) {
            call.hook = OF_KERNEL;
        }
        let (args, args_cut, args_raw) = self.arguments(raw.function, event);
        let blocks = |i: usize| if raw.block[i] == 0 { 0 } else { raw.grid[i].div_ceil(raw.block[i]) };
        Launch {
            call,
            kernel: kernel.map(|kernel| kernel.id),
            function: kernel.is_none().then_some(Hex(raw.function)),
            grid: if raw.items { std::array::from_fn(blocks) } else { raw.grid },
            block: raw.block,
            items: raw.items.then_some(raw.grid),
            lds: raw.shared,
            stream: self.stream(raw.stream, event.stamp, out),
            events: (raw.start | raw.stop != 0).then_some([Hex(raw.start), Hex(raw.stop)]),
            flags: raw.flags.into(),
            cooperative: raw.cooperative || self.row(event.hook).cooperative,
            capture: self.capture(tid, event, raw.stream, out),
            args,
            args_cut,
            args_raw,
        }
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
