//! Evaluates the HIP runtime's reports: how long each kernel ran, how long each device was busy,
//! and whether every dispatch has an intercepted launch.
//!
//! The reports are an independent count: intercepted launches, kernels of graph launches, and the
//! runtime's own kernels must add up to the reported dispatches. A dispatch that belongs to no
//! recorded call has bypassed every hook, and is listed by name.

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

/// The GPU times of a reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GpuTimes {
    /// Reported dispatches: of launches, of kernels of graph launches, and of the runtime itself.
    pub dispatches: u64,
    /// Dispatches of intercepted launches.
    pub of_launches: u64,
    /// Dispatches of graph launches.
    pub of_graphs: u64,
    /// Dispatches of the runtime's own kernels: copies and fills.
    pub of_runtime: u64,
    /// Dispatches that belong to no intercepted call.
    pub unseen: u64,
    /// Intercepted launches without a report, while reports were requested.
    pub unreported: u64,
    /// Reported copies and fills.
    pub copies: u64,
    /// Bytes that they moved.
    pub copied_bytes: u64,
    /// Their time on the GPU.
    pub copies_ns: u64,
    /// Time of all dispatches on the GPU.
    pub kernels_ns: u64,
    /// Time in which a device was busy with a dispatch or copy, summed over all devices.
    pub busy_ns: u64,
    /// Time from the first command of each device to the end of its last, summed over all devices.
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
    /// Dispatches that bypassed every hook, by kernel, most dispatches first.
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

/// Which half of a pair, a call's line and its report, was read first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Launched,
    Reported,
}

/// The reports of the process being read.
#[derive(Clone, Default)]
struct Reports {
    /// When reports were first requested; `None`: never.
    asked: Option<u64>,
    /// Why reports were not requested all the time, or not from every copy of the runtime.
    why_not: BTreeSet<String>,
    /// True if its reports name their calls.
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

    /// Adds a report, with the recorded call that caused it.
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

    /// Assigns a dispatch to a recorded call.
    fn belongs(&mut self, process: &mut Reports, call: CallKey, kernel: usize) {
        if is_builtin(&self.kernels.get(kernel).name) {
            self.times.of_runtime += 1;
        } else if process.graph_launches.contains(&call) {
            self.times.of_graphs += 1;
        } else if process.calls.get(&call) == Some(&Half::Launched) {
            process.calls.remove(&call);
            self.times.of_launches += 1;
        } else {
            // The line of the launch or graph launch has not been read yet.
            process.calls.insert(call, Half::Reported);
            process.of_graphs.entry(call).or_default().push(kernel);
        }
    }

    /// Handles an executed launch.
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

    /// Handles a graph launch.
    fn graph_launched(&mut self, process: &mut Reports, call: &Call) {
        if process.asked.is_some() {
            let key = (call.tid, call.id);
            process.calls.remove(&key);
            self.times.of_graphs += process.of_graphs.remove(&key).map_or(0, |kernels| kernels.len() as u64);
            process.graph_launches.insert(key);
        }
    }

    /// Ends a process; `limits`: why launches of it may be missing.
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
    /// Handles a change of whether reports are requested.
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

/// Collects the reports of a reading, process after process.
#[derive(Clone, Default)]
pub(crate) struct GpuBuilder {
    all: AllReports,
    process: Reports,
}

impl GpuBuilder {
    /// Handles a record that is not an event.
    pub(crate) fn record(&mut self, record: &Record) {
        match record {
            Record::GpuTime(change) => self.process.asked(change),
            Record::GpuKernel(kernel) => self.all.name(&mut self.process, kernel),
            _ => {}
        }
    }

    /// Handles a report, with the recorded call that caused it.
    pub(crate) fn report(&mut self, gpu: &Gpu, call: Option<CallKey>) {
        self.all.report(&mut self.process, gpu, call);
    }

    /// Handles a launch.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        let (all, process) = (&mut self.all, &mut self.process);
        match event.record {
            Record::Launch(launch) if launch.capture.is_none() => all.launched(process, &launch.call),
            Record::GraphLaunch(launch) => all.graph_launched(process, &launch.call),
            _ => {}
        }
    }

    /// Ends the process being read; `limits`: why launches of it may be missing.
    pub(crate) fn end_process(&mut self, limits: Option<String>) {
        self.all.end(std::mem::take(&mut self.process), limits);
    }

    /// What was reported; `None` where the runtime was not asked.
    pub(crate) fn finish(self) -> Option<GpuTimes> {
        self.all.finish()
    }
}

impl GpuTimes {
    /// Returns the GPU times with shares and queues.
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
