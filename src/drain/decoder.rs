//! Converts definitions and events to trace lines: every definition before its first use, every
//! event once.

mod gpu;
mod graph;
mod launch;
mod template;

use gpu::Reported;
use template::Templates;

use crate::blas::blas;
use crate::captures::{Begun, Captures};
use crate::elf_identity;
use crate::graphs::Graphs;
use crate::hip::{copy, sync};
use crate::hook_rows::HookRows;
use crate::ids::Ids;
use crate::kernels::Kernels;
use crate::library_files::LibraryFiles;
use crate::records::*;
use crate::settings::Settings;
use crate::solutions::Solutions;
use foldhash::HashMap;
use rocshim_ring::clock::{Clock, Rate};
use rocshim_ring::conv;
use rocshim_ring::definition::{Definition, ProcessIdentity, ROWS, STREAM, StampedDefinition};
use rocshim_ring::event::{self, LOSS_REASONS};
use rocshim_ring::hip::{Copy, Sync};
use rocshim_ring::mark;
use rocshim_ring::named::Named;
use rocshim_ring::slot::{Event, EventKind};
use rocshim_trace::{
    Binary, Bypass, Call, CallCallers, Device, Gap, Header, Hex, Hook, InFlight, Load, Record, Recording,
    Thread, write_record,
};

/// Properties of calls that follow from the function's name.
#[derive(Clone, Copy, Default)]
struct CallTraits {
    /// The default stream is the per-thread one.
    spt: bool,
    /// Its launches are cooperative.
    cooperative: bool,
}

impl CallTraits {
    fn of(name: &str) -> CallTraits {
        CallTraits { spt: name.ends_with("_spt"), cooperative: name.contains("Cooperative") }
    }
}

/// The decoder's state, which converts the contents of the rings to lines.
#[derive(Default)]
pub struct Decoder {
    header: Header,
    clock: Option<Clock>,
    rate: Rate,
    /// By row and entry point number.
    hooks: HookRows,
    /// The rows of the hook table.
    call_traits: Vec<CallTraits>,
    /// The open interception points, as bits.
    points: u8,
    libraries: HashMap<String, u32>,
    files: LibraryFiles,
    kernels: Kernels,
    captures: Captures,
    /// Calls that have not returned, by thread and id, with the capture that recorded their work.
    captured_calls: HashMap<(u32, u64), u32>,
    graphs: Graphs,
    solutions: Solutions,
    settings: Settings,
    ids: Ids,
    reported: Reported,
    /// File and name of Python functions on chains of callers, by definition.
    python: PythonFunctions,
    /// Templates of launch lines.
    templates: Templates,
    /// Lines of definitions that came before the clock rate.
    waiting: Vec<u8>,
    /// Metadata records, which follow the header of every segment.
    preamble: Vec<u8>,
    /// The trace already has its header and hook table.
    continues: bool,
}

impl Decoder {
    /// A decoder for a new trace, or for one that `continues` because it already has its header and
    /// hook table.
    pub fn new(continues: bool) -> Decoder {
        Decoder { continues, ..Decoder::default() }
    }

