//! Section of `compare`: the compared runs (program, host, traces, evidence of Tensile's fallback),
//! their ranks, and the result of each `--fail-if` condition.

use super::{evidence, labels};
use crate::{section::Part, table::Style};
use rocshim_analysis::units::count;
use rocshim_analysis::{COMPARED_RANKS, COMPARED_RUNS, CONDITIONS, Comparison, RankChange};

pub(crate) fn runs(all: &Comparison, style: &Style) -> Option<String> {
    let baseline = &all.runs[0].run;
    Part::new(&COMPARED_RUNS, &all.runs)
        .under(|run| {
            let why = Some(run.fallback_why.as_str());
            let mut lines = vec![format!("fallback: {}", evidence(run.fallback_evidence, why))];
            let limited = run.limited.as_ref();
            lines.extend(limited.map(|why| format!("limited: {why}; more may have happened than is shown")));
            if run.totals.by_graphs > 0 {
                lines.push(format!(
                    "{} of the launches were made by {} graph launches",
                    count(run.totals.by_graphs),
                    count(run.totals.graph_launches)
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

/// Each rank beside that of its number in the other runs.
pub(crate) fn ranks(all: &Comparison, style: &Style) -> Option<String> {
    Part::new(&COMPARED_RANKS, &all.ranks)
        .runs(&labels(all))
        .under(|row| {
            let differs = |change: &RankChange| {
                let evidence = evidence(change.evidence?, change.why.as_deref());
                Some(format!("{}: {evidence}", change.what.as_ref()?))
            };
            row.versus.iter().flatten().filter_map(differs).collect()
        })
        .remark("-: no trace of the rank")
        .section(style)
}
