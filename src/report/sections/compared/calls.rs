//! GEMMs and convolutions of the runs: by which solutions, solvers and kernels.

use super::{KernelLabels, evidence, labels, standing};
use crate::{section::Part, sections::calls::SOLVER_NAMES, table::Style};
use rocshim_analysis::units::count;
use rocshim_analysis::{COMPARED_CONVOLUTIONS, COMPARED_GEMMS, CallCell, CallChange, Comparison, PerRun};

/// The most kernels named for a run.
const NAMED: usize = 4;

pub(crate) fn gemms(all: &Comparison, style: &Style) -> Option<String> {
    let (labels, names) = (labels(all), KernelLabels::of(all, style));
    Part::new(&COMPARED_GEMMS, &all.gemms)
        .runs(&labels)
        .under(|row| ways(&labels, &row.runs, &row.versus, &names, style))
        .grouped(|row| heading(&labels, &row.runs, &row.versus, "solution or kernels"))
        .section(style)
}

pub(crate) fn convolutions(all: &Comparison, style: &Style) -> Option<String> {
    let (labels, names) = (labels(all), KernelLabels::of(all, style));
    Part::new(&COMPARED_CONVOLUTIONS, &all.convolutions)
        .runs(&labels)
        .under(|row| ways(&labels, &row.runs, &row.versus, &names, style))
        .grouped(|row| heading(&labels, &row.runs, &row.versus, "solver or kernels"))
        .remark(SOLVER_NAMES)
        .section(style)
}

/// Returns which runs have the row, and whether all used the same kernels.
fn heading(
    labels: &[&str],
    runs: &PerRun<CallCell>,
    versus: &PerRun<CallChange>,
    what: &str,
) -> (bool, String) {
    let has: Vec<bool> = runs.iter().map(|cell| cell.is_some()).collect();
    let presences: Vec<_> = versus.iter().flatten().map(|difference| &difference.presence).collect();
    let is_changed = versus.iter().flatten().any(CallChange::is_change);
    let way = if is_changed { format!(", CHANGED {what}") } else { format!(", by the same {what}") };
    (has.iter().all(|has| *has) && !is_changed, standing(labels, &has, &presences, &way))
}

/// The kernels of each run; one line where all used the same.
fn ways(
    labels: &[&str],
    runs: &PerRun<CallCell>,
    versus: &PerRun<CallChange>,
    names: &KernelLabels,
    style: &Style,
) -> Vec<String> {
    let shown = if style.rows.is_some() { NAMED } else { usize::MAX };
    let difference: Vec<(&str, &CallCell)> =
        labels.iter().zip(runs.iter()).filter_map(|(label, cell)| Some((*label, cell?))).collect();
    let is_changed = versus.iter().flatten().any(CallChange::is_change);
    let all = labels.len() > 1 && difference.len() == labels.len() && !is_changed;
    let lines = difference.iter().take(if all { 1 } else { difference.len() }).map(|(label, cell)| {
        let who = if all { String::new() } else { format!("{label}: ") };
        format!("{who}{}", way(cell, shown, names, style))
    });
    let mut lines: Vec<String> = lines.collect();
    for (label, difference) in labels[1..].iter().zip(versus.iter().flatten()) {
        for (what, change) in [("another choice", &difference.chosen), ("other kernels", &difference.kernels)]
        {
            let sure = evidence(change.evidence, change.why.as_deref());
            lines.extend(change.changed.then(|| format!("{label}: {what}, {sure}")));
        }
    }
    lines
}

/// `solution 7: 12 x Cijk…, 12 x Cijk…`.
fn way(cell: &CallCell, shown: usize, names: &KernelLabels, style: &Style) -> String {
    let mut kernels: Vec<String> = cell
        .kernels
        .iter()
        .map(|(name, launches)| format!("{} x {}", count(*launches), names.get(name, style)))
        .collect();
    if kernels.len() > shown {
        let more = kernels.len() - shown;
        kernels.truncate(shown);
        kernels.push(format!("{more} more"));
    }
    if kernels.is_empty() {
        kernels.push(match &cell.why {
            Some(why) => format!("{}: {why}", cell.evidence),
            None => "no kernel".into(),
        });
    }
    let chosen: Vec<&str> = cell.chosen.iter().map(String::as_str).collect();
    let chosen = if chosen.is_empty() { String::new() } else { format!("{}: ", chosen.join(", ")) };
    format!("{chosen}{}", kernels.join(", "))
}