    /// Decodes definition `number`; lines that follow from it are appended to `out`. Damaged bytes
    /// are ignored.
    pub fn define(&mut self, number: u32, bytes: &[u8], out: &mut Vec<u8>) {
        let Some(StampedDefinition { stamp, definition }) = rocshim_ring::log::decode(bytes) else { return };
        self.templates.forget();
        match definition {
            Definition::Process(process) => self.process(stamp, &process),
            Definition::Clock { tick_hz } => self.begin(tick_hz, out),
            Definition::Hooks { hooks, points } => {
                self.call_traits = hooks.iter().map(|(name, ..)| CallTraits::of(name)).collect();
                self.hooks = HookRows::new(&hooks);
                self.points = points;
            }
            Definition::Table { name, path, entries, functions } => {
                let library = self.library(number, &path, out);
                self.line(&Record::Interception(table_point(library, &name, entries, functions)), out);
            }
            Definition::Library { path } => drop(self.library(number, &path, out)),
            Definition::Bypass { path, namespace } => {
                let how = if namespace { "namespace" } else { "deepbind" }.into();
                self.line(&Record::Bypass(Bypass { path: path.into_owned(), how }), out);
            }
            Definition::Bound { hook, points, path } => self.bind(number, hook, points, path.as_deref(), out),
            Definition::FatBinary { handle, path, offset, ordinal, .. } => {
                self.kernels.own(stamp, handle, number);
                self.line(&Record::CodeObject(fat_binary(number, &path, offset, ordinal)), out);
            }
            Definition::HostFunction { handle, stub, name } => {
                self.kernels.name(stamp, handle, stub, number, &name)
            }
            Definition::Function { function, module, name } => {
                self.kernels.name(stamp, module, function, number, &name);
            }
            Definition::Module { module, image } => {
                self.kernels.own(stamp, module, number);
                let object = module_image(number, image, &mut self.files);
                self.line(&Record::CodeObject(object), out);
            }
            Definition::SameFunction { function, of } => self.kernels.same(stamp, function, of),
            Definition::Code { function, code } => self.kernels.describe(stamp, function, code),
            Definition::Binary { path } => {
                let binary =
                    Binary { id: number, build_id: elf_identity::build_id(&path), path: path.into() };
                self.line(&Record::Binary(binary), out);
            }
            Definition::PythonFunction { file, name } => {
                self.python.insert(number, (file.into_owned(), name.into_owned()));
            }
            Definition::Callers { function, chain } => {
                self.kernels.called(stamp, function, callers(chain, &self.python));
            }
            Definition::CallCallers { id, chain } => {
                let callers = callers(chain, &self.python);
                let to = if self.has_begun() { out } else { &mut self.waiting };
                write_record(to, &Record::Callers(CallCallers { id, callers }));
            }
            Definition::Device { ordinal, gfx, name, how } => {
                let [gfx, name, how] = [gfx, name, how].map(|text| text.into_owned());
                self.line(&Record::Device(Device { ordinal, gfx, name, how }), out);
            }
            Definition::Solution { handle, solver, conv } => {
                self.solutions.begin(stamp, handle, solver, conv.map(|conv| *conv));
            }
            Definition::SolutionSolver { handle, solver } => self.solutions.solver(stamp, handle, solver),
            Definition::Unregister { handle } => self.kernels.forget(stamp, handle),
            Definition::Unload { module } => self.kernels.forget(stamp, module),
            Definition::Capture { stream, mode, tid } => {
                self.captures.begin(number, Begun { stamp, stream, mode, tid });
            }
            Definition::Join { capture, stream } => self.captures.join(stamp, capture, stream),
            Definition::Leave { stream } => self.captures.leave(stamp, stream),
            Definition::StreamGone { stream } => self.ids.destroy(stream, stamp),
            Definition::StreamId { stream, after, id } => self.ids.note_stream(stream, after, id),
            Definition::KernelId { kernel, id, hook } => self.ids.note_kernel(kernel, id, hook),
            Definition::EndCapture { capture } => self.captures.end(stamp, capture),
            Definition::Graph(graph) => self.graphs.define(stamp, number, graph),
            Definition::Exec { exec, graph } => self.graphs.set(stamp, exec, graph),
            Definition::ExecNode { exec, index, kernel } => {
                self.graphs.change(stamp, number, exec, index, kernel);
            }
            Definition::Setting { handle, setting, value } => {
                self.settings.set(stamp, handle, setting, value)
            }
            Definition::HandleGone { handle } => self.settings.forget(stamp, handle),
            Definition::GpuTime(state) => self.gpu_time(number, stamp, state, out),
            Definition::GpuKernel { name } => self.reported.name(number, &name),
            Definition::Recording(on) => {
                let state = if on { "started" } else { "stopped" }.into();
                self.line(&Record::Recording(Recording { t: self.ns(stamp), state }), out);
            }
        }
    }

