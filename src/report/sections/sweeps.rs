//! Products that were tried with one solution after the other.

use super::{
    gemms::{PROBLEM, problem},
    section,
};
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::count;
use rocshim_analysis::{SWEEP_RULE, Summary};

pub(crate) fn sweeps(summary: &Summary, style: &Style) -> Option<String> {
    if summary.sweeps.is_empty() {
        return None;
    }
    let counts = [Column::Right("calls"), Column::Right("launches"), Column::Right("solutions")];
    let mut table = Table::new(&[counts.as_slice(), &PROBLEM].concat());
    for row in &summary.sweeps {
        let counts = [row.calls, row.launches, row.solutions].map(count);
        table.row([counts.as_slice(), &problem(&row.problem, &row.function)].concat());
    }
    let remark = format!("inferred: {SWEEP_RULE}");
    section("Solutions tried in a row, as tuners do", &table, style, &[remark])
}
