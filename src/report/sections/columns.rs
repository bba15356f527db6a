//! The columns of ggml's GEMMs.

use super::{label, section};
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::count;
use rocshim_analysis::{ColumnsRow, Summary};

pub(crate) fn columns(summary: &Summary, style: &Style) -> Option<String> {
    if summary.columns.is_empty() {
        return None;
    }
    let captured = summary.totals.captured > 0;
    let mut header = vec![Column::Right("ne11"), Column::Right("launches")];
    header.extend(captured.then_some(Column::Right("captured")));
    header.extend([Column::Left("kernel"), Column::Text("read from")]);
    let mut table = Table::new(&header);
    for row in &summary.columns {
        let mut cells = vec![ne11(row), count(row.launches)];
        cells.extend(captured.then(|| count(row.captured)));
        cells.extend([label(&row.kernel, row.demangled.as_deref(), style), row.rule.to_string()]);
        table.row(cells);
    }
    let title = "Columns of ggml's GEMMs (ne11), inferred by the rule given";
    section(title, &table, style, &[])
}

fn ne11(row: &ColumnsRow) -> String {
    if row.least == row.most { count(row.least) } else { format!("{}-{}", row.least, row.most) }
}
