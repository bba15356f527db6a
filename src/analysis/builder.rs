//! Builds the summary: the analysis that fills the tables of `rocshim summary`.

mod calls;
mod in_flight;
mod launches;
mod products;
mod trials;
mod visibility_gaps;

use super::{
    GraphRow, InFlightRow, ProcessRow, StreamRow, Summary, ThreadRow, Totals,
    code_objects::CodeObjects,
    columns::AllColumns,
    convolutions::Convolutions,
    coverage::Coverage,
    failures::Failures,
    fallback::Fallbacks,
    families::families,
    gemms::Gemms,
    gpu::{GpuBuilder, Queues, Shares},
    interner::PerId,
    job_ranks::{Counts, JobRanks},
    kernels::Kernels,
    losses::Losses,
    modules::Modules,
    nesting::Nesting,
    session::{Analysis, CallKey, Event, FunctionId, KernelId, Session},
    spans::Spans,
    streams::{Streams, Work},
    sweeps::{Runs, Sweeps},
    threads::{Gaps, Threads},
    transfers::{Copies, Syncs},
};
use foldhash::HashSet;
use rocshim_reader::{End, Reading};
use rocshim_trace::{Gpu, Kernel, Record, ggml::MatMul};
use std::{collections::BTreeSet, sync::Arc};

/// Adds up the records of a reading.
#[derive(Clone, Default)]
pub struct SummaryBuilder {
    /// Traces of which not all segments were read.
    partial: u64,
    /// Counts of the process being read.
    open: ProcessCounts,
    totals: Totals,
    processes: Vec<ProcessRow>,
    ranks: JobRanks,
    kernels: Kernels,
    columns: AllColumns,
    code_objects: CodeObjects,
    fallbacks: Fallbacks,
    gemms: Gemms,
    sweeps: Sweeps,
    convolutions: Convolutions,
    spans: Spans,
    graphs: Vec<GraphRow>,
    gpu: GpuBuilder,
    shares: Shares,
    gpu_queues: Queues,
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
    gpus: BTreeSet<String>,
}

/// The counts of one process, while it is read.
#[derive(Clone, Default)]
struct ProcessCounts {
    nesting: Nesting,
    runs: Runs,
    threads: Threads,
    streams: Streams,
    launches: u64,
    dispatched: PerId<KernelId, Dispatched>,
    /// Ids of code objects that were loaded.
    loaded: HashSet<u32>,
    /// Totals of the processes before it.
    before: Totals,
}

/// Launches of a kernel in a process.
#[derive(Clone, Copy, Default)]
struct Dispatched {
    /// Those that succeeded.
    succeeded: u64,
}

impl SummaryBuilder {
    /// Returns the summary so far, of a process that continues.
    pub(crate) fn so_far(&self, session: &Session) -> Summary {
        let mut builder = self.clone();
        if session.is_reading() {
            builder.end_process(session, &Reading { end: End::Running, notes: Vec::new() });
        }
        builder.finish(session)
    }
}

impl Analysis for SummaryBuilder {
    fn begin_process(&mut self, session: &Session) {
        if session.scope().is_some() {
            self.coverage.of_phases();
        }
        self.kernels.begin_process(&session.process().header.epoch);
        self.ranks.begin_process(session.process());
        self.open = ProcessCounts { before: self.totals.clone(), ..ProcessCounts::default() };
    }

    fn record(&mut self, session: &Session, record: &Record) {
        self.gpu.record(record);
        self.shares.record(record);
        self.gpu_queues.record(session, record);
        self.ranks.record(record);
        let process = session.process();
        match record {
            Record::Stream(stream) => self.open.streams.define(stream),
            Record::CodeObject(object) => {
                if let Some(id) = process.code_object(object.id)
                    && self.open.loaded.insert(object.id)
                {
                    self.code_objects.load(id);
                }
            }
            Record::Gap(gap) => self.losses.count(process.id, process.header.pid, gap),
            Record::Device(device) => {
                self.gpus.insert(format!("{} {}", device.gfx, device.name).trim_end().to_owned());
            }
            _ => {}
        }
    }

