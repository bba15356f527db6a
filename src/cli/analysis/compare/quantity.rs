//! The numbers that a condition may ask for: changes since the baseline, and amounts of a side.

use super::{Comparison, Seen, Side, Speed};
use crate::analysis::durations::Durations;
use rocshim_trace::fits;

/// A number that a condition asks for.
#[derive(Clone, Debug)]
pub(super) enum Quantity {
    /// A row of `CHANGES`: of a side against the baseline.
    Change(&'static str, fn(&Comparison, usize) -> u64),
    /// A row of `AMOUNTS`: of any side.
    Amount(fn(&Comparison, usize) -> u64),
    /// An amount of what fits a pattern.
    Of(Subject, String, Field),
}

/// What a pattern chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Kernel,
    Family,
    Library,
}

/// What of it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Launches,
    TotalNs,
    MedianNs,
    Calls,
}

type Row = (&'static str, &'static str, fn(&Comparison, usize) -> u64);

/// Name, meaning, and how it is counted.
#[rustfmt::skip]
const CHANGES: &[Row] = &[
    ("new_kernels",      "kernels that the baseline never launched", |all, side| kernels(all, side, Seen::New)),
    ("gone_kernels",     "kernels that only the baseline launched", |all, side| kernels(all, side, Seen::Gone)),
    ("slower_kernels",   "kernels whose calls take longer, by the test", |all, side| timed(all, side, Speed::Slower)),
    ("faster_kernels",   "kernels whose calls are shorter, by the test", |all, side| timed(all, side, Speed::Faster)),
    ("solution_changes", "products that took another solution or other kernels", |all, side| solutions(all, side)),
    ("solver_changes",   "convolutions that took another solver or other kernels", |all, side| solvers(all, side)),
    ("new_functions",    "library functions that the baseline never called", |all, side| functions(all, side, Seen::New)),
    ("gone_functions",   "library functions that only the baseline called", |all, side| functions(all, side, Seen::Gone)),
    ("new_objects",      "code objects that the baseline never dispatched from", |all, side| objects(all, side, Seen::New)),
    ("gone_objects",     "code objects that only the baseline dispatched from", |all, side| objects(all, side, Seen::Gone)),
];

/// Name, meaning, and where it is.
#[rustfmt::skip]
const AMOUNTS: &[Row] = &[
    ("launches",          "kernel launches, those of graphs among them", |all, side| all.sides[side].totals.launches),
    ("kernels",           "different kernels", |all, side| all.sides[side].totals.kernels),
    ("total_ns",          "host time of all launch calls", |all, side| all.sides[side].total_ns),
    ("fallback_launches", "launches out of Tensile's fallback library", |all, side| all.sides[side].fallback_launches),
    ("gemms",             "matrix products", |all, side| all.sides[side].totals.gemms),
    ("convolutions",      "convolution calls", |all, side| all.sides[side].totals.convolutions),
    ("graph_launches",    "launches of graphs", |all, side| all.sides[side].totals.graph_launches),
    ("trials",            "launches that were trials of searches", |all, side| all.sides[side].totals.trials),
    ("failed",            "calls that failed", |all, side| all.sides[side].totals.failed),
    ("lost",              "events that were lost", |all, side| all.sides[side].totals.lost),
    ("events",            "events in the traces", |all, side| all.sides[side].totals.events),
];

type Fields = &'static [(&'static str, Field)];

/// What a pattern chooses, with what may be asked of it.
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
pub(crate) fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHANGES.iter().chain(AMOUNTS).map(|(name, meaning, _)| (*name, *meaning))
}

