//! Section of `compare`: the compared runs (program, host, traces, evidence of Tensile's fallback),
//! and the result of each `--fail-if` condition.

use super::evidence;
use crate::{section::Part, table::Style};
use rocshim_analysis::units::count;
use rocshim_analysis::{CONDITIONS, Comparison, SIDES};

pub(crate) fn sides(all: &Comparison, style: &Style) -> Option<String> {
    let baseline = &all.sides[0].side;
    Part::new(&SIDES, &all.sides)
        .under(|side| {
            let why = Some(side.fallback_why.as_str());
            let mut lines = vec![format!("fallback: {}", evidence(side.fallback_evidence, why))];
            let limited = side.limited.as_ref();
            lines.extend(limited.map(|why| format!("limited: {why}; more may have happened than is shown")));
            if side.totals.by_graphs > 0 {
                lines.push(format!(
                    "{} of the launches were made by {} graph launches",
                    count(side.totals.by_graphs),
                    count(side.totals.graph_launches)
                ));
            }
            lines
        })
        .remark(format!("{baseline} is the baseline; fallback: launches from Tensile's fallback library"))
        .section(style)
}

pub(crate) fn conditions(all: &Comparison, style: &Style) -> Option<String> {
    Part::new(&CONDITIONS, &all.conditions).section(style)
}
