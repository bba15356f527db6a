//! The library calls that are known by their name.

use super::{label, section};
use crate::{
    names,
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, time};
use rocshim_analysis::{SpanRow, Summary};

/// The most kernels listed under a call; the others are counted.
const INSIDE: usize = 2;

pub(crate) fn spans(summary: &Summary, style: &Style) -> Option<String> {
    if summary.spans.is_empty() {
        return None;
    }
    let failed = summary.spans.iter().any(|row| row.failed > 0);
    let mut columns = vec![Column::Right("calls")];
    columns.extend(failed.then_some(Column::Right("failed")));
    columns.extend([
        Column::Right("total"),
        Column::Missable("mean"),
        Column::Right("launches"),
        Column::Left("function"),
    ]);
    let mut table = Table::new(&columns);
    let mut library = "";
    for row in &summary.spans {
        if row.library != library {
            library = &row.library;
            table.heading(library.strip_suffix(".so").unwrap_or(library).to_string());
        }
        let mut cells = vec![count(row.calls)];
        cells.extend(failed.then(|| count(row.failed)));
        cells.extend([
            time(row.total_ns),
            time(row.total_ns / row.calls.max(1)),
            count(row.launches),
            function(row),
        ]);
        table.row_with(cells, inside(row, style));
    }
    let remark =
        "launches: those seen inside; a library may also launch from a thread of its own".to_string();
    section("Other library calls (host time)", &table, style, &[remark])
}

/// `ncclAllReduce bf16 sum, 1 048 576 elements`, `miopenRunSolution softmax 157 Softmax`.
fn function(row: &SpanRow) -> String {
    let name = names::function(&row.function);
    let words = [Some(name.as_str()), row.datatype.as_deref(), row.op.as_deref()].into_iter().flatten();
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.extend((!row.operations.is_empty()).then(|| row.operations.join("+")));
    words.extend(row.solution_id.map(|id| format!("{id} {}", row.solver.as_deref().unwrap_or_default())));
    let words = words.join(" ");
    match row.count {
        Some(elements) => format!("{words}, {} elements", count(elements)),
        None => words,
    }
}

fn inside(row: &SpanRow, style: &Style) -> Vec<String> {
    let shown = if style.rows.is_some() { INSIDE } else { usize::MAX };
    let kernel = |k: &rocshim_analysis::Inside| {
        let verb = if k.trials > 0 && k.trials == k.launches { "tried" } else { "launched" };
        format!("{verb} {} x {}", count(k.launches), label(&k.kernel, k.demangled.as_deref(), style))
    };
    let mut lines: Vec<String> = row.kernels.iter().take(shown).map(kernel).collect();
    if row.kernels.len() > shown {
        lines.push(format!("launched {} more kernels, with --all", row.kernels.len() - shown));
    }
    lines
}
