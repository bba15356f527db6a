//! Kernels by symbol: launches and durations in each run, and kernels that only one run has.

use super::{
    ComparedRun, PerRun, Presence, Seen,
    counterparts::{self, Counterpart},
    per_run::seen_cell,
    significance::{self, Test},
};
use crate::evidence::observations::absence;
use crate::{Evidence, GpuKernelRow, KernelRow, durations::Durations, names, table::Cell, units};
use foldhash::HashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// A kernel that some run launched.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedKernel {
    /// The symbol, as the compiler named it.
    pub name: String,
    /// The demangled name, if the symbol is mangled.
    pub demangled: Option<String>,
    /// Launches and times in each run; absent where it never launched the kernel.
    #[serde(rename = "sides")]
    pub runs: PerRun<KernelCell>,
    /// Differences from the baseline, for each other run.
    pub versus: PerRun<KernelChange>,
}

crate::table! {
    /// The kernels of the runs.
    COMPARED_KERNELS: ComparedKernel = "kernels", "Kernels (host time of the launch calls, not GPU time)",
        "a kernel that a run launched";
    |row|
    count[each run]("sides.RUN.launches", "launches", "launches in each run")
        => row.runs.get(run).map(|cell| cell.launches);
    words[each_other run]("versus.RUN.launches", "change", "launches more than the baseline's, and their ratio")
        .right() => row.versus.of_run(run).and_then(KernelChange::in_words);
    words[each_other run]("versus.RUN.times", "takes", "median of the calls but each process's first as a multiple of the baseline's")
        .right() => row.versus.of_run(run).and_then(|change| change.times.in_words());
    words[each_other run]("versus.RUN.times.q", "q", "the test's p, adjusted for all kernels").right().on_page()
        => row.versus.of_run(run).and_then(|change| change.times.q).map(|q| format!("{q:.3}"));
    time[each run]("sides.RUN.median_ns", "median", "median of the calls but each process's first (right to 0.8 %)").no_sum().optional()
        => row.runs.get(run).and_then(|cell| cell.median_ns);
    time[each run]("sides.RUN.total_ns", "total", "host time of all launch calls").optional()
        => row.runs.get(run).map(|cell| cell.total_ns);
    kernel("name", "kernel", "its symbol").name() => Cell::Kernel(row.name.clone(), row.demangled.clone());
    words("versus", "where it ran", "whether a launch of it succeeded in each run and the baseline").on_page()
        => seen_cell(&row.runs, row.versus.labelled().map(|(run, change)| (run, &change.presence)));
    words("counterpart", "in its place", "the kernel of the other run that seems to replace it")
        .derived().on_page() => row.counterparts();
}

crate::table! {
    /// The same kernels by their time on the GPU.
    COMPARED_GPU: ComparedKernel = "kernels", "Kernels on the GPU (as the HIP runtime reported them; the same test)",
        "a kernel with its time on the GPU";
    |row|
    count[each run]("sides.RUN.gpu_calls", "calls", "dispatches that were reported of each run")
        => row.on_gpu(run).map(|cell| cell.gpu_calls);
    words[each_other run]("versus.RUN.gpu", "takes", "median of the dispatches as a multiple of the baseline's")
        .right() => row.versus.of_run(run).and_then(|change| change.gpu.in_words());
    time[each run]("sides.RUN.gpu_median_ns", "median", "median of the dispatches").no_sum()
        => row.on_gpu(run).and_then(|cell| cell.gpu_median_ns);
    time[each run]("sides.RUN.gpu_total_ns", "total", "time of all of them on the GPU").optional()
        => row.on_gpu(run).map(|cell| cell.gpu_total_ns);
    kernel("name", "kernel", "its symbol").name() => Cell::Kernel(row.name.clone(), row.demangled.clone());
}

impl ComparedKernel {
    /// Returns the kernel's GPU times in a run, if it has any.
    fn on_gpu(&self, run: usize) -> Option<&KernelCell> {
        self.runs.get(run).filter(|cell| cell.gpu_calls > 0)
    }

    fn counterparts(&self) -> Cell {
        let others = self.versus.iter().flatten().filter_map(|change| change.counterpart.as_ref());
        let statement = |other: &Counterpart| {
            let name = names::tidy(other.demangled.as_deref().unwrap_or(&other.name)).into_owned();
            (name, Some((other.evidence, Some(format!("{}: {}", other.rule, other.why)))))
        };
        Cell::Statements(others.map(statement).collect())
    }
}

