//! What the HIP runtime reported of the GPU: how long each kernel ran, how long each device was
//! busy, and whether every dispatch has a launch that a hook saw.
//!
//! The reports are a count of their own: the launches that the hooks saw, the kernels that launched
//! graphs executed and the runtime's own must add up to the dispatches reported. What is reported
//! and belongs to no recorded call has come past every hook, and has its name here.

mod busy;
mod delays;
mod in_graphs;
mod queues;
mod reported;
mod rows;
mod shares;
#[cfg(test)]
mod tests;

use busy::Busy;
pub(crate) use queues::Queues;
pub(crate) use reported::rules;
pub use rows::{
    GPU_KERNELS, GPU_OVERLAPS, GPU_PRODUCTS, GPU_QUEUES, GPU_SHARES, GPU_TRANSFERS, GpuKernelRow,
    GpuQueueRow, GpuShareRow, LaunchArrow, LaunchDelay, OverlapRow, PastRow, PauseShare, ProductRow,
    TransferRow,
};
pub(crate) use shares::{Shares, is_builtin};

use super::{
    durations::Durations,
    evidence::Evidence,
    interner::Interner,
    session::{CallKey, Event, Session},
};
use foldhash::HashMap;
use rocshim_drain::demangle;
use rocshim_trace::{Call, Gpu, GpuKernel, GpuTime, Record, family};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Uncertainty, ns, of a begin on the GPU against host times, to which a record's `error` adds.
///
/// ROCr converts the device's counter by pairs of both clocks that the driver reads, below 4 µs
/// each; extrapolation and drift add 0.5 µs each (`GpuAgent::TranslateTime`, ROCm 5.4 to 7.2). An
/// interrupt while a pair is read may make it more; no report shows that.
pub(crate) const CLOCK_ERROR: u64 = 5_000;

/// What the runtime reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GpuTimes {
    /// Dispatches that were reported: of launches, of kernels of launched graphs, and the runtime's
    /// own.
    pub dispatches: u64,
    /// Those of them that belong to launches that a hook saw.
    pub of_launches: u64,
    /// Those that belong to launches of graphs.
    pub of_graphs: u64,
    /// Those that are kernels of the runtime's own: copies and fills.
    pub of_runtime: u64,
    /// Those that belong to nothing that a hook saw.
    pub unseen: u64,
    /// Launches that a hook saw and nothing was reported of, while the runtime was asked.
    pub unreported: u64,
    /// Copies and fills that were reported beside them.
    pub copies: u64,
    /// Bytes of these.
    pub copied_bytes: u64,
    /// How long they took on the GPU.
    pub copies_ns: u64,
    /// Time of all dispatches on the GPU.
    pub kernels_ns: u64,
    /// For how long a device was busy with a dispatch or copy, over all devices.
    pub busy_ns: u64,
    /// From the first command of each device to the end of its last, over all devices.
    pub span_ns: u64,
    /// The largest uncertainty of a begin against host times, ns.
    pub clock_error_ns: u64,
    /// Whether every dispatch was seen: `confirmed` (each has its launch), `inferred` (by their
    /// names alone), `limited`.
    pub evidence: Evidence,
    /// Why it is not confirmed.
    pub why: Option<String>,
    /// Each kernel, most time first.
    pub kernels: Vec<GpuKernelRow>,
    /// What came past every hook, most dispatches first.
    pub past: Vec<PastRow>,
    /// The kernels' time by family.
    pub families: Vec<GpuShareRow>,
    /// The kernels' time by code object; kernels of graphs are not included.
    pub code_objects: Vec<GpuShareRow>,
    /// The kernels' time by graph.
    pub graphs: Vec<GpuShareRow>,
    /// GEMMs and convolutions by shape.
    pub products: Vec<ProductRow>,
    /// Copies and fills by kind.
    pub transfers: Vec<TransferRow>,
    /// Each queue of each device: how long it was busy, and its pauses.
    pub queues: Vec<GpuQueueRow>,
    /// How long kernels waited between launch and begin.
    pub delay: Option<LaunchDelay>,
    /// Pairs of queues of a device that were busy at the same time.
    pub overlaps: Vec<OverlapRow>,
    /// Some launches with the begins of their kernels, evenly spread over all.
    #[serde(skip)]
    pub arrows: Vec<LaunchArrow>,
}

/// A kernel's times.
#[derive(Clone, Default)]
struct Times {
    name: String,
    durations: Durations,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

/// What is awaited of a call, or was there before its own line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Launched,
    Reported,
}

/// The reports of the process whose file is read.
#[derive(Clone, Default)]
struct Reports {
    /// When the runtime was asked first; `None`: it never was.
    asked: Option<u64>,
    /// It was not asked all the time, or a copy of it could not be.
    why_not: BTreeSet<String>,
    /// Its reports name their calls.
    names_calls: bool,
    names: HashMap<u32, usize>,
    calls: HashMap<CallKey, Half>,
    /// Kernels that were reported for each call that launched a graph.
    of_graphs: HashMap<CallKey, Vec<usize>>,
    graph_launches: BTreeSet<CallKey>,
    busy: BTreeMap<u32, Busy>,
    past: BTreeMap<(usize, Option<String>), u64>,
    unread: u64,
}

