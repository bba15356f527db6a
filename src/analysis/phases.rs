//! Derives the phases of inference and training from launches: passes over a model, the purpose of
//! each, and its launches and times.
//!
//! Layers, lowest first: `asked` (the GEMM that a call requests), `kinds` (how a pass is
//! classified), `labels` (named times), `pass` (the content of a pass), `kernels` (kernels by
//! role), `executed` (what graphs execute), `gpu` (GPU reports of each pass), `bound` (what bounds
//! a phase), `stream_groups` (the pass that an event belongs to), `process` (the process being
//! read), then the builder here, `rows` (the result), `sums` (passes to phases), `tables` (how they
//! are described); `timeline` (bars to draw), `recent` (passes while the process runs). A pass is
//! kept as its times and the number of its content: memory grows with distinct contents, and by
//! some 200 bytes per pass.

mod asked;
mod bound;
mod executed;
mod gpu;
mod kernels;
mod kinds;
mod labels;
mod pass;
mod process;
mod recent;
mod rows;
mod stream_groups;
mod sums;
mod tables;
#[cfg(test)]
mod tests;
mod timeline;

pub(crate) use bound::rules;
pub use bound::{Bound, PhaseGpu, PhaseGpuFamily};
pub use kinds::PhaseKind;
pub(crate) use recent::Recent;
use rows::ColumnsOf;
pub(crate) use rows::PassTime;
pub use rows::{PassRow, Phase, PhaseFamily, PhaseObject, Phases};
pub use tables::{
    FAMILIES_BY_KIND, GPU_FAMILIES_BY_KIND, GPU_PHASES, KIND_RULES, KindRule, KindsRow, LIBRARIES_BY_KIND,
    OBJECTS_BY_KIND, PASSES, PHASES,
};
pub use timeline::{BARS, Bar, Level, PlacedBar, Timeline, TimelineRow};

use super::{
    interner::Interner,
    session::{Analysis, CallKey, Event, Identity, Ids, Session},
};
use asked::{product_of_gemm, product_of_matmul};
use executed::{Executed, columns, exactly};
use gpu::Command;
use kernels::{Registry, pointer, wants_arguments};
use labels::Labels;
use pass::{Content, Last, OpenPass, Pass, Role};
use process::CurrentProcess;
use rocshim_reader::{Label, Reading};
use rocshim_trace::{Call, Copy, Gemm, Gpu, GraphLaunch, Kernel, Launch, Matmul, Record, StreamRef, Sync};
use stream_groups::{BoundaryEvidence, BoundaryHint, Part};

/// Facts about a process that was read.
struct ProcessKind {
    pid: u32,
    identity: Identity,
    /// Epoch in Unix ns.
    epoch: u64,
    trains: bool,
    /// True when it launches kernels as programs with language models do.
    is_language_model: bool,
}

/// Analysis that finds the passes of a reading.
pub struct PhasesBuilder {
    names: Registry,
    contents: Interner<Content, Content>,
    process: Option<Box<CurrentProcess>>,
    /// All processes, by number.
    processes: Vec<ProcessKind>,
    passes: Vec<Pass>,
    /// Number of passes that [`recent`](Self::recent) has returned.
    taken: usize,
    /// Earliest epoch of all processes in Unix ns.
    epoch: Option<u64>,
    labels: Labels,
}

/// An event or a gap that waits for the events that ended before it.
struct Waiting {
    record: Record,
    ids: Ids,
}

impl PhasesBuilder {
    /// Creates one for a reading, with the user's labels of time ranges.
    pub fn new(labels: Vec<Label>) -> PhasesBuilder {
        PhasesBuilder {
            names: Registry::default(),
            contents: Interner::new(),
            process: None,
            processes: Vec::new(),
            passes: Vec::new(),
            taken: 0,
            epoch: None,
            labels: Labels::new(labels),
        }
    }

    fn close(&mut self, process: &mut CurrentProcess, stream_group: usize, ended: Vec<OpenPass>) {
        process.last.resize(process.stream_groups.len(), None);
        for mut open in ended.into_iter().filter(OpenPass::has_launched) {
            let commands = std::mem::take(&mut open.commands);
            process.reports.pass(self.taken + self.passes.len(), open.begin, commands);
            let content = open.content();
            let content = self.contents.number(content.clone(), || content);
            let mut pass =
                open.close(process.number, stream_group, content, process.last[stream_group].as_ref());
            process.last[stream_group] = Some(Last::of(&pass));
            (pass.begin, pass.end) = (pass.begin + process.epoch, pass.end + process.epoch);
            self.passes.push(pass);
        }
    }
}