/// A kernel in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelCell {
    /// Launches, including failed ones: direct ones, and those by graph launches.
    pub launches: u64,
    /// Those of them by graph launches, which have no call and no host time.
    pub by_graphs: u64,
    /// Those of them that were trials: made while a library searched for the fastest solution.
    pub trials: u64,
    /// Launches that returned an error.
    pub failed: u64,
    /// Successful launches.
    pub ran: u64,
    /// Host time of all launch calls.
    pub total_ns: u64,
    /// Median duration of the successful launch calls except the first in each process, accurate to
    /// 0.8 %.
    pub median_ns: Option<u64>,
    /// Its dispatches that the HIP runtime reported.
    pub gpu_calls: u64,
    /// Time of these dispatches on the GPU.
    pub gpu_total_ns: u64,
    /// Their median, accurate to 0.8 %; absent without reports.
    pub gpu_median_ns: Option<u64>,
}

/// A kernel, compared with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelChange {
    /// Which of the two launched it.
    #[serde(flatten)]
    pub presence: Presence,
    /// Launches minus the baseline's.
    pub launches: i64,
    /// Launches as a multiple of the baseline's; absent where that has none.
    pub launches_ratio: Option<f64>,
    /// Host time minus the baseline's, ns.
    pub total_ns: i64,
    /// Whether its calls took longer.
    pub times: Test,
    /// Whether it took longer on the GPU.
    pub gpu: Test,
    /// The other run's presumed counterpart, if only one run has it.
    pub counterpart: Option<Counterpart>,
}

/// Returns every kernel that some run launched, longest host time in any run first.
pub(super) fn compare(runs: &[ComparedRun]) -> Vec<ComparedKernel> {
    let rows = merged(runs);
    let counterparts: Vec<_> = (1..runs.len()).map(|other| counterparts::find(&rows, other)).collect();
    let tests: Vec<Vec<Test>> = (1..runs.len()).map(|other| tests(&rows, other)).collect();
    let gpu: Vec<OnGpu> = runs.iter().map(on_gpu).collect();
    let gpu_tests: Vec<Vec<Test>> =
        (1..runs.len()).map(|other| gpu_tests(&rows, [&gpu[0], &gpu[other]])).collect();
    let mut compared: Vec<ComparedKernel> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let versus = |other: usize| KernelChange {
            times: tests[other - 1][place],
            gpu: gpu_tests[other - 1][place],
            counterpart: counterparts[other - 1].get(&place).cloned(),
            ..change(runs, row, other)
        };
        let first = row.iter().flatten().next().expect("a row is of some run");
        compared.push(ComparedKernel {
            name: first.name.clone(),
            demangled: row.iter().flatten().find_map(|row| row.demangled.clone()),
            runs: PerRun::of(runs, |run| row[run].map(|row| cell(row, gpu[run].get(readable(row)).copied()))),
            versus: PerRun::others(runs, versus),
        });
    }
    let longest = |row: &ComparedKernel| row.runs.iter().flatten().map(|cell| cell.total_ns).max();
    compared.sort_by(|a, b| longest(b).cmp(&longest(a)).then_with(|| a.name.cmp(&b.name)));
    compared
}

/// A kernel's rows, one for each run.
pub(super) type KernelRows<'a> = Vec<Option<&'a KernelRow>>;

/// Returns the launched kernels, by symbol. An unnamed one is separate in each run.
fn merged(runs: &[ComparedRun]) -> Vec<KernelRows<'_>> {
    let mut rows: BTreeMap<(&str, Option<usize>), KernelRows> = BTreeMap::new();
    for (run, of) in runs.iter().enumerate() {
        for kernel in of.summary.kernels.iter().filter(|kernel| kernel.launches > 0) {
            let own = is_unnamed(kernel).then_some(run);
            rows.entry((&kernel.name, own)).or_insert_with(|| vec![None; runs.len()])[run] = Some(kernel);
        }
    }
    rows.into_values().collect()
}

/// Returns true for a kernel whose definition is not in the trace: its name is a placeholder.
pub(super) fn is_unnamed(kernel: &KernelRow) -> bool {
    kernel.name.starts_with("unknown kernel ")
}

/// A run's kernels on the GPU, by demangled name.
type OnGpu<'a> = HashMap<&'a str, &'a GpuKernelRow>;

fn on_gpu(run: &ComparedRun) -> OnGpu<'_> {
    let rows = run.summary.gpu.iter().flat_map(|gpu| &gpu.kernels);
    rows.map(|row| (row.kernel.as_str(), row)).collect()
}

fn readable(row: &KernelRow) -> &str {
    row.demangled.as_deref().unwrap_or(&row.name)
}