    fn process(&mut self, stamp: u64, process: &ProcessIdentity) {
        self.header = Header { part: self.header.part, ..header(process) };
        self.files
            .set_environment(self.header.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        self.clock = Some(Clock { start: stamp, unix_ns: process.unix_ns, tick_hz: 0 });
    }

    /// Emits the header, the hook table, and what waited for them, once the clock rate is known.
    pub fn begin(&mut self, tick_hz: u64, out: &mut Vec<u8>) {
        self.header.tick_hz = tick_hz;
        self.clock.get_or_insert(Clock { start: 0, unix_ns: 0, tick_hz }).tick_hz = tick_hz;
        self.rate = Rate::new(tick_hz);
        if self.continues {
            out.extend_from_slice(&self.preamble);
            out.append(&mut self.waiting);
            return;
        }
        points(self.points).for_each(|point| write_record(&mut self.preamble, &Record::Interception(point)));
        let tables = self.hooks.tables().into_iter().map(Record::HookTable);
        let hooks = tables.chain(self.hooks.changed().map(|hook| Record::Hook(hook.clone())));
        hooks.for_each(|record| write_record(&mut self.preamble, &record));
        self.begin_segment(self.header.part, 1, None, out);
        out.append(&mut self.waiting);
        self.emit_gpu_times(out);
    }

    /// Sets the segment number of the header, if it is not the first.
    pub fn set_segment(&mut self, part: u32) {
        self.header.part = if part > 1 { part } else { 0 };
    }

    /// Starts the file of a segment: metadata records are emitted again, definitions when they are
    /// used again. `oldest` is the first segment that still exists; `note` says that the file of
    /// the segment before it was deleted, if that is why there is a new one.
    pub fn begin_segment(&mut self, part: u32, oldest: u32, note: Option<String>, out: &mut Vec<u8>) {
        self.set_segment(part);
        self.header.oldest = if oldest > 1 { oldest } else { 0 };
        let header = self.header.clone();
        let (after_deletion, note) = (note.is_some(), note.or(header.note));
        write_record(out, &Record::Header(Header { note, after_deletion, ..header }));
        out.extend_from_slice(&self.preamble);
        self.templates.forget();
        self.ids.clear_emitted();
        self.captures.clear_emitted();
        self.graphs.clear_emitted();
        self.reported.clear_emitted();
    }

    /// True once the header was emitted.
    pub fn has_begun(&self) -> bool {
        self.header.tick_hz != 0
    }

    /// The clock of the stamps, once measured.
    pub fn clock(&self) -> Option<Clock> {
        self.clock.filter(|clock| clock.tick_hz != 0)
    }

    /// The header, emitted or not.
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let from = self.preamble.len();
        write_record(&mut self.preamble, record);
        if self.has_begun() {
            out.extend_from_slice(&self.preamble[from..]);
        }
    }

    fn library(&mut self, number: u32, path: &str, out: &mut Vec<u8>) -> u32 {
        if let Some(id) = self.libraries.get(path) {
            return *id;
        }
        self.libraries.insert(path.to_owned(), number);
        self.files.add_library(path);
        let library = elf_identity::library(number, path, self.hooks.names());
        self.line(&Record::Library(library), out);
        number
    }

    fn bind(&mut self, number: u32, id: u16, points: u8, path: Option<&str>, out: &mut Vec<u8>) {
        let library = path.map(|path| self.library(number, path, out));
        // A hook that is off stays off at every entry point.
        let Some(row) = self.hooks.row(id).filter(|row| row.state != "off") else { return };
        let hook = Hook {
            id,
            point: if points == 0 { row.point.clone() } else { point_names(points) },
            state: if library.is_some() { "bound" } else { "unbound" }.into(),
            library,
            why: library.is_none().then(|| format!("no loaded library has {}", row.name)),
            ..row
        };
        if self.has_begun() {
            self.line(&Record::Hook(hook.clone()), out);
        }
        self.hooks.set(hook);
    }

    /// Emits the event of thread `tid`, after the definitions that it is the first to use.
    pub fn event(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) {
        if event.kind == EventKind::Launch {
            return self.write_launch(tid, event, out);
        }
        let record = self.record(tid, event, out);
        write_record(out, &record);
    }

    /// Emits a call that had not returned when the process died.
    pub fn in_flight(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) {
        let event = Box::new(self.record(tid, event, out));
        write_record(out, &Record::InFlight(InFlight { event }));
    }

