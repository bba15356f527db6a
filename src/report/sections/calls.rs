//! The calls of the libraries above HIP: convolutions, modules, and of every kind of call the
//! kernels inside.

use super::{label, section};
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::{bytes, count, time};
use rocshim_analysis::{CallCounts, ConvProblem, ConvRow, Inside, Summary};
use rocshim_trace::Tensor;

/// The most kernels listed under a call; the others are counted.
const INSIDE: usize = 4;

pub(crate) fn convolutions(summary: &Summary, style: &Style) -> Option<String> {
    if summary.convolutions.is_empty() {
        return None;
    }
    let (failed, mut columns) = count_columns(summary.convolutions.iter().map(|row| &row.counts));
    columns.extend([Column::Left("call"), Column::Text("solver")]);
    let mut table = Table::new(&columns);
    for (problem, rows) in by_problem(&summary.convolutions) {
        table.heading(problem);
        for row in rows {
            let mut cells = count_cells(&row.counts, failed);
            let exhaustive = if row.exhaustive { ", exhaustive" } else { "" };
            cells.extend([format!("{}{exhaustive}", row.action), solver(row)]);
            table.row_with(cells, inside(&row.counts, style));
        }
    }
    let named = summary
        .convolutions
        .iter()
        .any(|row| row.solver.is_some() || row.offered.iter().any(|offer| offer.solver.is_some()));
    let remark = "solver ids: confirmed; their names: inferred, from MIOpen's id table".to_string();
    let title = "Convolutions (host time; below each call, the kernels launched inside)";
    section(title, &table, style, &Vec::from_iter(named.then_some(remark)))
}

/// The rows of each problem, in the order of each problem's first row.
fn by_problem(rows: &[ConvRow]) -> Vec<(String, Vec<&ConvRow>)> {
    let mut problems: Vec<(String, Vec<&ConvRow>)> = Vec::new();
    for row in rows {
        let problem = problem(&row.problem);
        match problems.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, rows)) => rows.push(row),
            None => problems.push((problem, vec![row])),
        }
    }
    problems
}

/// The solver or algorithm that was asked for, else what MIOpen offered.
pub fn solver(row: &ConvRow) -> String {
    match (row.solution_id, &row.solver, &row.algorithm) {
        (Some(id), Some(name), _) => format!("{id} {name}"),
        (Some(id), None, _) => format!("{id}"),
        (None, _, Some(algorithm)) => algorithm.to_string(),
        (None, _, None) => offered(row),
    }
}

/// The best of what MIOpen offered.
pub fn offered(row: &ConvRow) -> String {
    let Some(best) = row.offered.first() else { return "offers nothing".into() };
    let solver = match (best.solution_id, &best.solver) {
        (Some(id), Some(name)) => format!("{id} {name}, "),
        (Some(id), None) => format!("{id}, "),
        _ => String::new(),
    };
    let others = match row.offered.len() - 1 {
        0 => String::new(),
        others => format!("; {others} more"),
    };
    let time = best.time_ms.map_or_else(|| "no time".into(), |ms| format!("{ms} ms"));
    format!("offers {solver}{}, {time}, workspace {}{others}", best.algorithm, bytes(best.workspace))
}

/// `forward, x 1x3x224x224 w 64x3x7x7 pad 3 stride 2 f32`, without what is at its default.
pub fn problem(row: &ConvProblem) -> String {
    let mut words = vec![format!("{},", row.direction.replace('_', " "))];
    for (letter, tensor) in [("x", &row.x), ("w", &row.w), ("y", &row.y)] {
        // The output's lengths follow from the others where both are known.
        if letter == "y" && row.x.is_some() && row.w.is_some() {
            continue;
        }
        words.extend(tensor.as_ref().map(|tensor| format!("{letter} {}", numbers(&tensor.dims))));
    }
    let settings = [("pad", &row.pads, 0), ("stride", &row.strides, 1), ("dilation", &row.dilations, 1)];
    for (name, values, default) in settings {
        if values.iter().any(|value| *value != default) {
            let same = values.windows(2).all(|pair| pair[0] == pair[1]);
            words.push(format!("{name} {}", if same { values[0].to_string() } else { numbers(values) }));
        }
    }
    if row.groups != 1 {
        words.push(format!("groups {}", row.groups));
    }
    if row.mode != "convolution" {
        words.push(row.mode.to_string());
    }
    if !row.operations.is_empty() {
        words.push(format!("fused {}", row.operations.join("+")));
    }
    words.extend(
        [&row.x, &row.w, &row.y]
            .into_iter()
            .flatten()
            .next()
            .map(|tensor: &Tensor| tensor.element.to_string()),
    );
    words.join(" ")
}