fn cell(row: &KernelRow, gpu: Option<&GpuKernelRow>) -> KernelCell {
    KernelCell {
        gpu_calls: gpu.map_or(0, |gpu| gpu.calls),
        gpu_total_ns: gpu.map_or(0, |gpu| gpu.total_ns),
        gpu_median_ns: gpu.map(|gpu| gpu.median_ns),
        launches: row.launches,
        by_graphs: row.by_graphs,
        trials: row.trials,
        failed: row.failed,
        ran: row.ran,
        total_ns: row.total_ns,
        median_ns: row.durations.median(),
    }
}

fn change(runs: &[ComparedRun], row: &KernelRows, other: usize) -> KernelChange {
    let [launches, total] = [|row: &KernelRow| row.launches, |row: &KernelRow| row.total_ns]
        .map(|of| [row[0], row[other]].map(|row| row.map_or(0, of)));
    let has = [row[0], row[other]].map(has_run);
    let presence = match row.iter().flatten().find(|row| is_unnamed(row)) {
        Some(_) => unnamed(has),
        None => Presence::of(has, |which| {
            let run = [0, other][which];
            let (evidence, why) = absence(in_flight(runs, row, run).or_else(|| runs[run].limit()));
            (evidence, why.or_else(|| failed(row[run]?)))
        }),
    };
    KernelChange {
        presence,
        launches: difference(launches),
        launches_ratio: ratio(launches),
        total_ns: difference(total),
        times: Test::default(),
        gpu: Test::default(),
        counterpart: None,
    }
}

fn unnamed(has: [bool; 2]) -> Presence {
    let why = "its name is not known, because its handle was never seen being made".to_string();
    Presence { evidence: Evidence::Unresolved, why: Some(why), ..Presence::of(has, |_| absence(None)) }
}

/// Returns true when a launch of it succeeded.
pub(super) fn has_run(row: Option<&KernelRow>) -> bool {
    row.is_some_and(|row| row.ran > 0)
}

/// Returns why it did not run although it was launched.
fn failed(row: &KernelRow) -> Option<String> {
    Some(match row.failed {
        0 => return None,
        1 => "its launch failed".into(),
        all => format!("each of its {} launches failed", units::count(all)),
    })
}

/// Returns a reason if a launch of it had not returned when a process of that run died.
fn in_flight(runs: &[ComparedRun], row: &KernelRows, run: usize) -> Option<String> {
    let known = row.iter().flatten().next()?;
    let name = known.demangled.as_ref().unwrap_or(&known.name);
    let is_it = runs[run].summary.in_flight.iter().any(|call| call.what == *name);
    is_it.then(|| "a launch of it had not returned when the process died".into())
}

pub(super) fn difference([a, b]: [u64; 2]) -> i64 {
    b as i64 - a as i64
}

/// Returns `b` as a multiple of the baseline's `a`; `None` if that is 0.
pub(super) fn ratio([a, b]: [u64; 2]) -> Option<f64> {
    (a > 0).then(|| b as f64 / a as f64)
}

fn tests(rows: &[KernelRows], other: usize) -> Vec<Test> {
    let none = Durations::default();
    let pairs: Vec<_> = rows
        .iter()
        .map(|row| [row[0], row[other]].map(|row| row.map_or(&none, |row| &row.durations)))
        .map(|[was, is]| (was, is))
        .collect();
    significance::tests(&pairs)
}

/// Returns a kernel's GPU times in one run.
fn gpu_durations<'a>(row: &KernelRows, run: &OnGpu<'a>) -> Option<&'a Durations> {
    let known = row.iter().flatten().find_map(|row| run.get(readable(row)).copied())?;
    Some(&known.durations)
}

fn gpu_tests(rows: &[KernelRows], [was, is]: [&OnGpu; 2]) -> Vec<Test> {
    let none = Durations::default();
    let of = |row, run| gpu_durations(row, run).unwrap_or(&none);
    let pairs: Vec<_> = rows.iter().map(|row| (of(row, was), of(row, is))).collect();
    significance::tests(&pairs)
}

impl KernelChange {
    fn in_words(&self) -> Option<String> {
        (self.presence.seen != Seen::Neither).then(|| units::change(self.launches, self.launches_ratio))
    }

    /// Returns true when it ran in the other run only.
    pub fn is_new(&self) -> bool {
        self.presence.seen == Seen::New
    }

    /// Returns true when it ran in the baseline only.
    pub fn is_gone(&self) -> bool {
        self.presence.seen == Seen::Gone
    }
}
