//! GEMMs and convolutions of the runs: by which solutions, solvers and kernels.

use super::{Names, change, each, evidence, grouped, labels, standing, titled};
use crate::{
    section::section,
    sections::{calls, gemms as plain},
    table::{Column, Style},
};
use rocshim_analysis::units::{count, time};
use rocshim_analysis::{BySide, CallCell, CallChange, Comparison};

/// The most kernels named for a side.
const NAMED: usize = 4;

pub(crate) fn gemms(all: &Comparison, style: &Style) -> Option<String> {
    let (labels, names) = (labels(all), Names::of(all, style));
    let problem: Vec<_> = plain::PROBLEM.iter().map(|column| super::own(*column)).collect();
    let mut table = titled([counts(&labels), problem].concat());
    let rows = all.gemms.iter().map(|row| {
        let (in_all, heading) = heading(&labels, &row.sides, &row.versus, "solution or kernels");
        (in_all, heading, row)
    });
    for (heading, rows) in grouped(rows) {
        table.heading(heading);
        for row in rows {
            let cells =
                [cells(&row.sides, &row.versus), plain::problem(&row.problem, &row.function).into()].concat();
            table.row_with(cells, ways(&labels, &row.sides, &row.versus, &names, style));
        }
    }
    let title = "GEMMs (host time; below each, the kernels launched inside the call)";
    (!all.gemms.is_empty()).then(|| section(title, &table, style, &[]))?
}

pub(crate) fn convolutions(all: &Comparison, style: &Style) -> Option<String> {
    let (labels, names) = (labels(all), Names::of(all, style));
    let mut table = titled([counts(&labels), vec![super::own(Column::Text("problem"))]].concat());
    let rows = all.convolutions.iter().map(|row| {
        let (in_all, heading) = heading(&labels, &row.sides, &row.versus, "solver or kernels");
        (in_all, heading, row)
    });
    for (heading, rows) in grouped(rows) {
        table.heading(heading);
        for row in rows {
            let cells = [cells(&row.sides, &row.versus), vec![calls::problem(&row.problem)]].concat();
            table.row_with(cells, ways(&labels, &row.sides, &row.versus, &names, style));
        }
    }
    let title = "Convolutions (runs, host time; below each, the solvers and the kernels launched inside)";
    let remark = "solver ids: confirmed; their names: inferred, from MIOpen's id table".to_string();
    (!all.convolutions.is_empty()).then(|| section(title, &table, style, &[remark]))?
}

fn counts(labels: &[&str]) -> Vec<(Column, String)> {
    [
        each(labels, Column::Right(""), "calls"),
        each(&labels[1..], Column::Right(""), "change"),
        each(labels, Column::Missable(""), "total"),
    ]
    .concat()
}

fn cells(sides: &BySide<CallCell>, versus: &BySide<CallChange>) -> Vec<String> {
    let dash = || "-".to_string();
    let baseline = sides.get(0).map_or(0, |cell| cell.calls);
    let mut cells: Vec<String> =
        sides.iter().map(|cell| cell.map_or_else(dash, |cell| count(cell.calls))).collect();
    cells.extend(versus.iter().flatten().map(|difference| {
        let ratio = (baseline > 0).then(|| (baseline as f64 + difference.calls as f64) / baseline as f64);
        change(difference.calls, ratio)
    }));
    cells.extend(sides.iter().map(|cell| cell.map_or_else(dash, |cell| time(cell.total_ns))));
    cells
}

/// Which runs have the row, and whether all used the same kernels.
fn heading(
    labels: &[&str],
    sides: &BySide<CallCell>,
    versus: &BySide<CallChange>,
    what: &str,
) -> (bool, String) {
    let has: Vec<bool> = sides.iter().map(|cell| cell.is_some()).collect();
    let presences: Vec<_> = versus.iter().flatten().map(|difference| &difference.presence).collect();
    let is_changed = versus.iter().flatten().any(CallChange::is_change);
    let way = if is_changed { format!(", CHANGED {what}") } else { format!(", by the same {what}") };
    (has.iter().all(|has| *has) && !is_changed, standing(labels, &has, &presences, &way))
}

/// The kernels of each run; one line where all used the same.
fn ways(
    labels: &[&str],
    sides: &BySide<CallCell>,
    versus: &BySide<CallChange>,
    names: &Names,
    style: &Style,
) -> Vec<String> {
    let shown = if style.rows.is_some() { NAMED } else { usize::MAX };
    let difference: Vec<(&str, &CallCell)> =
        labels.iter().zip(sides.iter()).filter_map(|(label, cell)| Some((*label, cell?))).collect();
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
fn way(cell: &CallCell, shown: usize, names: &Names, style: &Style) -> String {
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
