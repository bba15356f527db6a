//! Quantities that a condition can test: changes relative to the baseline, and amounts of a run.

use super::{ComparedRun, Comparison, PerRun, Seen, Speed};
use crate::{Evidence, durations::Durations};
use rocshim_trace::fits;

/// A number that a condition tests.
#[derive(Clone, Debug)]
pub(super) enum Quantity {
    /// A row of `CHANGES`: of a run against the baseline.
    Change(&'static NamedQuantity),
    /// A row of `AMOUNTS`: of any run.
    Amount(&'static NamedQuantity),
    /// An amount of what matches a pattern.
    Of(Subject, String, Field),
}

/// What a pattern selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Kernel,
    Family,
    Library,
}

/// Which number of it is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Launches,
    TotalNs,
    MedianNs,
    Calls,
}

/// Why a number may be wrong, with the evidence class that follows.
type Doubt = Option<(Evidence, String)>;

/// A named number.
#[derive(Debug)]
pub(super) struct NamedQuantity {
    name: &'static str,
    meaning: &'static str,
    doubt: fn(&ComparedRun) -> Doubt,
    count: fn(&Comparison, usize) -> u64,
}

/// Name, meaning, what makes it doubtful, and how it is counted.
#[rustfmt::skip]
const CHANGES: &[NamedQuantity] = &[
    row("new_kernels",       "kernels that did not run on the baseline", launches, |all, run| kernels(all, run, Seen::New)),
    row("gone_kernels",      "kernels that ran on the baseline alone", launches, |all, run| kernels(all, run, Seen::Gone)),
    row("slower_kernels",    "kernels whose calls take longer, by the test", launches, |all, run| timed(all, run, Speed::Slower)),
    row("faster_kernels",    "kernels whose calls are shorter, by the test", launches, |all, run| timed(all, run, Speed::Faster)),
    row("slower_kernels_gpu", "kernels that take longer on the GPU, by the test", gpu, |all, run| timed_gpu(all, run, Speed::Slower)),
    row("faster_kernels_gpu", "kernels that are shorter on the GPU, by the test", gpu, |all, run| timed_gpu(all, run, Speed::Faster)),
    row("solution_changes",  "products that took another solution or other kernels", calls, solutions),
    row("solver_changes",    "convolutions that took another solver or other kernels", calls, solvers),
    row("new_functions",     "library functions that the baseline never called", calls, |all, run| functions(all, run, Seen::New)),
    row("gone_functions",    "library functions that only the baseline called", calls, |all, run| functions(all, run, Seen::Gone)),
    row("new_objects",       "code objects that the baseline never dispatched from", origins, |all, run| objects(all, run, Seen::New)),
    row("gone_objects",      "code objects that only the baseline dispatched from", origins, |all, run| objects(all, run, Seen::Gone)),
];

/// Name, meaning, what makes it doubtful, and where it is.
#[rustfmt::skip]
const AMOUNTS: &[NamedQuantity] = &[
    row("launches",          "kernel launches, those of graphs among them", launches, |all, run| all.runs[run].totals.launches),
    row("kernels",           "different kernels", launches, |all, run| all.runs[run].totals.kernels),
    row("total_ns",          "host time of all launch calls", launches, |all, run| all.runs[run].total_ns),
    row("gpu_ns",            "time of all kernels on the GPU, as the HIP runtime reported it", gpu, |all, run| all.runs[run].gpu_ns.unwrap_or(0)),
    row("fallback_launches", "launches out of Tensile's fallback library", fallback, |all, run| all.runs[run].fallback_launches),
    row("gemms",             "matrix products", calls, |all, run| all.runs[run].totals.gemms),
    row("convolutions",      "convolution calls", calls, |all, run| all.runs[run].totals.convolutions),
    row("graph_launches",    "launches of graphs", launches, |all, run| all.runs[run].totals.graph_launches),
    row("trials",            "launches that were trials of searches", launches, |all, run| all.runs[run].totals.trials),
    row("failed",            "calls that failed", calls, |all, run| all.runs[run].totals.failed),
    row("lost",              "events that were lost", launches, |all, run| all.runs[run].totals.lost),
    row("events",            "events in the traces", calls, |all, run| all.runs[run].totals.events),
];

const fn row(
    name: &'static str,
    meaning: &'static str,
    doubt: fn(&ComparedRun) -> Doubt,
    count: fn(&Comparison, usize) -> u64,
) -> NamedQuantity {
    NamedQuantity { name, meaning, doubt, count }
}

