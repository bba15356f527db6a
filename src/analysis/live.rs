//! Live statistics of followed processes: since the last poll, and in total.
//!
//! The tables are those of `summary`, computed for every process at every poll; a rate is the
//! difference of two polls. Memory grows with the number of distinct rows, not of events.

mod counters;

pub use counters::{LiveCounters, LiveCounts, LiveState};

use super::{Evidence, PhaseKind, PhasesBuilder, Recent, Session, Summary, SummaryBuilder};
use rocshim_reader::{End, Reading, Watcher};
use rocshim_trace::{Header, Record, Tensor, Word, file_name};
use std::{collections::BTreeMap, path::Path};

/// A counter and its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Growth {
    /// Its value at the last poll.
    pub all: u64,
    /// Its growth since the poll before, per second.
    pub per_second: f64,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRow {
    /// A kernel, a family, a problem.
    pub name: String,
    /// The library or kernel family that it belongs to, or the function that ran it.
    pub of: String,
    /// Launches, or calls.
    pub calls: Growth,
    /// Host time of all calls.
    pub host_ns: u64,
}

/// The current phase of a model stream group.
#[derive(Clone, Debug, PartialEq)]
pub struct LivePhase {
    /// Its process.
    pub pid: u32,
    /// The number of the stream group in its process.
    pub stream_group: usize,
    /// The kind of its last pass, or the program's own label for it.
    pub name: String,
    /// How certain the kind is.
    pub evidence: Evidence,
    /// Columns (ne11) of the last pass; absent where they are not known.
    pub columns: Option<u64>,
    /// Passes that have ended.
    pub passes: Growth,
    /// Columns of all passes whose columns are known.
    pub tokens: Growth,
    /// Launches of the last pass.
    pub launches: u64,
    /// Duration of the last pass, in ns.
    pub pass_ns: u64,
    /// Time since the end of the last pass, in ns.
    pub idle_ns: u64,
}

/// The collector thread of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Collector {
    /// Its CPU time so far.
    pub busy_ns: u64,
    /// The fill level of the fullest ring, 0 to 1.
    pub fullest_ring: f64,
}

/// A process.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveProcess {
    /// Its process id.
    pub pid: u32,
    /// The file name of its executable.
    pub program: String,
    /// `running`, or how it ended, as in `summary`; `out of sight` when the trace has no end and
    /// its process is not visible.
    pub end: String,
    /// Events in its trace.
    pub events: Growth,
    /// Kernel launches.
    pub launches: Growth,
    /// Events counted as lost.
    pub lost: u64,
    /// CPU time of the collector as a fraction of one core; absent once the process has ended or
    /// when it cannot be queried.
    pub collector: Option<f64>,
    /// The fill level of the fullest ring, 0 to 1; absent like `collector`.
    pub fullest_ring: Option<f64>,
}

/// Statistics of all followed processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveStats {
    /// Events in the traces.
    pub events: Growth,
    /// Kernel launches.
    pub launches: Growth,
    /// BLAS GEMMs.
    pub products: Growth,
    /// Calls that returned an error.
    pub failed: Growth,
    /// Events counted as lost.
    pub lost: Growth,
    /// What was lost, by reason.
    pub losses: BTreeMap<Word, u64>,
    /// Launches per second at the last polls, oldest first.
    pub history: Vec<u64>,
    /// Processes that have not ended.
    pub running: usize,
    /// CPU time of all collectors, as a fraction of one core.
    pub collectors: Option<f64>,
    /// Busy time of all GPUs per second of time, 1 for one device that is always busy; absent where
    /// no process has GPU times.
    pub gpu_busy: Option<f64>,
    /// The current phase of each model stream group.
    pub phases: Vec<LivePhase>,
    /// A row per process.
    pub processes: Vec<LiveProcess>,
    /// Kernels, by name.
    pub kernels: Vec<LiveRow>,
    /// Families of kernels, by name.
    pub families: Vec<LiveRow>,
    /// GEMMs by function and sizes.
    pub products_by_problem: Vec<LiveRow>,
    /// Convolutions by problem.
    pub convolutions: Vec<LiveRow>,
}