/// The reports of all processes.
#[derive(Clone)]
struct AllReports {
    kernels: Interner<String, Times>,
    times: GpuTimes,
    any: bool,
    why: BTreeSet<String>,
}

impl Default for AllReports {
    fn default() -> AllReports {
        AllReports {
            kernels: Interner::new(),
            times: GpuTimes { evidence: reported::reports(true), ..GpuTimes::default() },
            any: false,
            why: BTreeSet::new(),
        }
    }
}

impl AllReports {
    fn name(&mut self, process: &mut Reports, kernel: &GpuKernel) {
        let name = demangle(&kernel.name).unwrap_or_else(|| kernel.name.clone());
        let number = self.number(name);
        process.names.insert(kernel.id, number);
    }

    fn number(&mut self, name: String) -> usize {
        self.kernels.number(name.clone(), || Times { name, ..Times::default() })
    }

    /// A report, and the recorded call that caused it.
    fn report(&mut self, process: &mut Reports, gpu: &Gpu, call: Option<CallKey>) {
        let op = gpu.op.as_str();
        process.unread += u64::from(op == "unread");
        if !matches!(op, "dispatch" | "copy") {
            return;
        }
        self.times.clock_error_ns = self.times.clock_error_ns.max(CLOCK_ERROR + gpu.error);
        let busy = process.busy.entry(gpu.device).or_default();
        if let Some(since) = busy.add(gpu.begin, gpu.begin + gpu.busy) {
            busy.sum_up_before(since);
        }
        if op == "copy" {
            self.times.copies += 1;
            self.times.copied_bytes += gpu.bytes.unwrap_or(0);
            self.times.copies_ns += gpu.busy;
            return;
        }
        self.times.dispatches += 1;
        self.times.kernels_ns += gpu.busy;
        let name = gpu.kernel.and_then(|id| process.names.get(&id).copied());
        let kernel = name.unwrap_or_else(|| self.number("(name not kept)".into()));
        let times = self.kernels.get_mut(kernel);
        times.min_ns = if times.durations.calls() == 0 { gpu.busy } else { times.min_ns.min(gpu.busy) };
        times.max_ns = times.max_ns.max(gpu.busy);
        times.total_ns += gpu.busy;
        times.durations.add(gpu.busy);
        match call {
            Some(call) => self.belongs(process, call, kernel),
            None => self.belongs_to_none(process, kernel, gpu.function.clone()),
        }
    }

    fn belongs_to_none(&mut self, process: &mut Reports, kernel: usize, function: Option<String>) {
        if function.is_none() && is_builtin(&self.kernels.get(kernel).name) {
            self.times.of_runtime += 1;
        } else {
            *process.past.entry((kernel, function)).or_default() += 1;
        }
    }

    /// A dispatch belongs to a recorded call.
    fn belongs(&mut self, process: &mut Reports, call: CallKey, kernel: usize) {
        if is_builtin(&self.kernels.get(kernel).name) {
            self.times.of_runtime += 1;
        } else if process.graph_launches.contains(&call) {
            self.times.of_graphs += 1;
        } else if process.calls.get(&call) == Some(&Half::Launched) {
            process.calls.remove(&call);
            self.times.of_launches += 1;
        } else {
            // Its own line, a launch's or a graph launch's, is yet to come.
            process.calls.insert(call, Half::Reported);
            process.of_graphs.entry(call).or_default().push(kernel);
        }
    }

    /// A launch that was executed.
    fn launched(&mut self, process: &mut Reports, call: &Call) {
        if process.asked.is_none_or(|asked| call.t < asked) || call.status != 0 || call.unwound {
            return;
        }
        let key = (call.tid, call.id);
        if process.calls.remove(&key) == Some(Half::Reported) {
            self.times.of_launches +=
                process.of_graphs.remove(&key).map_or(0, |kernels| kernels.len() as u64);
        } else {
            process.calls.insert(key, Half::Launched);
        }
    }

    /// A launch of a graph.
    fn graph_launched(&mut self, process: &mut Reports, call: &Call) {
        if process.asked.is_some() {
            let key = (call.tid, call.id);
            process.calls.remove(&key);
            self.times.of_graphs += process.of_graphs.remove(&key).map_or(0, |kernels| kernels.len() as u64);
            process.graph_launches.insert(key);
        }
    }

