//! What each run is, and the result of each condition.

use super::{evidence, multiple};
use crate::{
    section::section,
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, time};
use rocshim_analysis::{Checked, Comparison};

pub(crate) fn sides(all: &Comparison, style: &Style) -> Option<String> {
    let mut table = Table::new(&[
        Column::Left("run"),
        Column::Right("launches"),
        Column::Right("kernels"),
        Column::Missable("host time"),
        Column::Right("GEMMs"),
        Column::Right("convs"),
        Column::Right("fallback"),
        Column::Right("failed"),
        Column::Right("lost"),
        Column::Path("traces"),
    ]);
    for side in &all.sides {
        let totals = &side.totals;
        let mut under =
            vec![format!("fallback: {}", evidence(side.fallback_evidence, Some(&side.fallback_why)))];
        under.extend(
            side.limited.as_ref().map(|why| format!("limited: {why}; more may have happened than is shown")),
        );
        if totals.by_graphs > 0 {
            under.push(format!(
                "{} of the launches were made by {} graph launches",
                count(totals.by_graphs),
                count(totals.graph_launches)
            ));
        }
        let counts = [totals.gemms, totals.convolutions, side.fallback_launches, totals.failed, totals.lost];
        let mut cells =
            vec![side.side.clone(), count(totals.launches), count(totals.kernels), time(side.total_ns)];
        cells.extend(counts.map(count));
        cells.push(side.path.clone());
        table.row_with(cells, under);
    }
    let remark =
        format!("{} is the baseline; fallback: launches from Tensile's fallback library", all.sides[0].side);
    section("Runs", &table, style, &[remark])
}

pub(crate) fn conditions(all: &Comparison, style: &Style) -> Option<String> {
    if all.conditions.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Left(""),
        Column::Left("condition"),
        Column::Left("run"),
        Column::Right("is"),
        Column::Left("evidence"),
        Column::Text("why"),
    ]);
    for checked in &all.conditions {
        let held = if checked.holds { "FAILED" } else { "passed" };
        let why = checked.why.clone().unwrap_or_default();
        table.row(vec![
            held.into(),
            checked.condition.clone(),
            checked.side.clone(),
            value(checked),
            checked.evidence.to_string(),
            why,
        ]);
    }
    section("Conditions: the comparison fails where one holds", &table, style, &[])
}

/// What a side has: `1.12x (112, baseline 100)`.
pub(crate) fn value(checked: &Checked) -> String {
    let Some(value) = checked.value else { return "unknown".into() };
    match (checked.baseline, checked.ratio) {
        (Some(baseline), Some(ratio)) => {
            format!("{} ({}, baseline {})", multiple(ratio), whole(value), whole(baseline))
        }
        (Some(baseline), None) => format!("{}, baseline {}", whole(value), whole(baseline)),
        _ => whole(value),
    }
}

/// Quantities are counts and nanoseconds.
fn whole(value: f64) -> String {
    count(value as u64)
}
