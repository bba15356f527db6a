//! Products that were tried with one solution after the other.

use super::{
    gemms::{known, types},
    section,
};
use crate::units::count;
use crate::{
    analysis::{SWEEP_RULE, Summary},
    report::names::function,
    report::table::{Column, Style, Table},
};

pub(crate) fn sweeps(summary: &Summary, style: &Style) -> Option<String> {
    if summary.sweeps.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("calls"),
        Column::Right("launches"),
        Column::Right("solutions"),
        Column::Left("op"),
        Column::Right("m"),
        Column::Right("n"),
        Column::Right("k"),
        Column::Right("batch"),
        Column::Left("types"),
        Column::Left("function"),
    ]);
    for row in &summary.sweeps {
        let problem = &row.problem;
        table.row(vec![
            count(row.calls),
            count(row.launches),
            count(row.solutions),
            format!("{}{}", known(&problem.trans_a), known(&problem.trans_b)),
            known(&problem.m),
            known(&problem.n),
            known(&problem.k),
            known(&problem.batch),
            types(&problem.types, &problem.compute),
            function(&row.function),
        ]);
    }
    let remark = format!("inferred: {SWEEP_RULE}");
    section("Solutions tried in a row, as tuners do", &table, style, &[remark])
}