/// Reads a quantity from the beginning of `text`; gives it with what follows.
pub(super) fn parse(text: &str) -> Result<(Quantity, &str), String> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if let Some((_, subject, fields)) = SUBJECTS.iter().find(|(known, ..)| *known == name) {
        return of(*subject, name, fields, rest);
    }
    let find =
        |rows: &[Row]| rows.iter().find(|(known, ..)| *known == name).map(|(name, _, of)| (*name, *of));
    if let Some((name, of)) = find(CHANGES) {
        return Ok((Quantity::Change(name, of), rest));
    }
    if let Some((_, of)) = find(AMOUNTS) {
        return Ok((Quantity::Amount(of), rest));
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
    /// Its name, where it is a change already and no multiple can be asked of it.
    pub(super) fn change(&self) -> Option<&'static str> {
        match self {
            Quantity::Change(name, _) => Some(name),
            _ => None,
        }
    }

    /// What it comes to on a side; nothing where it cannot be told.
    pub(super) fn value(&self, all: &Comparison, sides: &[Side], side: usize) -> Option<f64> {
        match self {
            Quantity::Change(_, of) | Quantity::Amount(of) => Some(of(all, side) as f64),
            Quantity::Of(Subject::Kernel, pattern, Field::MedianNs) => median(&sides[side], pattern),
            Quantity::Of(subject, pattern, field) => {
                Some(sum(&sides[side], *subject, pattern, *field) as f64)
            }
        }
    }

    /// Why it may be more than was seen on a side.
    pub(super) fn limit(&self, side: &Side) -> Option<String> {
        match self {
            Quantity::Of(Subject::Library, name, _) => side.limit_of(name),
            _ => side.limit(),
        }
    }
}

fn kernels(all: &Comparison, side: usize, seen: Seen) -> u64 {
    let is_it = |row: &&super::ComparedKernel| {
        row.versus.get(side - 1).is_some_and(|change| change.presence.seen == seen)
    };
    all.kernels.iter().filter(is_it).count() as u64
}

fn timed(all: &Comparison, side: usize, speed: Speed) -> u64 {
    let is_it = |row: &&super::ComparedKernel| {
        row.versus.get(side - 1).is_some_and(|change| change.times.speed == speed)
    };
    all.kernels.iter().filter(is_it).count() as u64
}

fn solutions(all: &Comparison, side: usize) -> u64 {
    let is_it =
        |row: &&super::ComparedGemm| row.versus.get(side - 1).is_some_and(|change| change.is_change());
    all.gemms.iter().filter(is_it).count() as u64
}

fn solvers(all: &Comparison, side: usize) -> u64 {
    let is_it =
        |row: &&super::ComparedConv| row.versus.get(side - 1).is_some_and(|change| change.is_change());
    all.convolutions.iter().filter(is_it).count() as u64
}

fn functions(all: &Comparison, side: usize, seen: Seen) -> u64 {
    let is_it =
        |row: &&super::ComparedFunction| row.versus.get(side - 1).is_some_and(|told| told.seen == seen);
    all.functions.iter().filter(is_it).count() as u64
}

fn objects(all: &Comparison, side: usize, seen: Seen) -> u64 {
    let is_it = |row: &&super::ComparedObject| row.versus.get(side - 1).is_some_and(|told| told.seen == seen);
    all.code_objects.iter().filter(is_it).count() as u64
}

/// A pattern chooses a kernel by its symbol, or by its name as people write it, with or without `void`.
fn fits_kernel(pattern: &str, name: &str, demangled: Option<&str>) -> bool {
    let readable =
        |name: &str| fits(pattern, name) || fits(pattern, name.strip_prefix("void ").unwrap_or(name));
    fits(pattern, name) || demangled.is_some_and(readable)
}

fn median(side: &Side, pattern: &str) -> Option<f64> {
    let mut all = Durations::default();
    let rows = side.summary.kernels.iter();
    rows.filter(|row| fits_kernel(pattern, &row.name, row.demangled.as_deref()))
        .for_each(|row| all.merge(&row.durations));
    all.median().map(|ns| ns as f64)
}

fn sum(side: &Side, subject: Subject, pattern: &str, field: Field) -> u64 {
    let summary = &side.summary;
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