    fn record(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Record {
        let mut record = self.bare_record(tid, event, out);
        if !self.captured_calls.is_empty() {
            self.set_capture(tid, event, &mut record, out);
        }
        record
    }

    fn bare_record(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Record {
        match event.kind {
            EventKind::Launch => Record::Launch(self.launch(tid, event, out)),
            EventKind::Gemm => {
                let raw = event::Gemm::read(event);
                let set_to = |setting| self.settings.at(event.stamp, raw.handle, setting);
                let mut gemm = gemm(self.call(tid, event), &raw, set_to);
                let handle = self.settings.at(event.stamp, raw.handle, STREAM);
                gemm.stream = handle.map(|handle| self.stream(handle, event.stamp, out));
                Record::Gemm(gemm.into())
            }
            EventKind::Blas => {
                blas(self.call(tid, event), event, |stream| self.stream(stream, event.stamp, out))
            }
            EventKind::Conv => self.conv(tid, event, out),
            EventKind::Load => Record::Load(self.load(tid, event)),
            EventKind::Span => {
                let raw = Named::read(event);
                let stream = self.stream(raw.stream, event.stamp, out);
                Record::Span(span(self.call(tid, event), &raw, stream))
            }
            EventKind::Mark => Record::Mark(mark(self.call(tid, event), mark::Mark::read(event))),
            EventKind::Copy => {
                let raw = Copy::read(event);
                let stream = self.stream(raw.stream, event.stamp, out);
                copy(self.call(tid, event), &raw, stream, self.capture(tid, event, raw.stream, out))
            }
            EventKind::Sync => {
                let raw = Sync::read(event);
                let stream = self.stream(raw.stream, event.stamp, out);
                sync(self.call(tid, event), &raw, stream, self.capture(tid, event, raw.stream, out))
            }
            EventKind::Graph => self.graph_call(tid, event, out),
            EventKind::Gpu => Record::Gpu(self.gpu(tid, event, out)),
            EventKind::Gap => Record::Gap(self.gap_of(tid, &event::Gap::read(event))),
        }
    }

    /// Emits losses that no event in the ring reports.
    pub fn gap(&self, tid: u32, gap: &event::Gap, out: &mut Vec<u8>) {
        write_record(out, &Record::Gap(self.gap_of(tid, gap)));
    }

    fn gap_of(&self, tid: u32, gap: &event::Gap) -> Gap {
        let (first, last) = (self.ns(gap.first), self.ns(gap.last));
        let reason = LOSS_REASONS.get(gap.reason as usize).copied().unwrap_or("unknown").into();
        Gap { tid, t: first, dur: last.saturating_sub(first), lost: gap.lost, reason }
    }

    /// Nanoseconds from time 0 to `stamp`.
    pub fn ns(&self, stamp: u64) -> u64 {
        self.clock.map_or(0, |clock| self.rate.ns(stamp.saturating_sub(clock.start)))
    }

    fn call(&self, tid: u32, event: &Event) -> Call {
        // Both ends are rounded the same way, so that a call is within its parent to the
        // nanosecond.
        let (t, end) = (self.ns(event.stamp), self.ns(event.stamp.saturating_add(event.ticks)));
        Call {
            tid,
            id: event.id,
            parent: (event.parent != 0).then_some(event.parent),
            t,
            dur: end.saturating_sub(t),
            hook: event.hook,
            status: event.status,
            unwound: event.unwound,
        }
    }

    /// A MIOpen call for a convolution, or with a solution or plan for another problem.
    fn conv(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Record {
        let mut raw = conv::Conv::read(event);
        self.solutions.complete(event.stamp, &mut raw);
        let (call, stream) = (self.call(tid, event), self.stream(raw.stream, event.stamp, out));
        if !raw.is_convolution {
            return Record::Span(other_problem(call, &raw, stream));
        }
        let (returned, results) = conv::Conv::read_results(event);
        Record::Conv(convolution(call, &raw, stream, returned, results).into())
    }

    fn call_traits(&self, hook: u16) -> CallTraits {
        self.call_traits.get((hook % ROWS) as usize).copied().unwrap_or_default()
    }

    fn load(&self, tid: u32, event: &Event) -> Load {
        let raw = event::Load::read(event);
        let code_object = match raw.image.checked_sub(1) {
            Some(number) => Some(number as u32),
            None => self.kernels.owner(raw.module, event.stamp.saturating_sub(1)),
        };
        let action = if raw.unload { "unload" } else { "load" }.into();
        Load { call: self.call(tid, event), action, module: Hex(raw.module), code_object }
    }

    /// Emits a thread's counters.
    pub fn thread(&self, tid: u32, produced: u64, written: u64, lost: u64, out: &mut Vec<u8>) {
        write_record(out, &Record::Thread(Thread { tid, produced, written, lost }));
    }
}