    /// The end of a process; `limits`: why launches of it may be missing.
    fn end(&mut self, mut process: Reports, limits: Option<String>) {
        if process.asked.is_none() && process.why_not.is_empty() {
            return;
        }
        self.any = true;
        for busy in process.busy.values_mut() {
            let (busy, span, late) = busy.total();
            self.times.busy_ns += busy;
            self.times.span_ns += span;
            self.why.extend(
                (late > 0)
                    .then(|| format!("{late} commands were reported after tens of thousands of later ones")),
            );
        }
        let left: Vec<usize> = process.of_graphs.drain().flat_map(|(_, kernels)| kernels).collect();
        if !left.is_empty() {
            self.why.insert(format!("{} belong to calls whose lines are not in the trace", left.len()));
            self.times.unseen += left.len() as u64;
        }
        let unreported = process.calls.values().filter(|half| **half == Half::Launched).count() as u64;
        self.times.unreported += unreported;
        for ((kernel, function), dispatches) in std::mem::take(&mut process.past) {
            self.times.unseen += dispatches;
            let kernel = self.kernels.get(kernel).name.clone();
            let known =
                self.times.past.iter_mut().find(|row| row.kernel == kernel && row.function == function);
            match known {
                Some(row) => row.dispatches += dispatches,
                None => self.times.past.push(PastRow { kernel, function, dispatches }),
            }
        }
        self.why.append(&mut process.why_not);
        if process.asked.is_some() && !process.names_calls {
            self.why.insert(
                "the runtime's release is not known, so that its reports do not name their calls".into(),
            );
        }
        if process.unread > 0 {
            self.why.insert(format!("{} reports were not understood", process.unread));
        }
        if unreported > 0 {
            self.why.insert(format!("{unreported} launches were not reported"));
        }
        self.why.extend(limits);
    }

    /// What was reported; `None` where the runtime was not asked.
    fn finish(mut self) -> Option<GpuTimes> {
        if !self.any {
            return None;
        }
        let mut times = std::mem::take(&mut self.times);
        let all = times.kernels_ns.max(1) as f64;
        let row = |times: &Times| GpuKernelRow {
            kernel: times.name.clone(),
            family: family(&times.name, Some(&times.name)).map(|family| family.name),
            calls: times.durations.calls(),
            total_ns: times.total_ns,
            share: times.total_ns as f64 / all,
            min_ns: times.min_ns,
            median_ns: times.durations.quantile(50).unwrap_or(0).clamp(times.min_ns, times.max_ns),
            p99_ns: times.durations.quantile(99).unwrap_or(0).clamp(times.min_ns, times.max_ns),
            max_ns: times.max_ns,
            durations: times.durations.clone(),
        };
        times.kernels = self.kernels.values().iter().map(row).filter(|row| row.calls > 0).collect();
        times.kernels.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.kernel.cmp(&b.kernel)));
        times.past.sort_by(|a, b| b.dispatches.cmp(&a.dispatches).then_with(|| a.kernel.cmp(&b.kernel)));
        if times.unseen > 0 {
            self.why.insert("what came past every hook is listed by name".into());
        }
        if !self.why.is_empty() {
            times.evidence = Evidence::Limited;
            times.why = Some(self.why.into_iter().collect::<Vec<_>>().join("; "));
        }
        Some(times)
    }
}

impl Reports {
    /// Whether and how the runtime is asked.
    fn asked(&mut self, change: &GpuTime) {
        match change.state.as_str() {
            "on" => {
                self.asked.get_or_insert(change.t);
                self.names_calls = change.release.is_some();
            }
            "off" => drop(self.why_not.insert("the runtime was not asked all the time".into())),
            _ => self.why_not.extend(change.why.clone()),
        }
    }
}

/// The reports of a reading, as an analysis makes use of them: the processes one after the other.
#[derive(Clone, Default)]
pub(crate) struct GpuBuilder {
    all: AllReports,
    process: Reports,
}

impl GpuBuilder {
    /// Takes what is no event.
    pub(crate) fn record(&mut self, record: &Record) {
        match record {
            Record::GpuTime(change) => self.process.asked(change),
            Record::GpuKernel(kernel) => self.all.name(&mut self.process, kernel),
            _ => {}
        }
    }

    /// Takes a report, and the recorded call that caused it.
    pub(crate) fn report(&mut self, gpu: &Gpu, call: Option<CallKey>) {
        self.all.report(&mut self.process, gpu, call);
    }

    /// Takes a launch.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        let (all, process) = (&mut self.all, &mut self.process);
        match event.record {
            Record::Launch(launch) if launch.capture.is_none() => all.launched(process, &launch.call),
            Record::GraphLaunch(launch) => all.graph_launched(process, &launch.call),
            _ => {}
        }
    }

    /// Ends the process that is read; `limits`: why launches of it may be missing.
    pub(crate) fn end_process(&mut self, limits: Option<String>) {
        self.all.end(std::mem::take(&mut self.process), limits);
    }

    /// What was reported; `None` where the runtime was not asked.
    pub(crate) fn finish(self) -> Option<GpuTimes> {
        self.all.finish()
    }
}

impl GpuTimes {
    /// The same with its shares and queues.
    pub(crate) fn with(mut self, session: &Session, shares: Shares, queues: Queues) -> GpuTimes {
        self.families = shares::families(&self.kernels, self.kernels_ns);
        [self.code_objects, self.graphs] = shares.shares(session, self.kernels_ns);
        (self.products, self.transfers) = shares.finish();
        let delays;
        (self.queues, self.overlaps, delays) = queues.finish();
        (self.delay, self.arrows) = delays.finish();
        self
    }
}
