//! Records of one file after the other, in one pass, to a summary.

mod calls;
mod in_flight;
mod launches;
mod products;
mod so_far;
mod trials;
mod unseen;

use super::{
    GraphRow, InFlightRow, Only, ProcessRow, StreamRow, Summary, ThreadRow, Totals,
    code_objects::CodeObjects,
    columns::AllColumns,
    convolutions::Convolutions,
    coverage::Coverage,
    failures::Failures,
    fallback::Fallbacks,
    families::families,
    gemms::Gemms,
    gpu::AllReports,
    kernels::Kernels,
    losses::Losses,
    modules::Modules,
    process::{LocalHook, LocalKernel, Process},
    spans::Spans,
    streams::Work,
    sweeps::Sweeps,
    threads::Gaps,
    transfers::{Copies, Syncs},
};
use rocshim_reader::{End, Reading, Taker};
use rocshim_trace::{Call, CodeObject, Hook, Kernel, Record, Span, ggml::MatMul};
use std::{collections::BTreeSet, rc::Rc};

/// Takes the records of one file after the other.
#[derive(Clone)]
pub struct SummaryBuilder {
    trace: String,
    /// The phases of which it is the summary; `None`: of everything.
    only: Option<Only>,
    /// The file that is read.
    file: String,
    /// The part that was read last says that the trace goes on.
    goes_on: bool,
    /// Traces of which not all parts were read.
    partial: u64,
    /// Boxed: it is taken out and put back at every record.
    process: Option<Box<Process>>,
    totals: Totals,
    processes: Vec<ProcessRow>,
    kernels: Kernels,
    columns: AllColumns,
    code_objects: CodeObjects,
    fallbacks: Fallbacks,
    gemms: Gemms,
    sweeps: Sweeps,
    convolutions: Convolutions,
    spans: Spans,
    graphs: Vec<GraphRow>,
    gpu: AllReports,
    copies: Copies,
    syncs: Syncs,
    streams: Vec<StreamRow>,
    threads: Vec<ThreadRow>,
    gaps: Gaps,
    modules: Modules,
    coverage: Coverage,
    failures: Failures,
    losses: Losses,
    in_flight: Vec<InFlightRow>,
    /// Why calls may be missing that are not counted as lost.
    unrecorded: Option<String>,
    notes: Vec<String>,
    gpus: BTreeSet<String>,
}

impl Default for SummaryBuilder {
    /// Of everything in the files.
    fn default() -> Self {
        SummaryBuilder {
            trace: String::new(),
            only: None,
            file: String::new(),
            goes_on: false,
            partial: 0,
            process: None,
            totals: Totals::default(),
            processes: Vec::new(),
            kernels: Kernels::new(),
            columns: AllColumns::new(),
            code_objects: CodeObjects::new(),
            fallbacks: Fallbacks::default(),
            gemms: Gemms::new(),
            sweeps: Sweeps::new(),
            convolutions: Convolutions::new(),
            spans: Spans::new(),
            graphs: Vec::new(),
            gpu: AllReports::new(),
            copies: Copies::new(),
            syncs: Syncs::new(),
            streams: Vec::new(),
            threads: Vec::new(),
            gaps: Gaps::default(),
            modules: Modules::new(),
            coverage: Coverage::new(),
            failures: Failures::new(),
            losses: Losses::new(),
            in_flight: Vec::new(),
            unrecorded: None,
            notes: Vec::new(),
            gpus: BTreeSet::new(),
        }
    }
}

impl SummaryBuilder {
    /// The same, with the lengths of every kernel's calls.
    pub fn with_durations() -> Self {
        let mut builder = SummaryBuilder::default();
        builder.kernels.keep_durations();
        builder
    }

    /// Sums up some phases alone.
    pub fn only(mut self, phases: Only) -> Self {
        self.coverage.of_phases();
        SummaryBuilder { only: Some(phases), ..self }
    }

    /// Begins a file.
    pub fn begin_file(&mut self, trace: String) {
        self.file = trace;
    }
}

