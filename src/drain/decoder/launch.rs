//! Decodes launches, and emits the kernels and streams that they refer to before their first use.

use super::Decoder;
use super::template::Shape;
use crate::arguments::Words;
use crate::ids;
use crate::records::kernel_record;
use rocshim_ring::definition::Definition;
use rocshim_ring::event;
use rocshim_ring::slot::Event;
use rocshim_trace::{
    Arg, Hex, Kernel, Launch, OF_KERNEL, Record, Stream, StreamRef, write_launch, write_record,
};

impl Decoder {
    /// A launch with its arguments.
    pub(super) fn launch(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Launch {
        let (launch, _) = self.bare_launch(tid, event, out);
        self.with_arguments(launch, event)
    }

    fn with_arguments(&self, launch: Launch, event: &Event) -> Launch {
        let (args, args_cut, args_raw) = self.arguments(event.payload(0), event);
        Launch { args, args_cut, args_raw, ..launch }
    }

    /// Emits a launch, from a template if possible; the line is the same.
    pub(super) fn write_launch(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) {
        let Some((shape, grid)) = Shape::of(event) else {
            let launch = self.launch(tid, event, out);
            return write_launch(out, &launch);
        };
        if !self.templates.holds(&shape, event.stamp)
            && let Some(launch) = self.prepare(shape, tid, event, out)
        {
            return write_launch(out, &self.with_arguments(launch, event));
        }
        let call = self.call(tid, event);
        self.templates.write((&shape, grid), &call, event, out);
    }

    /// Makes the template of this launch, after the definitions that it refers to. Returns the
    /// launch without its arguments if a template is not possible: an event of the same shape may
    /// mean something else.
    fn prepare(&mut self, shape: Shape, tid: u32, event: &Event, out: &mut Vec<u8>) -> Option<Launch> {
        let (launch, kernel) = self.bare_launch(tid, event, out);
        let is_made = kernel.zip(self.unchanged_since(event)).is_some_and(|(kernel, since)| {
            let (words, count) = event::Launch::argument_words(event);
            let arguments = (count > 0).then(|| self.kernels.arguments(kernel));
            let passed = Words(words, count);
            match arguments {
                Some(None) => false,
                Some(Some(arguments)) => {
                    self.templates.prepare(shape, since, &launch, Some((passed, arguments)))
                }
                None => self.templates.prepare(shape, since, &launch, None),
            }
        });
        (!is_made).then_some(launch)
    }

    /// The stamp since which the launch's function and stream have their current meaning, and no
    /// stream is captured; `None` if that is not so at the launch.
    fn unchanged_since(&self, event: &Event) -> Option<u64> {
        let raw = event::Launch::read(event);
        let (function, captures) = (self.kernels.since(raw.function)?, self.captures.none_since()?);
        let since = function.max(captures).max(self.ids.stream_since(raw.stream));
        (since <= event.stamp).then_some(since)
    }

    /// A launch without its arguments, and the number of its kernel.
    fn bare_launch(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> (Launch, Option<u32>) {
        let raw = event::Launch::read(event);
        let number = self.kernels.function(raw.function, event.stamp).map(|(number, _)| number);
        let found = self.kernel(raw.function, event.stamp, Some(event.hook), out);
        let mut call = self.call(tid, event);
        if found.is_some_and(|kernel| kernel.hook == Some(event.hook)) {
            call.hook = OF_KERNEL;
        }
        let blocks = |i: usize| if raw.block[i] == 0 { 0 } else { raw.grid[i].div_ceil(raw.block[i]) };
        let launch = Launch {
            call,
            kernel: found.map(|kernel| kernel.id),
            function: found.is_none().then_some(Hex(raw.function)),
            grid: if raw.items { std::array::from_fn(blocks) } else { raw.grid },
            block: raw.block,
            items: raw.items.then_some(raw.grid),
            lds: raw.shared,
            stream: self.stream(raw.stream, event.stamp, out),
            events: (raw.start | raw.stop != 0).then_some([Hex(raw.start), Hex(raw.stop)]),
            flags: raw.flags.into(),
            cooperative: raw.cooperative || self.call_traits(event.hook).cooperative,
            capture: self.capture(tid, event, raw.stream, out),
            ..Launch::default()
        };
        (launch, number)
    }

    /// The kernel that `function` meant at `stamp`; its record is emitted first if this is its
    /// first use, by a launch through `hook` or by a graph.
    pub(super) fn kernel(
        &mut self,
        function: u64,
        stamp: u64,
        hook: Option<u16>,
        out: &mut Vec<u8>,
    ) -> Option<ids::Kernel> {
        let (number, kernel) = self.kernels.function(function, stamp)?;
        let (known, is_new) = self.ids.kernel(number, hook);
        if is_new {
            let record = Kernel { hook: known.hook, ..kernel_record(known.id, kernel) };
            write_record(out, &Record::Kernel(record.into()));
        }
        Some(known)
    }

    /// The stream with this handle at `stamp`; its record is emitted first if this is its first
    /// use.
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

    /// Ids assigned since the last call, which must be in the log before the lines so far are
    /// written.
    pub fn take_pending(&mut self) -> Vec<Definition<'static>> {
        self.ids.take_pending()
    }

    /// A launch's arguments, how many are missing, and, for an unknown kernel, the bytes.
    fn arguments(&self, function: u64, event: &Event) -> (Vec<Arg>, u64, String) {
        let passed = event::Launch::read_arguments(event);
        if passed.is_empty() {
            return Default::default();
        }
        let kernel =
            self.kernels.function(function, event.stamp).and_then(|(_, kernel)| kernel.code.as_ref());
        match kernel.and_then(|code| code.arguments.as_ref()) {
            Some(arguments) => {
                let (args, cut) = arguments.read(&passed);
                (args, cut, String::new())
            }
            None => (Vec::new(), 0, passed.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}