/// Polls whose launches are kept.
const HISTORY: usize = 240;

/// The followed processes.
#[derive(Default)]
pub struct Live {
    traces: BTreeMap<usize, Trace>,
    before: Before,
    history: Vec<u64>,
}

/// The counters at the last poll.
#[derive(Default)]
struct Before {
    /// On a monotonic clock; `None` before the first poll.
    at_ns: Option<u64>,
    counts: BTreeMap<(Counted, String, String), u64>,
}

/// The table that a count belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    All,
    Process,
    Collector,
    Phase,
    Kernel,
    Family,
    Product,
    Convolution,
}

/// A followed trace.
struct Trace {
    path: String,
    header: Option<Header>,
    state: TraceState,
    /// True if its process is not visible and nothing arrives.
    is_silent: bool,
    stream_groups: BTreeMap<usize, LiveGroup>,
}

enum TraceState {
    Open(Box<OpenTrace>),
    Ended(Box<Summary>),
}

/// The analyses of a trace being read.
struct OpenTrace {
    session: Session,
    phases: PhasesBuilder,
    summary: SummaryBuilder,
}

impl OpenTrace {
    fn so_far(&self) -> Summary {
        self.summary.so_far(&self.session)
    }
}

struct LiveGroup {
    last: Recent,
    passes: u64,
    tokens: u64,
}

impl Live {
    /// Returns the processes that have not ended, by trace number.
    pub fn running(&self) -> impl Iterator<Item = (usize, &Header)> {
        let is_open = |trace: &Trace| matches!(trace.state, TraceState::Open(_)) && !trace.is_silent;
        let traces = self.traces.iter().filter(move |(_, trace)| is_open(trace));
        traces.filter_map(|(number, trace)| Some((*number, trace.header.as_ref()?)))
    }