impl Taker for SummaryBuilder {
    /// Takes the next record of the file.
    #[inline]
    fn take(&mut self, record: Record) {
        let record = match &mut self.only {
            None => record,
            Some(only) => match only.filter(record) {
                Some(record) => record,
                None => return,
            },
        };
        if let Record::Header(header) = record {
            if let Some(process) = self.process.as_mut().filter(|process| process.goes_on_in(&header)) {
                self.goes_on = false;
                return process.go_on(header);
            }
            // Without an end there is a second header: files were strung together.
            let end = if self.goes_on { End::Rotated } else { End::Cut };
            self.end_process(end, Vec::new());
            self.trace.clone_from(&self.file);
            self.kernels.begin_process(&header.epoch);
            self.process = Some(Box::new(Process::new(self.processes.len(), header)));
            return;
        }
        // The reader gives a header first; without one there is nothing that ids could refer to.
        let Some(mut process) = self.process.take() else { return };
        match record {
            Record::Launch(mut launch) => {
                process.find_hook(&mut launch);
                let work = if launch.capture.is_some() { Work::Captured } else { Work::Launch };
                process.streams.count(launch.stream, &launch.call, work);
                self.launch(&mut process, &launch);
            }
            Record::Gemm(gemm) => self.product(&mut process, &gemm.call.clone(), (*gemm).into()),
            Record::Matmul(matmul) => self.product(&mut process, &matmul.call.clone(), (*matmul).into()),
            Record::Blas(blas) => {
                self.span(&mut process, Span { call: blas.call, ..Span::default() });
            }
            Record::Conv(conv) => self.conv(&mut process, *conv),
            Record::Span(span) => self.span(&mut process, span),
            Record::Mark(mark) => self.mark(&mut process, &mark),
            Record::Load(load) => self.load(&mut process, &load),
            Record::Copy(copy) => {
                self.copies.count(&copy);
                process.streams.count(copy.stream, &copy.call, Work::Copy);
                self.plain_event(&mut process, &copy.call);
            }
            Record::Sync(sync) => {
                self.syncs.count(&sync);
                if sync.action != "device" && sync.action != "event" {
                    process.streams.count(sync.stream, &sync.call, Work::Sync);
                }
                self.plain_event(&mut process, &sync.call);
            }
            Record::Graph(graph) => process.graphs.define(graph),
            Record::GraphCall(graph_call) => {
                process.graphs.call(&graph_call);
                self.plain_event(&mut process, &graph_call.call);
            }
            Record::GraphLaunch(launch) => {
                process.streams.count(launch.stream, &launch.call, Work::GraphLaunch);
                self.graph_launch(&mut process, &launch);
            }
            Record::GpuTime(told) => process.reports.asked(&told),
            Record::GpuKernel(kernel) => self.gpu.name(&mut process.reports, &kernel),
            Record::Gpu(gpu) => self.gpu_report(&mut process, &gpu),
            Record::Stream(stream) => process.streams.define(&stream),
            Record::Capture(_) => {}
            Record::HookTable(table) => table.hooks().for_each(|hook| self.hook(&mut process, hook)),
            Record::Hook(hook) => self.hook(&mut process, hook),
            // Every part of a trace tells of them.
            Record::Interception(point) if process.points.contains(&point) => {}
            Record::Bypass(bypass) if process.bypasses.contains(&bypass) => {}
            Record::Interception(point) => process.points.push(point),
            Record::Bypass(bypass) => process.bypasses.push(bypass),
            Record::Kernel(kernel) => self.kernel(&mut process, *kernel),
            Record::CodeObject(object) => self.code_object(&mut process, &object),
            Record::Recording(recording) => process.pauses.note(&recording),
            Record::Gap(gap) => {
                process.lost += gap.lost;
                self.losses.count(process.number, process.header.pid, &gap);
            }
            Record::InFlight(mut in_flight) => {
                if let Record::Launch(launch) = &mut *in_flight.event {
                    process.find_hook(launch);
                }
                self.in_flight(&mut process, &in_flight.event);
            }
            Record::Library(library) => {
                process.libraries.insert(library.id, library);
            }
            Record::Thread(account) => process.accounted += account.written,
            Record::Footer(footer) => process.footer = Some(footer),
            Record::Device(device) => {
                self.gpus.insert(format!("{} {}", device.gfx, device.name).trim_end().to_owned());
            }
            Record::Header(_) | Record::Unknown => {}
        }
        self.process = Some(process);
    }

    fn wants_arguments(&self, kernel: Option<u32>) -> bool {
        let known = self.process.as_ref().zip(kernel).and_then(|(process, id)| process.kernels.get(&id));
        known.and_then(|kernel| kernel.product.as_ref()).is_some_and(MatMul::reads_arguments)
    }
}

impl SummaryBuilder {
    /// Ends the file whose records were taken.
    pub fn end_file(&mut self, reading: Reading) {
        if reading.end != End::Rotated {
            return self.end_process(reading.end, reading.notes);
        }
        // Its next part may follow.
        self.goes_on = true;
        if let Some(process) = &mut self.process {
            process.note(reading.notes);
        }
    }