    fn event(&mut self, session: &Session, event: &Event) {
        self.gpu.event(event);
        self.shares.event(session, event);
        self.gpu_queues.event(event);
        let (call, streams) = (event.call, &mut self.open.streams);
        match event.record {
            Record::Launch(launch) => {
                let work = if launch.capture.is_some() { Work::Captured } else { Work::Launch };
                streams.count(launch.stream, call, work);
                self.launch(session, event, launch);
            }
            Record::Gemm(gemm) => self.product(session, event, (**gemm).clone().into()),
            Record::Matmul(matmul) => self.product(session, event, (**matmul).clone().into()),
            Record::Blas(_) => self.span(session, event, None),
            Record::Conv(conv) => self.conv(session, event, conv),
            Record::Span(span) => self.span(session, event, Some(span)),
            Record::Mark(_) => {
                self.totals.marks += 1;
                self.plain_event(session, event);
            }
            Record::Load(load) => self.load(session, event, load),
            Record::Copy(copy) => {
                self.copies.count(copy);
                streams.count(copy.stream, call, Work::Copy);
                self.plain_event(session, event);
            }
            Record::Sync(sync) => {
                self.syncs.count(sync);
                if sync.action != "device" && sync.action != "event" {
                    streams.count(sync.stream, call, Work::Sync);
                }
                self.plain_event(session, event);
            }
            Record::GraphCall(_) => self.plain_event(session, event),
            Record::GraphLaunch(launch) => {
                streams.count(launch.stream, call, Work::GraphLaunch);
                self.totals.graph_launches += 1;
                self.plain_event(session, event);
            }
            _ => {}
        }
        self.shares.end_call(call);
    }

    fn report(&mut self, session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        self.gpu.report(gpu, call);
        self.shares.report(session, gpu, call);
        self.gpu_queues.report(gpu, call);
    }

    fn in_flight(&mut self, session: &Session, event: &Event) {
        self.count_in_flight(session, event);
    }

    fn end_process(&mut self, session: &Session, reading: &Reading) {
        let (process, end) = (session.process(), reading.end);
        self.launch_by_graphs(session);
        let mut open = std::mem::take(&mut self.open);
        open.runs.end().iter().for_each(|sweep| self.count_sweep(session, sweep));
        self.coverage.add_process(
            process.hook_uses(),
            &process.libraries,
            &process.visibility_gaps(end),
            |library| process.possible_bypass(library),
            |library| open.launches_of_library(session, library),
        );
        self.unrecorded = self.unrecorded.take().or_else(|| process.unrecorded(end));
        let gpu_limits = process.gpu_limits(end);
        self.shares.end_process(session);
        self.gpu_queues.end_process(session, gpu_limits.is_none());
        self.gpu.end_process(gpu_limits);
        let counts = self.counts_of(session, &open);
        let ran = open.dispatched.iter().filter(|(_, dispatched)| dispatched.succeeded > 0).map(|(id, _)| id);
        self.ranks.end_process(session, end, counts, ran);
        let row = ProcessRow::new(process, reading, open.launches);
        self.partial += u64::from(end == End::Rotated || process.is_missing_segments());
        for (id, dispatched) in open.dispatched.iter() {
            let kernel = session.kernel(id);
            self.fallbacks.add(kernel.symbol, kernel.code_object, dispatched.succeeded);
        }
        self.streams.extend(open.streams.rows(process.header.pid));
        self.threads.extend(open.threads.rows(process.header.pid));
        self.gaps.add(&open.threads.gaps);
        self.totals.processes += 1;
        self.totals.running += u64::from(end == End::Running);
        self.totals.events += row.events;
        self.totals.launches += row.launches;
        self.totals.stopped_ns += row.stopped_ns;
        self.totals.late += row.late;
        self.processes.push(row);
    }