    /// Returns the statistics at `unix_ns`, which is `at_ns` on a monotonic clock; `None` while
    /// earlier records are read, for which no rate is shown. `collectors` are those that replied,
    /// by trace.
    pub fn measure(
        &mut self,
        (at_ns, unix_ns): (Option<u64>, u64),
        collectors: &BTreeMap<usize, Collector>,
    ) -> LiveStats {
        let elapsed = at_ns.zip(self.before.at_ns).map_or(0, |(now, before)| now.saturating_sub(before));
        let before = std::mem::replace(&mut self.before, Before { at_ns, counts: BTreeMap::new() });
        let mut rates = Rates { before: before.counts, now: &mut self.before.counts, elapsed };
        let mut stats = LiveStats::default();
        let (mut events, mut launches, mut products, mut failed, mut lost) = (0, 0, 0, 0, 0);
        let mut gpu_busy: Option<u64> = None;
        let mut tables: BTreeMap<(Counted, String, String), (u64, u64)> = BTreeMap::new();
        for (number, trace) in &mut self.traces {
            trace.note_passes();
            let (summary, is_open) = match &trace.state {
                TraceState::Open(reading) => (&reading.so_far(), !trace.is_silent),
                TraceState::Ended(summary) => (&**summary, false),
            };
            stats.running += usize::from(is_open);
            add_tables(&mut tables, summary);
            events += summary.totals.events;
            launches += summary.totals.launches;
            products += summary.totals.gemms;
            failed += summary.totals.failed;
            lost += summary.totals.lost;
            if let Some(gpu) = &summary.gpu {
                *gpu_busy.get_or_insert(0) += gpu.busy_ns;
            }
            summary.losses.iter().for_each(|row| {
                *stats.losses.entry(row.reason.clone()).or_default() += row.lost;
            });
            let id = number.to_string();
            for process in &summary.processes {
                let collector = collectors.get(number).filter(|_| is_open);
                stats.processes.push(LiveProcess {
                    pid: process.pid,
                    program: program(&process.exe, &process.argv),
                    end: if trace.is_silent { "out of sight".into() } else { process.end.clone() },
                    events: rates.of(Counted::Process, (&id, "events"), process.events),
                    launches: rates.of(Counted::Process, (&id, "launches"), process.launches),
                    lost: process.lost,
                    collector: collector.map(|collector| {
                        rates.of(Counted::Collector, (&id, ""), collector.busy_ns).per_second / 1e9
                    }),
                    fullest_ring: collector.map(|collector| collector.fullest_ring),
                });
            }
            let pid = trace.header.as_ref().map_or(0, |header| header.pid);
            for (group, at) in trace.stream_groups.iter().filter(|_| is_open) {
                let place = format!("{id} {group}");
                stats.phases.push(LivePhase {
                    pid,
                    stream_group: *group,
                    name: at.last.name().to_string(),
                    evidence: at.last.evidence,
                    columns: at.last.columns,
                    passes: rates.of(Counted::Phase, (&place, "passes"), at.passes),
                    tokens: rates.of(Counted::Phase, (&place, "tokens"), at.tokens),
                    launches: at.last.launches,
                    pass_ns: at.last.end.saturating_sub(at.last.begin),
                    idle_ns: unix_ns.saturating_sub(at.last.end),
                });
            }
        }
        let mut growth = |what: &str, all: u64| rates.of(Counted::All, (what, ""), all);
        stats.events = growth("events", events);
        stats.launches = growth("launches", launches);
        stats.products = growth("products", products);
        stats.failed = growth("failed", failed);
        stats.lost = growth("lost", lost);
        stats.gpu_busy = gpu_busy.map(|busy_ns| growth("gpu", busy_ns).per_second / 1e9);
        for ((table, name, of), (calls, host_ns)) in tables {
            let calls = rates.of(table, (&name, &of), calls);
            let row = LiveRow { name, of, calls, host_ns };
            match table {
                Counted::Kernel => stats.kernels.push(row),
                Counted::Family => stats.families.push(row),
                Counted::Product => stats.products_by_problem.push(row),
                Counted::Convolution => stats.convolutions.push(row),
                Counted::All | Counted::Process | Counted::Collector | Counted::Phase => {}
            }
        }
        let asked: Vec<f64> = stats.processes.iter().filter_map(|process| process.collector).collect();
        stats.collectors = (!asked.is_empty()).then(|| asked.iter().sum());
        if elapsed > 0 {
            self.history.push(stats.launches.per_second.round() as u64);
            self.history.drain(..self.history.len().saturating_sub(HISTORY));
        }
        stats.history.clone_from(&self.history);
        stats
    }
}

impl Watcher for Live {
    fn begin(&mut self, trace: usize, path: &Path) {
        let path = path.display().to_string();
        let mut reading = OpenTrace {
            session: Session::default(),
            phases: PhasesBuilder::new(Vec::new()),
            summary: SummaryBuilder::default(),
        };
        let OpenTrace { session, phases, summary } = &mut reading;
        session.begin_file(path.clone(), &mut [phases, summary]);
        let state = TraceState::Open(Box::new(reading));
        self.traces.insert(
            trace,
            Trace { path, header: None, state, is_silent: false, stream_groups: BTreeMap::new() },
        );
    }

    fn take(&mut self, trace: usize, record: Record) {
        let Some(trace) = self.traces.get_mut(&trace) else { return };
        if let Record::Header(header) = &record {
            trace.header.get_or_insert_with(|| header.clone());
        }
        if let TraceState::Open(reading) = &mut trace.state {
            let OpenTrace { session, phases, summary } = &mut **reading;
            session.visit(&record, &mut [phases, summary]);
        }
    }

    fn silent(&mut self, trace: usize, is_silent: bool) {
        if let Some(trace) = self.traces.get_mut(&trace) {
            trace.is_silent = is_silent;
        }
    }

    fn end(&mut self, trace: usize, end: Reading) {
        let Some(trace) = self.traces.get_mut(&trace) else { return };
        let TraceState::Open(reading) = &mut trace.state else { return };
        let OpenTrace { session, phases, summary } = &mut **reading;
        session.end_file(&end, &mut [phases, summary]);
        if end.end == End::Rotated {
            return session.begin_file(trace.path.clone(), &mut [phases, summary]);
        }
        trace.note_passes();
        if let TraceState::Open(reading) = &trace.state {
            trace.state = TraceState::Ended(Box::new(reading.so_far()));
        }
    }

