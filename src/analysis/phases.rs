//! Steps of inference and of training, told from what was launched: passes over a model, what each is for, and what it took.
//!
//! Floors, lowest first: `asked` (what a call asks for), `in_time` (events in time), `pass` (what it holds), `lanes` (which pass an event belongs to), `definitions` (names), `process` (the one that is read), `kinds` (what a pass is taken for), then
//! the builder here, `rows` (the result), `groups` (passes to phases); `only` (a summary of some phases), `timeline` (bars to draw), `recent` (passes while the process goes
//! on). A pass is kept as its times and the number of its content: memory grows with what is different, and by some 200 bytes a pass.

mod asked;
mod definitions;
mod groups;
mod in_time;
mod kinds;
mod labels;
mod lanes;
mod only;
mod pass;
mod process;
mod recent;
mod rows;
#[cfg(test)]
mod tests;
mod timeline;

pub use kinds::Kind;
pub use only::Only;
pub(crate) use recent::Recent;
pub(crate) use rows::{ColumnsOf, Moment};
pub use rows::{Phase, PhaseFamily, PhaseObject, Phases, Visit};
pub use timeline::{Bar, Level, Timeline, TimelineRow};

use super::{
    SummaryBuilder,
    interner::Interner,
    process::{Identity, goes_on_in, hook_of, identity},
};
use asked::{capture_of, product_of_gemm, product_of_matmul};
use definitions::{Executed, Local, Names, columns, exactly, pointer};
use in_time::{InTime, end_of};
use labels::{Labels, Ranges};
use lanes::{Hint, Lanes, Part, Sign};
use only::Window;
use pass::{Content, Last, Open, Pass, Role};
use process::Process;
use rocshim_reader::{End, Label, Reading, Taker};
use rocshim_trace::{Call, Copy, Gemm, GraphLaunch, Header, Launch, Matmul, Record, StreamRef, Sync};

/// A process that was read.
struct Known {
    pid: u32,
    identity: Identity,
    /// In Unix ns.
    epoch: u64,
    trains: bool,
    /// It launches kernels as programs do that run language models.
    is_language_model: bool,
}

/// Takes the records of one file after the other.
pub struct PhasesBuilder {
    summary: SummaryBuilder,
    names: Names,
    contents: Interner<Content, Content>,
    process: Option<Box<Process>>,
    /// All processes, by number.
    processes: Vec<Known>,
    passes: Vec<Pass>,
    /// The earliest of all processes, in Unix ns.
    epoch: Option<u64>,
    labels: Labels,
}

impl PhasesBuilder {
    /// `labels` are what the user says, by time.
    pub fn new(labels: Vec<Label>) -> PhasesBuilder {
        PhasesBuilder {
            summary: SummaryBuilder::default(),
            names: Names::new(),
            contents: Interner::new(),
            process: None,
            processes: Vec::new(),
            passes: Vec::new(),
            epoch: None,
            labels: Labels::new(labels),
        }
    }

    /// The same, with the lengths of every kernel's calls in the summary.
    pub fn with_durations(self) -> PhasesBuilder {
        PhasesBuilder { summary: SummaryBuilder::with_durations(), ..self }
    }

    /// Begins a file.
    pub fn begin_file(&mut self, trace: String) {
        self.summary.begin_file(trace);
    }

    /// Ends the file whose records were taken.
    pub fn end_file(&mut self, reading: Reading) {
        if reading.end != End::Rotated {
            self.end_process();
        }
        self.summary.end_file(reading);
    }

    /// Notes a file that could not be read.
    pub fn pass_over(&mut self, why: String) {
        self.summary.pass_over(why);
    }

    fn begin_process(&mut self, header: &Header) {
        if let Some(process) = self.process.as_mut().filter(|process| goes_on_in(&process.header, header)) {
            process.header = header.clone();
            return;
        }
        self.end_process();
        let epoch = header.epoch.parse().unwrap_or(0);
        self.processes.push(Known {
            pid: header.pid,
            identity: identity(header),
            epoch,
            trains: false,
            is_language_model: false,
        });
        self.epoch = Some(self.epoch.map_or(epoch, |first| first.min(epoch)));
        self.process = Some(Box::new(Process {
            header: header.clone(),
            number: self.processes.len() - 1,
            epoch,
            local: Local::default(),
            events: InTime::default(),
            lanes: Lanes::default(),
            ranges: Ranges::default(),
            is_torch: false,
            last: Vec::new(),
        }));
    }

    fn end_process(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        self.look_at_events(&mut process, true);
        for lane in 0..process.lanes.len() {
            let mut ended = Vec::new();
            process.lanes.get(lane).end(&mut ended);
            let first = self.passes.len();
            self.close(&mut process, lane, ended);
            if let Some(last) = self.passes[first..].last_mut() {
                last.unfinished = !last.delivered;
            }
        }
    }

