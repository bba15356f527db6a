//! Fallback kernels: which were dispatched, out of which file; or that none were, and how sure that
//! is.

use super::{label, section};
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::count;
use rocshim_analysis::{Evidence, Summary};
use rocshim_trace::file_name;

pub(crate) fn fallback(summary: &Summary, style: &Style) -> Option<String> {
    let found = &summary.fallback;
    if found.products == 0 && summary.gemms.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("calls"),
        Column::Left("evidence"),
        Column::Left("kernel"),
        Column::Path("file"),
    ]);
    for row in &found.kernels {
        let file = row.file.as_deref().map_or("-", file_name);
        let cells =
            [count(row.launches), row.evidence.to_string(), label(&row.kernel, None, style), file.into()];
        table.row(cells.into());
    }
    let title = match (found.kernels.is_empty(), found.evidence) {
        (true, Evidence::Limited | Evidence::Unresolved) => {
            format!("Fallback kernels: none seen, {} ({})", found.evidence, found.why)
        }
        (true, _) => format!("Fallback kernels: none dispatched, {} ({})", found.evidence, found.why),
        (false, _) => format!("Fallback kernels: {}", found.why),
    };
    let is_inferred = found.kernels.iter().any(|row| row.evidence == Evidence::Inferred);
    let rule =
        "inferred: only the fallback library holds source kernels for any target (KLS, ISA000)".to_string();
    section(&title, &table, style, &Vec::from_iter(is_inferred.then_some(rule)))
}