impl Analysis for PhasesBuilder {
    fn begin_process(&mut self, session: &Session) {
        let read = session.process();
        let epoch = read.epoch;
        self.processes.push(ProcessKind {
            pid: read.header.pid,
            identity: read.identity(),
            epoch,
            trains: false,
            is_language_model: false,
        });
        self.epoch = Some(self.epoch.map_or(epoch, |first| first.min(epoch)));
        let number = self.processes.len() - 1;
        self.process = Some(Box::new(CurrentProcess { number, epoch, ..CurrentProcess::default() }));
    }

    fn record(&mut self, session: &Session, record: &Record) {
        let Some(mut process) = self.process.take() else { return };
        match record {
            Record::Kernel(kernel) => {
                if let Some(local) = session.process().kernel(kernel.id) {
                    let roles = self.names.define(session, local);
                    self.processes[process.number].is_language_model |= roles.is_of_language_model;
                }
            }
            Record::Graph(graph) => process.graphs.graph(&self.names, session, graph),
            Record::GpuTime(state) => process.reports.state(state),
            Record::GpuKernel(kernel) => process.reports.define(kernel),
            Record::Gap(gap) => {
                let end = gap.t.saturating_add(gap.dur);
                let waiting = Waiting { record: record.clone(), ids: Ids::default() };
                process.events.push(gap.tid, end, waiting);
            }
            _ => {}
        }
        self.look_at_events(session, &mut process, false);
        self.process = Some(process);
    }

    fn event(&mut self, session: &Session, event: &Event) {
        let Some(mut process) = self.process.take() else { return };
        self.capture(session, &mut process, event);
        if !matches!(event.record, Record::Gpu(_)) {
            let waiting = Waiting { record: event.record.clone(), ids: event.ids };
            process.events.push(event.call.tid, event.end(), waiting);
        }
        self.look_at_events(session, &mut process, false);
        self.process = Some(process);
    }

    fn report(&mut self, _session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        self.process.iter_mut().for_each(|process| process.reports.report(gpu, call));
    }

    fn end_process(&mut self, session: &Session, _reading: &Reading) {
        let Some(mut process) = self.process.take() else { return };
        self.look_at_events(session, &mut process, true);
        for stream_group in 0..process.stream_groups.len() {
            let mut ended = Vec::new();
            process.stream_groups.get(stream_group).end(&mut ended);
            let first = self.passes.len();
            self.close(&mut process, stream_group, ended);
            if let Some(last) = self.passes[first..].last_mut() {
                last.unfinished = !last.delivered;
            }
        }
        let are_ambiguous = session.process().ambiguous_reports().is_some();
        for (pass, gpu, why) in process.reports.take() {
            let pass = pass.checked_sub(self.taken).and_then(|at| self.passes.get_mut(at));
            pass.into_iter()
                .for_each(|pass| pass.gpu = Some(Box::new((gpu.clone(), are_ambiguous || why.is_some()))));
        }
    }

    fn wants_arguments(&self, kernel: Option<&Kernel>) -> bool {
        kernel.is_some_and(wants_arguments)
    }
}

impl PhasesBuilder {
    /// The order of a capture follows from the events' order in the trace.
    fn capture(&mut self, session: &Session, process: &mut CurrentProcess, event: &Event) {
        let Some(capture) = event.ids.capture else { return };
        let product = match event.record {
            Record::Launch(launch) if launch.call.status == 0 => {
                return process.graphs.capture(&self.names, session, capture, launch);
            }
            Record::Gemm(gemm) => product_of_gemm(gemm),
            Record::Matmul(matmul) => product_of_matmul(matmul),
            _ => None,
        };
        process.graphs.capture_call(capture, event.ids.function, product);
    }

    /// Processes the events that are due.
    fn look_at_events(&mut self, session: &Session, process: &mut CurrentProcess, at_end: bool) {
        while let Some(Waiting { record, ids }) = process.events.pop(at_end) {
            if let Record::Gap(gap) = &record {
                let stream_group = process.stream_groups.of_call(gap.tid, None);
                stream_group.into_iter().for_each(|group| process.stream_groups.get(group).lose(gap.lost));
            } else if let Some(call) = record.call() {
                self.look(session, process, &Event { record: &record, call, ids });
            }
        }
    }