fn numbers(values: &[i32]) -> String {
    values.iter().map(i32::to_string).collect::<Vec<_>>().join("x")
}

pub(crate) fn modules(summary: &Summary, style: &Style) -> Option<String> {
    if summary.modules.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("calls"),
        Column::Right("failed"),
        Column::Right("total"),
        Column::Left("function"),
        Column::Path("file"),
    ]);
    for row in &summary.modules {
        let cells = [count(row.calls), count(row.failed), time(row.total_ns), row.function.clone()];
        let file = row.path.clone().unwrap_or_else(|| "-".into());
        table.row(cells.into_iter().chain([file]).collect());
    }
    section("Modules", &table, style, &[])
}

/// The columns that every kind of call has; `failed` where there are failures.
pub(super) fn count_columns<'a>(mut rows: impl Iterator<Item = &'a CallCounts>) -> (bool, Vec<Column>) {
    let failed = rows.any(|counts| counts.failed > 0);
    let mut columns = vec![Column::Right("calls")];
    columns.extend(failed.then_some(Column::Right("failed")));
    columns.extend([Column::Right("total"), Column::Missable("mean")]);
    (failed, columns)
}

pub(super) fn count_cells(counts: &CallCounts, failed: bool) -> Vec<String> {
    let mut cells = vec![count(counts.calls)];
    cells.extend(failed.then(|| count(counts.failed)));
    cells.extend([time(counts.total_ns), time(counts.total_ns / counts.calls.max(1))]);
    cells
}

/// A kernel's name, and of a Tensile one how it was written, for what, and into how many parts it
/// splits the inner dimension. Of two that look the same then, each has its whole name.
fn what(kernel: &Inside, beside: &[Inside], style: &Style) -> String {
    let name = |kernel: &Inside| label(&kernel.kernel, kernel.demangled.as_deref(), style);
    let Some(tensile) = kernel.tensile.as_ref().filter(|tensile| tensile.is_product()) else {
        return name(kernel);
    };
    let mut words = vec![name(kernel)];
    words.extend(tensile.language.clone());
    words
        .extend(tensile.isa.as_ref().map(|isa| if isa == "any" { "any target".into() } else { isa.clone() }));
    words.extend(tensile.split.filter(|split| *split > 1).map(|split| format!("split {split}")));
    let is_alike = |other: &&Inside| other.tensile.is_some() && name(other) == words[0];
    match beside.iter().filter(is_alike).count() {
        0 | 1 => words.join(" "),
        _ => kernel.kernel.clone(),
    }
}

/// The kernels inside, and what is unsure about them.
pub(super) fn inside(counts: &CallCounts, style: &Style) -> Vec<String> {
    let shown = if style.rows.is_some() { INSIDE } else { usize::MAX };
    let mut lines: Vec<String> = counts
        .kernels
        .iter()
        .take(shown)
        .map(|k| {
            let name = what(k, &counts.kernels, style);
            match (k.launches, k.captured) {
                (launches, 0) if k.trials == launches => format!("tried {} x {name}", count(launches)),
                (launches, 0) => format!("launched {} x {name}", count(launches)),
                (0, captured) => format!("captured into a graph {} x {name}", count(captured)),
                (launches, captured) => {
                    let (launches, captured) = (count(launches), count(captured));
                    format!("launched {launches}, captured into a graph {captured} x {name}")
                }
            }
        })
        .collect();
    if counts.kernels.len() > shown {
        lines.push(format!("launched {} more kernels, with --all", counts.kernels.len() - shown));
    }
    lines.extend(
        (counts.trials > 0).then(|| format!("autotuning trials: {} of the calls", count(counts.trials))),
    );
    lines.extend(counts.why.as_ref().map(|why| format!("{}: {why}", counts.evidence)));
    lines
}