    fn close(&mut self, process: &mut Process, lane: usize, ended: Vec<Open>) {
        process.last.resize(process.lanes.len(), None);
        for open in ended.into_iter().filter(Open::has_launched) {
            let content = open.content();
            let content = self.contents.number(content.clone(), || content);
            let mut pass = open.close(process.number, lane, content, process.last[lane].as_ref());
            process.last[lane] = Some(Last::of(&pass));
            (pass.begin, pass.end) = (pass.begin + process.epoch, pass.end + process.epoch);
            self.passes.push(pass);
        }
    }
}

impl Taker for PhasesBuilder {
    fn take(&mut self, record: Record) {
        if let Record::Header(header) = &record {
            self.begin_process(header);
        } else if let Some(mut process) = self.process.take() {
            self.define(&mut process, &record);
            if let Some((thread, end)) = end_of(&record) {
                process.events.push(thread, end, record.clone());
            }
            self.look_at_events(&mut process, false);
            self.process = Some(process);
        }
        self.summary.take(record);
    }

    fn wants_arguments(&self, kernel: Option<u32>) -> bool {
        let known =
            self.process.as_ref().zip(kernel).and_then(|(process, id)| process.local.kernels.get(&id));
        known.is_some_and(|kernel| kernel.product.is_some() || kernel.is_dequantise)
    }
}

impl PhasesBuilder {
    /// What is no event, or recorded into a graph, is known from where it stands in the trace.
    fn define(&mut self, process: &mut Process, record: &Record) {
        match record {
            Record::HookTable(table) => {
                table.hooks().for_each(|hook| process.local.hook(&mut self.names, &hook))
            }
            Record::Hook(hook) => process.local.hook(&mut self.names, hook),
            Record::CodeObject(object) => process.local.code_object(object),
            Record::Kernel(kernel) => {
                let is_its = process.local.kernel(&mut self.names, kernel);
                self.processes[process.number].is_language_model |= is_its;
            }
            Record::Graph(graph) => process.local.graph(graph),
            Record::Launch(launch) if launch.call.status == 0 => {
                launch.capture.into_iter().for_each(|capture| process.local.capture(capture, launch));
            }
            _ => {
                let Some(capture) = capture_of(record) else { return };
                let product = match record {
                    Record::Gemm(gemm) => product_of_gemm(gemm),
                    Record::Matmul(matmul) => product_of_matmul(matmul),
                    _ => None,
                };
                record.call().into_iter().for_each(|call| process.local.capture_call(capture, call, product));
            }
        }
    }

    /// Looks at the events that are due.
    fn look_at_events(&mut self, process: &mut Process, at_end: bool) {
        while let Some(record) = process.events.pop(at_end) {
            self.look(process, &record);
        }
    }

    fn look(&mut self, process: &mut Process, record: &Record) {
        match record {
            // What it launches is executed by the graph; the time that it takes is now.
            _ if capture_of(record).is_some() => {
                record.call().into_iter().for_each(|call| self.spend(process, call));
            }
            Record::Launch(launch) => self.launch(process, launch),
            Record::GraphLaunch(launch) => self.graph_launch(process, launch),
            Record::Gemm(gemm) => self.gemm(process, gemm),
            Record::Matmul(matmul) => self.matmul(process, matmul),
            Record::Copy(copy) => self.copy(process, copy),
            Record::Sync(sync) => self.sync(process, sync),
            Record::Conv(conv) => self.call(process, &conv.call, Some(conv.stream), Part::Work),
            Record::Mark(mark) => process.ranges.mark(&mut self.names.labels, mark),
            Record::Gap(gap) => {
                let lane = process.lanes.of_call(gap.tid, None);
                lane.into_iter().for_each(|lane| process.lanes.get(lane).lose(gap.lost));
            }
            Record::Blas(_) | Record::Span(_) | Record::Load(_) | Record::GraphCall(_) => {
                record.call().into_iter().for_each(|call| self.call(process, call, None, Part::Other));
            }
            _ => {}
        }
    }

