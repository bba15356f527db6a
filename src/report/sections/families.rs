//! The kernels by the kind of work that they do.

use super::section;
use crate::{
    names,
    table::{Column, Style, Table},
};
use rocshim_analysis::Summary;
use rocshim_analysis::units::{count, percent, time};

/// Nothing where no kernel is of a family that is known.
pub(crate) fn families(summary: &Summary, style: &Style) -> Option<String> {
    if summary.families.iter().all(|row| row.family.is_none()) {
        return None;
    }
    let captured = summary.totals.captured > 0;
    let failed = summary.families.iter().any(|row| row.failed > 0);
    let mut columns = vec![Column::Right("launches"), Column::Missable("kernels")];
    columns.extend(captured.then_some(Column::Right("captured")));
    columns.extend(failed.then_some(Column::Right("failed")));
    columns.extend([
        Column::Right("total"),
        Column::Right("share"),
        Column::Left("family"),
        Column::Text("what it does"),
    ]);
    let mut table = Table::new(&columns);
    for row in &summary.families {
        let mut cells = vec![count(row.launches), count(row.kernels)];
        cells.extend(captured.then(|| count(row.captured)));
        cells.extend(failed.then(|| count(row.failed)));
        let name = row.family.map_or("unresolved".into(), |_| names::family(row.of, row.family));
        let what = row.what.unwrap_or("of no known family").to_string();
        cells.extend([time(row.total_ns), percent(row.share), name, what]);
        table.row(cells);
    }
    section("Kernel families, inferred from kernel names (host time)", &table, style, &[])
}