    fn look(&mut self, session: &Session, process: &mut CurrentProcess, event: &Event) {
        match event.record {
            // The graph executes what it launches; only its time counts here.
            _ if event.ids.capture.is_some() => self.spend(process, event.call),
            Record::Launch(launch) => self.launch(session, process, event, launch),
            Record::GraphLaunch(launch) => self.graph_launch(process, event, launch),
            Record::Gemm(gemm) => self.gemm(process, event, gemm),
            Record::Matmul(matmul) => self.matmul(process, event, matmul),
            Record::Copy(copy) => self.copy(process, event, copy),
            Record::Sync(sync) => self.sync(process, event, sync),
            Record::Conv(conv) => self.call(process, event, Some(conv.stream), Part::Work),
            Record::Mark(mark) => process.ranges.mark(&mut self.names.labels, mark),
            Record::Blas(_) | Record::Span(_) | Record::Load(_) | Record::GraphCall(_) => {
                self.call(process, event, None, Part::Other);
            }
            _ => {}
        }
    }

    fn launch(&mut self, session: &Session, process: &mut CurrentProcess, event: &Event, launch: &Launch) {
        let kernel = self.names.of(session, launch.kernel);
        let roles = kernel.map(|kernel| kernel.roles);
        process.is_torch |= roles.is_some_and(|roles| roles.is_torch);
        let group_number = process.stream_groups.of_launch(launch.call.tid, launch.stream);
        let is_torch = process.is_torch;
        let stream_group = process.stream_groups.get(group_number);
        let role = match roles {
            Some(roles) if roles.is_optimiser => Role::Optimiser,
            Some(roles) if is_torch && roles.is_backward => Role::Backward,
            _ if is_torch && stream_group.main != Some(launch.call.tid) => Role::Backward,
            _ => Role::Forward,
        };
        self.processes[process.number].trains |= role == Role::Optimiser;
        let label = process.ranges.label(
            launch.call.tid,
            &self.labels,
            &mut self.names.labels,
            process.epoch + launch.call.t,
        );
        let mut ended = Vec::new();
        let open = stream_group.launch(launch.call.t, (label, role), &mut ended);
        let failed = event.failed();
        match roles {
            _ if failed => open.failed += 1,
            Some(roles) => open.kernels.entry(roles.number).or_default().direct += 1,
            None => open.unlisted += 1,
        }
        if let Some(kernel) = kernel.filter(|_| !failed) {
            open.opaque += u64::from(kernel.is_opaque(launch));
            if let Some(product) = kernel.product {
                let weights = pointer(launch, 0);
                let open = stream_group.decide(BoundaryEvidence::Weights(weights), &mut ended);
                open.product(columns(product, launch), weights);
            }
            if let (true, Some(from), Some(to)) =
                (kernel.roles.is_dequantise, pointer(launch, 0), pointer(launch, 1))
            {
                stream_group.dequantised.insert(to, from);
            }
        }
        self.call(process, event, Some(launch.stream), Part::Work);
        self.close(process, group_number, ended);
    }

    fn graph_launch(&mut self, process: &mut CurrentProcess, event: &Event, launch: &GraphLaunch) {
        let call = &launch.call;
        let group_number = process.stream_groups.of_launch(call.tid, launch.stream);
        let label =
            process.ranges.label(call.tid, &self.labels, &mut self.names.labels, process.epoch + call.t);
        let executed = process.graphs.get(launch.graph);
        let stream_group = process.stream_groups.get(group_number);
        let mut ended = Vec::new();
        stream_group.launch(call.t, (label, Role::Forward), &mut ended);
        let open = match launch.graph {
            Some(graph) => {
                let weights = executed.and_then(Executed::first_weights);
                let open = stream_group.decide(BoundaryEvidence::Graph(graph, weights), &mut ended);
                open.graphs.push(graph);
                open
            }
            None => stream_group.decide(BoundaryEvidence::Weights(None), &mut ended),
        };
        match executed {
            _ if event.failed() => open.failed += 1,
            Some(executed) => {
                open.unlisted += u64::from(!executed.listed);
                for (kernel, launches) in &executed.kernels {
                    open.kernels.entry(*kernel).or_default().add(*launches, 1);
                }
                for (function, calls) in &executed.functions {
                    open.functions.entry(*function).or_default().by_graphs += calls;
                }
                open.opaque += executed.opaque;
                executed.products.iter().for_each(|(columns, weights)| open.product(*columns, *weights));
            }
            None => open.unlisted += 1,
        }
        self.call(process, event, Some(launch.stream), Part::Work);
        self.close(process, group_number, ended);
    }