    fn wants_arguments(&self, trace: usize, kernel: Option<u32>) -> bool {
        match self.traces.get(&trace).map(|trace| &trace.state) {
            Some(TraceState::Open(reading)) => reading.session.wants_arguments(kernel),
            _ => false,
        }
    }
}

/// Adds the calls and host times of a process to the tables.
fn add_tables(tables: &mut BTreeMap<(Counted, String, String), (u64, u64)>, summary: &Summary) {
    let mut add = |table: Counted, name: String, of: String, calls: u64, host_ns: u64| {
        let row = tables.entry((table, name, of)).or_default();
        *row = (row.0 + calls, row.1 + host_ns);
    };
    for kernel in &summary.kernels {
        let family = rocshim_trace::family(&kernel.name, kernel.demangled.as_deref());
        let name = kernel.demangled.as_ref().unwrap_or(&kernel.name).clone();
        let of = family.map_or_else(String::new, |family| format!("{}: {}", family.of, family.name));
        add(Counted::Kernel, name, of, kernel.launches, kernel.total_ns);
    }
    for family in &summary.families {
        let name = family.family.unwrap_or("unknown").into();
        add(Counted::Family, name, family.of.unwrap_or("").into(), family.launches, family.total_ns);
    }
    for gemm in &summary.gemms {
        add(
            Counted::Product,
            gemm.problem.in_short(),
            gemm.function.clone(),
            gemm.counts.calls,
            gemm.counts.total_ns,
        );
    }
    for conv in &summary.convolutions {
        let dims = |tensor: &Option<Tensor>| tensor.as_ref().map_or("?".into(), Tensor::lengths);
        let name =
            format!("{} {} with {}", conv.problem.direction, dims(&conv.problem.x), dims(&conv.problem.w));
        let of = format!("{}: {}", conv.function, conv.solver.as_deref().unwrap_or(&conv.action));
        add(Counted::Convolution, name, of, conv.counts.calls, conv.counts.total_ns);
    }
}

/// Returns a short form of a command line: the executable's file name and the first arguments.
fn program(exe: &str, argv: &[String]) -> String {
    let first = argv.first().map_or(exe, String::as_str);
    let name = file_name(first);
    [name].into_iter().chain(argv.iter().skip(1).map(String::as_str)).collect::<Vec<_>>().join(" ")
}

impl Trace {
    /// Adds the passes that have ended.
    fn note_passes(&mut self) {
        let TraceState::Open(reading) = &mut self.state else { return };
        for recent in reading.phases.recent(&reading.session) {
            let tokens = match recent.kind {
                PhaseKind::Prompt | PhaseKind::Decode | PhaseKind::WarmUp => recent.columns.unwrap_or(0),
                _ => 0,
            };
            let (passes, before) = self
                .stream_groups
                .get(&recent.stream_group)
                .map_or((0, 0), |group| (group.passes, group.tokens));
            self.stream_groups.insert(
                recent.stream_group,
                LiveGroup { last: recent, passes: passes + 1, tokens: before + tokens },
            );
        }
    }
}

/// Computes rates from the counters of this poll and the last.
struct Rates<'a> {
    before: BTreeMap<(Counted, String, String), u64>,
    now: &'a mut BTreeMap<(Counted, String, String), u64>,
    elapsed: u64,
}

impl Rates<'_> {
    fn of(&mut self, table: Counted, (name, of): (&str, &str), all: u64) -> Growth {
        let key = (table, name.to_string(), of.to_string());
        let since = all.saturating_sub(self.before.get(&key).copied().unwrap_or(0));
        self.now.insert(key, all);
        let per_second = if self.elapsed == 0 { 0.0 } else { since as f64 * 1e9 / self.elapsed as f64 };
        Growth { all, per_second }
    }
}

#[cfg(test)]
mod tests;
