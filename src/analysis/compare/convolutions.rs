//! Convolutions by problem: the solvers and kernels by which each run ran them.

use super::{
    ComparedRun, PerRun,
    calls::{CallCell, CallChange},
    per_run::seen_cell,
};
use crate::ConvProblem;
use serde::Serialize;

/// A convolution that some run ran.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedConv {
    /// Sizes, types and direction of the convolution.
    #[serde(flatten)]
    pub problem: ConvProblem,
    /// What each run did; absent when it never ran this convolution. Searches and queries are not
    /// runs.
    #[serde(rename = "sides")]
    pub runs: PerRun<CallCell>,
    /// Differences from the baseline, for each other run.
    pub versus: PerRun<CallChange>,
}

crate::table! {
    /// The convolutions of the runs.
    COMPARED_CONVOLUTIONS: ComparedConv = "convolutions",
        "Convolutions (runs, host time; below each, the solvers and the kernels launched inside)",
        "a convolution that a run ran";
    |row|
    count[each run]("sides.RUN.calls", "calls", "calls in each run")
        => row.runs.get(run).map(|cell| cell.calls);
    words[each_other run]("versus.RUN.calls", "change", "calls more than the baseline's, and their ratio")
        .right() => CallChange::in_words(&row.runs, &row.versus, run);
    time[each run]("sides.RUN.total_ns", "total", "host time of all calls").optional()
        => row.runs.get(run).map(|cell| cell.total_ns);
    sentence("problem", "problem", "direction, tensors (x, w, y), pads, strides, dilations, groups, mode")
        .derived().name() => row.problem.in_words();
    words[each run]("sides.RUN.chosen", "chose", "solvers or algorithms that were asked for").on_page()
        => row.runs.get(run).map(CallCell::chosen_in_words);
    words[each run]("sides.RUN.kernels", "kernels", "the kernels launched inside these calls").on_page()
        => row.runs.get(run).map(CallCell::kernels_cell);
    words("versus", "by which kernels", "whether each run chose and launched as the baseline").on_page()
        => CallChange::cell(&row.versus);
    words("versus.RUN.seen", "who made it", "whether each run and the baseline made it").on_page()
        => seen_cell(&row.runs, row.versus.labelled().map(|(run, change)| (run, &change.presence)));
}

/// Returns every convolution, longest host time in any run first.
pub(super) fn compare(runs: &[ComparedRun]) -> Vec<ComparedConv> {
    let mut kinds: Vec<(&str, ConvProblem, Vec<Option<CallCell>>)> = Vec::new();
    for (run, of) in runs.iter().enumerate() {
        for row in of.summary.convolutions.iter().filter(|row| row.is_run()) {
            let problem = row.problem.clone();
            let place = kinds.iter().position(|(_, known, _)| *known == problem).unwrap_or_else(|| {
                kinds.push((&row.library, problem, vec![None; runs.len()]));
                kinds.len() - 1
            });
            kinds[place].2[run].get_or_insert_default().add(&row.counts, row.chosen());
        }
    }
    let mut rows: Vec<ComparedConv> = kinds
        .into_iter()
        .map(|(library, problem, mut cells)| ComparedConv {
            problem,
            versus: PerRun::others(runs, |other| {
                let limit = |run: &ComparedRun| run.limit_of(library);
                CallChange::of(runs, [cells[0].as_ref(), cells[other].as_ref()], other, limit)
            }),
            runs: PerRun::of(runs, |run| cells[run].take()),
        })
        .collect();
    let longest = |row: &ComparedConv| row.runs.iter().flatten().map(|cell| cell.total_ns).max();
    rows.sort_by_key(|row| std::cmp::Reverse(longest(row)));
    rows
}