    /// A GEMM of a BLAS library that the program called; one with a hooked caller is part of
    /// another call.
    fn gemm(&mut self, process: &mut CurrentProcess, event: &Event, gemm: &Gemm) {
        if let Some((n, a)) = product_of_gemm(gemm) {
            self.blas(process, &gemm.call, gemm.stream, n, a);
        }
        self.call(process, event, gemm.stream, Part::Work);
    }

    fn matmul(&mut self, process: &mut CurrentProcess, event: &Event, matmul: &Matmul) {
        if let Some((n, a)) = product_of_matmul(matmul) {
            self.blas(process, &matmul.call, Some(matmul.stream), n, a);
        }
        self.call(process, event, Some(matmul.stream), Part::Work);
    }

    fn blas(&mut self, process: &mut CurrentProcess, call: &Call, stream: Option<StreamRef>, n: i64, a: u64) {
        let Some(number) = process.stream_groups.of_call(call.tid, stream) else { return };
        let stream_group = process.stream_groups.get(number);
        // Memory for dequantised weights is reused by the next GEMM.
        let weights = stream_group.dequantised.remove(&a).unwrap_or(a);
        let mut ended = Vec::new();
        stream_group
            .decide(BoundaryEvidence::Weights(Some(weights)), &mut ended)
            .product(exactly(n), Some(weights));
        stream_group.dequantised.clear();
        self.close(process, number, ended);
    }

    fn copy(&mut self, process: &mut CurrentProcess, event: &Event, copy: &Copy) {
        let is_upload = copy.kind.as_deref() == Some("h2d");
        let part = if is_upload { Part::Upload } else { Part::Work };
        self.call(process, event, Some(copy.stream), part);
        let Some(number) = process.stream_groups.of_call(copy.call.tid, Some(copy.stream)) else { return };
        let mut ended = Vec::new();
        let stream_group = process.stream_groups.get(number);
        match (copy.action.as_str(), copy.kind.as_deref()) {
            ("memset", _) => stream_group.clear(),
            (_, Some("d2h")) if copy.call.status == 0 => {
                stream_group.hint(BoundaryHint::Delivery, &mut ended)
            }
            (_, Some("h2d")) => stream_group.hint(BoundaryHint::Pause, &mut ended),
            _ => {}
        }
        self.close(process, number, ended);
    }

    fn sync(&mut self, process: &mut CurrentProcess, event: &Event, sync: &Sync) {
        let waits = ["stream", "device", "event"].contains(&sync.action.as_str());
        self.call(process, event, None, if waits { Part::Wait } else { Part::Other });
        let stream_group = process.stream_groups.of_call(sync.call.tid, None).filter(|_| waits);
        // A wait ends nothing that a copy to the host has not ended.
        stream_group
            .into_iter()
            .for_each(|group| process.stream_groups.get(group).hint(BoundaryHint::Pause, &mut Vec::new()));
    }

    /// Adds the time of a call that a capture recorded.
    fn spend(&mut self, process: &mut CurrentProcess, call: &Call) {
        let Some(stream_group) = process.stream_groups.of_call(call.tid, None) else { return };
        let dur = if call.parent.is_none() { call.dur } else { 0 };
        process.stream_groups.get(stream_group).call(None, dur, (call.t, call.t + call.dur), Part::Other);
    }

    /// Adds a call to the pass that it belongs to. Time is counted once: that of calls by the
    /// program itself.
    fn call(&mut self, process: &mut CurrentProcess, event: &Event, stream: Option<StreamRef>, part: Part) {
        let call = event.call;
        let Some(stream_group) = process.stream_groups.of_call(call.tid, stream) else { return };
        let dur = if call.parent.is_none() { call.dur } else { 0 };
        let is_launch = matches!(event.record, Record::Launch(_));
        let asks = is_launch || matches!(event.record, Record::GraphLaunch(_) | Record::Copy(_));
        if process.reports.are_asked() && asks && !event.failed() {
            let command = Command { call: (call.tid, call.id), returned: event.end(), is_launch };
            process.stream_groups.get(stream_group).command(command, part == Part::Upload);
        }
        process.stream_groups.get(stream_group).call(
            event.ids.function,
            dur,
            (call.t, call.t + call.dur),
            part,
        );
    }
}