type Fields = &'static [(&'static str, Field)];

/// What a pattern selects, with the numbers that can be tested of it.
const SUBJECTS: &[(&str, Subject, Fields)] = &[
    (
        "kernel",
        Subject::Kernel,
        &[("launches", Field::Launches), ("total_ns", Field::TotalNs), ("median_ns", Field::MedianNs)],
    ),
    ("family", Subject::Family, &[("launches", Field::Launches), ("total_ns", Field::TotalNs)]),
    ("library", Subject::Library, &[("calls", Field::Calls)]),
];

/// The names of all quantities, with their meanings.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHANGES.iter().chain(AMOUNTS).map(|row| (row.name, row.meaning))
}

/// Parses a quantity at the beginning of `text`; returns it with the rest.
pub(super) fn parse(text: &str) -> Result<(Quantity, &str), String> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if let Some((_, subject, fields)) = SUBJECTS.iter().find(|(known, ..)| *known == name) {
        return of(*subject, name, fields, rest);
    }
    let find = |rows: &'static [NamedQuantity]| rows.iter().find(|row| row.name == name);
    if let Some(row) = find(CHANGES) {
        return Ok((Quantity::Change(row), rest));
    }
    if let Some(row) = find(AMOUNTS) {
        return Ok((Quantity::Amount(row), rest));
    }
    let known: Vec<&str> = list().map(|(name, _)| name).collect();
    Err(format!(
        "there is no quantity `{name}`; there are: {}, kernel('PATTERN').launches, family('PATTERN').launches, library('NAME').calls",
        known.join(", ")
    ))
}

/// `('PATTERN').field`.
fn of<'a>(
    subject: Subject,
    name: &str,
    fields: Fields,
    text: &'a str,
) -> Result<(Quantity, &'a str), String> {
    let form = || {
        let fields: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        format!("{name} is written {name}('PATTERN').{}", fields.join(&format!(" or {name}('PATTERN').")))
    };
    let quoted = |text: &'a str| {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        text[1..].split_once(quote)
    };
    let inner = text.trim_start().strip_prefix('(').map(str::trim_start);
    let (pattern, rest) = inner.and_then(quoted).ok_or_else(form)?;
    let rest = rest.trim_start().strip_prefix(").").ok_or_else(form)?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let field = fields.iter().find(|(name, _)| *name == &rest[..end]).ok_or_else(form)?.1;
    Ok((Quantity::Of(subject, pattern.to_string(), field), &rest[end..]))
}

impl Quantity {
    /// Returns its name if it is a change, of which no multiple can be tested.
    pub(super) fn change(&self) -> Option<&'static str> {
        match self {
            Quantity::Change(row) => Some(row.name),
            _ => None,
        }
    }

    /// Returns its value in a run; nothing when unknown.
    pub(super) fn value(&self, all: &Comparison, runs: &[ComparedRun], run: usize) -> Option<f64> {
        match self {
            Quantity::Change(row) | Quantity::Amount(row) => Some((row.count)(all, run) as f64),
            Quantity::Of(Subject::Kernel, pattern, Field::MedianNs) => median(&runs[run], pattern),
            Quantity::Of(subject, pattern, field) => Some(sum(&runs[run], *subject, pattern, *field) as f64),
        }
    }

    /// Returns why its value in a run may be wrong.
    pub(super) fn doubt(&self, run: &ComparedRun) -> Doubt {
        match self {
            Quantity::Change(row) | Quantity::Amount(row) => (row.doubt)(run),
            Quantity::Of(Subject::Library, pattern, _) => limited(run.limit_of_libraries(pattern)),
            Quantity::Of(..) => launches(run),
        }
    }
}

fn limited(why: Option<String>) -> Doubt {
    why.map(|why| (Evidence::Limited, why))
}

fn launches(run: &ComparedRun) -> Doubt {
    limited(run.limit())
}

fn gpu(run: &ComparedRun) -> Doubt {
    match &run.summary.gpu {
        None => {
            let how = "no GPU times in this trace: `rocshim run --gpu-time` records them";
            Some((Evidence::Unresolved, how.into()))
        }
        Some(gpu) => limited(gpu.why.clone()).or_else(|| launches(run)),
    }
}

fn calls(run: &ComparedRun) -> Doubt {
    limited(run.limit_of_libraries("*"))
}

fn origins(run: &ComparedRun) -> Doubt {
    limited(run.limit_of_origins())
}