    fn end_process(&mut self, end: End, notes: Vec<String>) {
        self.goes_on = false;
        let Some(mut process) = self.process.take() else { return };
        self.launch_by_graphs(&mut process);
        let uncalled = self.only.as_ref().map(Only::uncalled).unwrap_or_default();
        uncalled.into_iter().for_each(|hook| self.hook(&mut process, hook));
        process.runs.end().iter().for_each(|sweep| self.count_sweep(sweep));
        let open_way = |library: &str| process.open_way(library);
        let code_objects = &self.code_objects;
        let launches = |library: &str| launches::of_library(code_objects, &process, library);
        self.coverage.add_process(
            process.seen(),
            &process.libraries,
            &process.blindness(end),
            open_way,
            launches,
        );
        self.unrecorded = self.unrecorded.take().or_else(|| process.unrecorded(end));
        let limits = process.gpu_limits(end);
        self.gpu.end(std::mem::take(&mut process.reports), limits);
        let row = process.row(self.trace.clone(), end, notes);
        self.partial += u64::from(end == End::Rotated || process.is_missing_parts());
        self.fallbacks.add_process(process.kernels.values());
        self.streams.extend(process.streams.rows(process.header.pid));
        self.threads.extend(process.threads.rows(process.header.pid));
        self.gaps.add(&process.threads.gaps);
        self.totals.processes += 1;
        self.totals.running += u64::from(end == End::Running);
        self.totals.events += row.events;
        self.totals.launches += row.launches;
        self.totals.stopped_ns += row.stopped_ns;
        self.totals.late += row.late;
        self.processes.push(row);
    }

    /// All tables.
    pub fn finish(mut self) -> Summary {
        if self.goes_on {
            self.end_process(End::Rotated, Vec::new());
        }
        let mut totals = std::mem::take(&mut self.totals);
        totals.lost = self.losses.total();
        totals.failed = self.failures.total();
        totals.in_flight = self.in_flight.len() as u64;
        let kernels = self.kernels.rows();
        totals.kernels = kernels.len() as u64;
        let unseen = self.unseen(&totals);
        let (lost, origins) = (unseen.calls.as_deref(), unseen.origins.as_deref());
        Summary {
            format: 1,
            phase: self.only.map(|only| only.name),
            epoch: self.kernels.epoch(),
            processes: self.processes,
            families: families(&kernels),
            kernels,
            columns: self.columns.rows(&self.kernels),
            gemms: self.gemms.rows(&self.kernels, self.coverage.numbering(), lost),
            sweeps: self.sweeps.rows(),
            convolutions: self.convolutions.rows(&self.kernels, lost),
            spans: self.spans.rows(&self.kernels),
            graphs: self.graphs,
            gpu: self.gpu.finish(),
            copies: self.copies.rows(),
            syncs: self.syncs.rows(),
            streams: self.streams,
            threads: self.threads,
            gaps: self.gaps.rows(),
            modules: self.modules.rows(),
            fallback: self.fallbacks.judge(&self.kernels, &self.code_objects, origins),
            code_objects: self.code_objects.rows(origins),
            libraries: self.coverage.libraries(),
            libraries_by_process: self.coverage.by_process(),
            functions: self.coverage.functions(),
            failures: self.failures.rows(),
            losses: self.losses.rows(),
            in_flight: self.in_flight,
            notes: self.notes,
            gpus: self.gpus,
            totals,
            unseen: unseen.clone(),
        }
    }

    fn hook(&mut self, process: &mut Process, hook: Hook) {
        let function = self.coverage.number(&hook);
        let events = process.hooks.get(&hook.id).map_or(0, |known| known.events);
        process.hooks.insert(hook.id, LocalHook { hook, function, events });
    }

    fn code_object(&mut self, process: &mut Process, object: &CodeObject) {
        let number = self.code_objects.number(process.number, object);
        if process.code_objects.insert(object.id, (number, object.path.clone())).is_none() {
            self.code_objects.load(number);
        }
    }

    fn kernel(&mut self, process: &mut Process, kernel: Kernel) {
        let number = self.kernels.number(&kernel.name, kernel.demangled.as_deref());
        let code_object = kernel.code_object.and_then(|id| Some(process.code_objects.get(&id)?.0));
        if let Some((number, target)) = code_object.zip(kernel.target.as_deref()) {
            self.code_objects.run(number, target);
        }
        let id = kernel.id;
        let (hook, product) = (kernel.hook, MatMul::of(&kernel));
        let new = LocalKernel { number, code_object, hook, product, launched: false, dispatched: 0 };
        process.kernels.entry(id).or_insert(new);
    }

    /// An event that launches nothing by itself.
    fn plain_event(&mut self, process: &mut Process, call: &Call) {
        let inside = process.nesting.take(call);
        process.nesting.hand_up(call, &inside, None);
        self.event(process, call);
    }

    /// What every event adds to; gives the number of its function.
    fn event(&mut self, process: &mut Process, call: &Call) -> Option<usize> {
        let function = process.count(call);
        if call.status != 0 || call.unwound {
            let (library, name) = self.name(function);
            self.failures.count((function.unwrap_or(usize::MAX), &library, &name), call);
        }
        function
    }

    /// The library and the name of a function.
    fn name(&self, function: Option<usize>) -> (Rc<str>, Rc<str>) {
        let unknown = || ("unknown library".into(), "unknown function".into());
        function.map_or_else(unknown, |number| self.coverage.name(number))
    }
}
