//! The sections that are a table and little else.

use crate::{section::Part, table::Style};
use rocshim_analysis::{
    COLUMNS, COPIES, FAILURES, FAMILIES, GAPS, GRAPHS, GapRow, IN_FLIGHT, LOSSES, MODULES, STREAMS,
    SWEEP_RULE, SWEEPS, SYNCS, Summary, THREADS,
};

pub(crate) fn columns(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&COLUMNS, &summary.columns).section(style)
}

pub(crate) fn copies(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&COPIES, &summary.copies).section(style)
}

pub(crate) fn failures(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&FAILURES, &summary.failures).section(style)
}

/// Nothing where no kernel is of a family that is known.
pub(crate) fn families(summary: &Summary, style: &Style) -> Option<String> {
    let is_known = summary.families.iter().any(|row| row.family.is_some());
    is_known.then(|| Part::new(&FAMILIES, &summary.families).section(style))?
}

pub(crate) fn gaps(summary: &Summary, style: &Style) -> Option<String> {
    let all: u64 = summary.gaps.iter().map(|row| row.total_ns).sum();
    let rows: Vec<(GapRow, u64)> = summary.gaps.iter().map(|row| (*row, all)).collect();
    Part::new(&GAPS, &rows).section(style)
}

pub(crate) fn graphs(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&GRAPHS, &summary.graphs)
        .under(|row| row.why.iter().cloned().collect())
        .remark("each launch of a graph executes each of its kernels once")
        .section(style)
}

pub(crate) fn in_flight(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&IN_FLIGHT, &summary.in_flight).section(style)
}

pub(crate) fn losses(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&LOSSES, &summary.losses)
        .remark("limited: every count above may be short by lost events")
        .section(style)
}

pub(crate) fn modules(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&MODULES, &summary.modules).section(style)
}

/// The streams; `None` for a single one, whose work is the process's.
pub(crate) fn streams(summary: &Summary, style: &Style) -> Option<String> {
    (summary.streams.len() > 1).then(|| Part::new(&STREAMS, &summary.streams).section(style))?
}

/// GEMMs that were tried with one solution after the other.
pub(crate) fn sweeps(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&SWEEPS, &summary.sweeps).remark(format!("inferred: {SWEEP_RULE}")).section(style)
}

pub(crate) fn syncs(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&SYNCS, &summary.syncs).section(style)
}

/// The threads; `None` for a single one, whose calls are the process's.
pub(crate) fn threads(summary: &Summary, style: &Style) -> Option<String> {
    (summary.threads.len() > 1).then(|| Part::new(&THREADS, &summary.threads).section(style))?
}