/// The verdict on fallback kernels has a separate evidence class.
fn fallback(run: &ComparedRun) -> Doubt {
    let found = &run.summary.fallback;
    match found.evidence {
        Evidence::Confirmed(_) | Evidence::ConfirmedAbsent(_) if found.unknown == 0 => origins(run),
        Evidence::Confirmed(_) | Evidence::ConfirmedAbsent(_) => limited(Some(found.why.clone())),
        evidence => Some((evidence, found.why.clone())),
    }
}

/// Returns a run's difference from the baseline; `None` for the baseline itself.
fn versus<T>(runs: &PerRun<T>, run: usize) -> Option<&T> {
    runs.get(run.checked_sub(1)?)
}

fn kernels(all: &Comparison, run: usize, seen: Seen) -> u64 {
    let is_it = |row: &&super::ComparedKernel| {
        versus(&row.versus, run).is_some_and(|change| change.presence.seen == seen)
    };
    all.kernels.iter().filter(is_it).count() as u64
}

fn timed(all: &Comparison, run: usize, speed: Speed) -> u64 {
    let is_it = |row: &&super::ComparedKernel| {
        versus(&row.versus, run).is_some_and(|change| change.times.speed == speed)
    };
    all.kernels.iter().filter(is_it).count() as u64
}

fn timed_gpu(all: &Comparison, run: usize, speed: Speed) -> u64 {
    let is_it = |row: &&super::ComparedKernel| {
        versus(&row.versus, run).is_some_and(|change| change.gpu.speed == speed)
    };
    all.kernels.iter().filter(is_it).count() as u64
}

fn solutions(all: &Comparison, run: usize) -> u64 {
    let is_it =
        |row: &&super::ComparedGemm| versus(&row.versus, run).is_some_and(|change| change.is_change());
    all.gemms.iter().filter(is_it).count() as u64
}

fn solvers(all: &Comparison, run: usize) -> u64 {
    let is_it =
        |row: &&super::ComparedConv| versus(&row.versus, run).is_some_and(|change| change.is_change());
    all.convolutions.iter().filter(is_it).count() as u64
}

fn functions(all: &Comparison, run: usize, seen: Seen) -> u64 {
    let is_it =
        |row: &&super::ComparedFunction| versus(&row.versus, run).is_some_and(|found| found.seen == seen);
    all.functions.iter().filter(is_it).count() as u64
}

fn objects(all: &Comparison, run: usize, seen: Seen) -> u64 {
    let is_it =
        |row: &&super::ComparedObject| versus(&row.versus, run).is_some_and(|found| found.seen == seen);
    all.code_objects.iter().filter(is_it).count() as u64
}

/// A pattern selects a kernel by its symbol, or by its readable name, with or without `void`.
fn fits_kernel(pattern: &str, name: &str, demangled: Option<&str>) -> bool {
    let readable =
        |name: &str| fits(pattern, name) || fits(pattern, name.strip_prefix("void ").unwrap_or(name));
    fits(pattern, name) || demangled.is_some_and(readable)
}

fn median(run: &ComparedRun, pattern: &str) -> Option<f64> {
    let mut all = Durations::default();
    let rows = run.summary.kernels.iter();
    rows.filter(|row| fits_kernel(pattern, &row.name, row.demangled.as_deref()))
        .for_each(|row| all.merge(&row.durations));
    all.median().map(|ns| ns as f64)
}

fn sum(run: &ComparedRun, subject: Subject, pattern: &str, field: Field) -> u64 {
    let summary = &run.summary;
    let pick = |launches: u64, total_ns: u64| if field == Field::TotalNs { total_ns } else { launches };
    match subject {
        Subject::Kernel => {
            let rows = summary.kernels.iter();
            rows.filter(|row| fits_kernel(pattern, &row.name, row.demangled.as_deref()))
                .map(|row| pick(row.launches, row.total_ns))
                .sum()
        }
        Subject::Family => {
            let is_it = |of: Option<&str>, family: Option<&str>| {
                family.is_some_and(|family| {
                    fits(pattern, family) || of.is_some_and(|of| fits(pattern, &format!("{of}: {family}")))
                })
            };
            let rows = summary.families.iter().filter(|row| is_it(row.of, row.family));
            rows.map(|row| pick(row.launches, row.total_ns)).sum()
        }
        Subject::Library => {
            let is_it =
                |library: &str| fits(pattern, library) || fits(pattern, library.trim_end_matches(".so"));
            summary.libraries.iter().filter(|row| is_it(&row.library)).map(|row| row.calls).sum()
        }
    }
}