    fn launch(&mut self, process: &mut Process, launch: &Launch) {
        let kernel = launch.kernel.and_then(|id| process.local.kernels.get(&id));
        process.is_torch |= kernel.is_some_and(|kernel| kernel.is_torch);
        let lane_number = process.lanes.of_launch(launch.call.tid, launch.stream);
        let is_torch = process.is_torch;
        let lane = process.lanes.get(lane_number);
        let role = match kernel {
            Some(kernel) if kernel.is_optimiser => Role::Optimiser,
            Some(kernel) if is_torch && kernel.is_backward => Role::Backward,
            _ if is_torch && lane.main != Some(launch.call.tid) => Role::Backward,
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
        let open = lane.launch(launch.call.t, (label, role), &mut ended);
        let failed = launch.call.status != 0 || launch.call.unwound;
        match kernel {
            _ if failed => open.failed += 1,
            Some(kernel) => open.kernels.entry(kernel.number).or_default().direct += 1,
            None => open.unlisted += 1,
        }
        if let Some(kernel) = kernel.filter(|_| !failed) {
            open.opaque += u64::from(kernel.is_opaque(launch));
            if let Some(product) = kernel.product.as_ref() {
                let weights = pointer(launch, 0);
                let open = lane.decide(Sign::Weights(weights), &mut ended);
                open.product(columns(product, launch), weights);
            }
            if let (true, Some(from), Some(to)) =
                (kernel.is_dequantise, pointer(launch, 0), pointer(launch, 1))
            {
                lane.dequantised.insert(to, from);
            }
        }
        let hook = hook_of(launch, |id| process.local.kernels.get(&id)?.hook);
        let call = Call { hook, ..launch.call.clone() };
        self.call(process, &call, Some(launch.stream), Part::Work);
        self.close(process, lane_number, ended);
    }

    fn graph_launch(&mut self, process: &mut Process, launch: &GraphLaunch) {
        let call = &launch.call;
        let lane_number = process.lanes.of_launch(call.tid, launch.stream);
        let label =
            process.ranges.label(call.tid, &self.labels, &mut self.names.labels, process.epoch + call.t);
        let executed = launch.graph.and_then(|graph| process.local.graphs.get(&graph));
        let lane = process.lanes.get(lane_number);
        let mut ended = Vec::new();
        lane.launch(call.t, (label, Role::Forward), &mut ended);
        let open = match launch.graph {
            Some(graph) => {
                let weights = executed.and_then(Executed::first_weights);
                let open = lane.decide(Sign::Graph(graph, weights), &mut ended);
                open.graphs.push(graph);
                open
            }
            None => lane.decide(Sign::Weights(None), &mut ended),
        };
        match executed {
            _ if call.status != 0 || call.unwound => open.failed += 1,
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
        self.call(process, call, Some(launch.stream), Part::Work);
        self.close(process, lane_number, ended);
    }

    /// A product of a BLAS library that the program asked for: one with a caller of ours is part of another call.
    fn gemm(&mut self, process: &mut Process, gemm: &Gemm) {
        if let Some((n, a)) = product_of_gemm(gemm) {
            self.blas(process, &gemm.call, gemm.stream, n, a);
        }
        self.call(process, &gemm.call, gemm.stream, Part::Work);
    }

    fn matmul(&mut self, process: &mut Process, matmul: &Matmul) {
        if let Some((n, a)) = product_of_matmul(matmul) {
            self.blas(process, &matmul.call, Some(matmul.stream), n, a);
        }
        self.call(process, &matmul.call, Some(matmul.stream), Part::Work);
    }

    fn blas(&mut self, process: &mut Process, call: &Call, stream: Option<StreamRef>, n: i64, a: u64) {
        let Some(number) = process.lanes.of_call(call.tid, stream) else { return };
        let lane = process.lanes.get(number);
        // Weights that were dequantised for this product lie where others lie for the next one.
        let weights = lane.dequantised.remove(&a).unwrap_or(a);
        let mut ended = Vec::new();
        lane.decide(Sign::Weights(Some(weights)), &mut ended).product(exactly(n), Some(weights));
        lane.dequantised.clear();
        self.close(process, number, ended);
    }

    fn copy(&mut self, process: &mut Process, copy: &Copy) {
        let is_upload = copy.kind.as_deref() == Some("h2d");
        let part = if is_upload { Part::Upload } else { Part::Work };
        self.call(process, &copy.call, Some(copy.stream), part);
        let Some(number) = process.lanes.of_call(copy.call.tid, Some(copy.stream)) else { return };
        let mut ended = Vec::new();
        let lane = process.lanes.get(number);
        match (copy.action.as_str(), copy.kind.as_deref()) {
            ("memset", _) => lane.clear(),
            (_, Some("d2h")) if copy.call.status == 0 => lane.hint(Hint::Delivery, &mut ended),
            (_, Some("h2d")) => lane.hint(Hint::Pause, &mut ended),
            _ => {}
        }
        self.close(process, number, ended);
    }

    fn sync(&mut self, process: &mut Process, sync: &Sync) {
        let waits = ["stream", "device", "event"].contains(&sync.action.as_str());
        self.call(process, &sync.call, None, if waits { Part::Wait } else { Part::Other });
        let lane = process.lanes.of_call(sync.call.tid, None).filter(|_| waits);
        // A wait ends nothing that a copy to the host has not.
        lane.into_iter().for_each(|lane| process.lanes.get(lane).hint(Hint::Pause, &mut Vec::new()));
    }

    /// The time of a call that a capture recorded.
    fn spend(&mut self, process: &mut Process, call: &Call) {
        let Some(lane) = process.lanes.of_call(call.tid, None) else { return };
        let dur = if call.parent.is_none() { call.dur } else { 0 };
        process.lanes.get(lane).call(None, dur, (call.t, call.t + call.dur), Part::Other);
    }

    /// What every call adds to the pass that it belongs to. Time is counted once: that of calls which the program itself made.
    fn call(&mut self, process: &mut Process, call: &Call, stream: Option<StreamRef>, part: Part) {
        let Some(lane) = process.lanes.of_call(call.tid, stream) else { return };
        let dur = if call.parent.is_none() { call.dur } else { 0 };
        let function = process.local.function(call.hook);
        process.lanes.get(lane).call(function, dur, (call.t, call.t + call.dur), part);
    }
}