    fn wants_arguments(&self, kernel: Option<&Kernel>) -> bool {
        kernel.and_then(MatMul::of).is_some_and(|product| product.reads_arguments())
    }
}

impl SummaryBuilder {
    /// Returns the summary of a finished reading.
    pub fn finish(mut self, session: &Session) -> Summary {
        let mut totals = std::mem::take(&mut self.totals);
        totals.lost = self.losses.total();
        totals.failed = self.failures.total();
        totals.in_flight = self.in_flight.len() as u64;
        let kernels = self.kernels.rows(session);
        totals.kernels = kernels.len() as u64;
        let visibility_gaps = self.visibility_gaps(&totals);
        let (lost, origins) = (visibility_gaps.calls.as_deref(), visibility_gaps.origins.as_deref());
        Summary {
            format: 1,
            phase: session.scope().map(|scope| scope.name.clone()),
            epoch: self.kernels.epoch(),
            processes: self.processes,
            ranks: self.ranks.finish(),
            families: families(&kernels),
            kernels,
            columns: self.columns.rows(session),
            gemms: self.gemms.rows(session, self.coverage.numbering(), lost),
            sweeps: self.sweeps.rows(),
            convolutions: self.convolutions.rows(session, lost),
            spans: self.spans.rows(session),
            graphs: self.graphs,
            gpu: self.gpu.finish().map(|gpu| gpu.with(session, self.shares, self.gpu_queues)),
            copies: self.copies.rows(),
            syncs: self.syncs.rows(),
            streams: self.streams,
            threads: self.threads,
            gaps: self.gaps.rows(),
            modules: self.modules.rows(),
            fallback: self.fallbacks.judge(session, origins),
            code_objects: self.code_objects.rows(session, origins),
            libraries: self.coverage.libraries(),
            libraries_by_process: self.coverage.by_process(),
            functions: self.coverage.functions(),
            failures: self.failures.rows(),
            losses: self.losses.rows(),
            in_flight: self.in_flight,
            notes: session.unread().to_vec(),
            gpus: self.gpus,
            totals,
            visibility_gaps: visibility_gaps.clone(),
        }
    }

    /// Returns what the process that ends has done, for its rank.
    fn counts_of(&self, session: &Session, open: &ProcessCounts) -> Counts {
        let (now, before) = (&self.totals, &open.before);
        let is_fallback = |id: KernelId| {
            let object = session.kernel(id).code_object.map(|object| session.code_object(object));
            object.is_some_and(|object| object.fallback == Some(true))
        };
        let fallback = open.dispatched.iter().filter(|(id, of)| of.succeeded > 0 && is_fallback(*id));
        let unknown = |totals: &Totals| {
            totals.unnamed_launches + totals.unlisted_graph_launches + totals.launches_in_doubt
        };
        Counts {
            launches: open.launches,
            gemms: now.gemms - before.gemms,
            convolutions: now.convolutions - before.convolutions,
            fallback_launches: fallback.map(|(_, of)| of.succeeded).sum(),
            unknown: unknown(now) - unknown(before),
        }
    }

    /// Counts an event that launches nothing itself.
    fn plain_event(&mut self, session: &Session, event: &Event) {
        let inside = self.open.nesting.take(event.call);
        self.open.nesting.hand_up(event.call, &inside, None);
        self.count(session, event);
    }

    /// Updates the counts that apply to every event.
    #[inline]
    fn count(&mut self, session: &Session, event: &Event) {
        self.open.threads.count(event.call);
        if event.failed() {
            let (library, name) = names(session, event.ids.function);
            self.failures.count((event.ids.function, &library, &name), event.call);
        }
    }
}

/// Returns the library and the name of a function.
fn names(session: &Session, function: Option<FunctionId>) -> (Arc<str>, Arc<str>) {
    match function.map(|id| session.function(id)) {
        Some(function) => (function.library.clone(), function.name.clone()),
        None => ("unknown library".into(), "unknown function".into()),
    }
}
