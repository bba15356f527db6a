//! GEMMs by function and problem: the solutions and kernels by which each run computed them.

use super::{
    ComparedRun, PerRun,
    calls::{CallCell, CallChange},
    per_run::seen_cell,
};
use crate::{GemmProblem, names};
use serde::Serialize;

/// A kind of GEMM that some run computed.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedGemm {
    /// The library that was called.
    pub library: String,
    /// Its function.
    pub function: String,
    /// The problem. Its `algo` and `solution` are absent, because runs may differ in them: see
    /// `chosen` of each run.
    #[serde(flatten)]
    pub problem: GemmProblem,
    /// What each run did; absent where it never computed this GEMM.
    #[serde(rename = "sides")]
    pub runs: PerRun<CallCell>,
    /// Differences from the baseline, for each other run.
    pub versus: PerRun<CallChange>,
}

crate::table! {
    /// The GEMMs of the runs.
    COMPARED_GEMMS: ComparedGemm = "gemms", "GEMMs (host time; below each, the kernels launched inside the call)",
        "a product that a run made through a function";
    |row|
    count[each run]("sides.RUN.calls", "calls", "calls in each run")
        => row.runs.get(run).map(|cell| cell.calls);
    words[each_other run]("versus.RUN.calls", "change", "calls more than the baseline's, and their ratio")
        .right() => CallChange::in_words(&row.runs, &row.versus, run);
    time[each run]("sides.RUN.total_ns", "total", "host time of all calls").optional()
        => row.runs.get(run).map(|cell| cell.total_ns);
    words("op", "op", "op(A) and op(B): N, T or C (trans_a, trans_b)").derived() => row.problem.ops();
    number("m", "m", "rows of D").absent("?") => row.problem.m;
    number("n", "n", "columns of D").absent("?") => row.problem.n;
    number("k", "k", "the inner dimension").absent("?") => row.problem.k;
    number("batch", "batch", "products in a call").absent("?") => row.problem.batch;
    words("types", "types", "element types of A, B, C and D, and that of the computation (compute)")
        => row.problem.types_in_short();
    code("function", "function", "the function that was called").name() => names::function(&row.function);
    words[each run]("sides.RUN.chosen", "chose", "solution indices that were asked for").on_page()
        => row.runs.get(run).map(CallCell::chosen_in_words);
    words[each run]("sides.RUN.kernels", "kernels", "the kernels launched inside these calls").on_page()
        => row.runs.get(run).map(CallCell::kernels_cell);
    words("versus", "by which kernels", "whether each run chose and launched as the baseline").on_page()
        => CallChange::cell(&row.versus);
    words("versus.RUN.seen", "who made it", "whether each run and the baseline made it").on_page()
        => seen_cell(&row.runs, row.versus.labelled().map(|(run, change)| (run, &change.presence)));
}

/// Returns every kind of GEMM, longest host time in any run first.
pub(super) fn compare(runs: &[ComparedRun]) -> Vec<ComparedGemm> {
    let mut kinds: Vec<(&str, &str, GemmProblem, Vec<Option<CallCell>>)> = Vec::new();
    let mut places = foldhash::HashMap::<(&str, GemmProblem), usize>::default();
    for (run, of) in runs.iter().enumerate() {
        for row in &of.summary.gemms {
            let problem = GemmProblem { algo: None, solution: None, ..row.problem.clone() };
            let place = *places.entry((&row.function, problem.clone())).or_insert_with(|| {
                kinds.push((&row.library, &row.function, problem, vec![None; runs.len()]));
                kinds.len() - 1
            });
            kinds[place].3[run].get_or_insert_default().add(&row.counts, row.chosen());
        }
    }
    let mut rows: Vec<ComparedGemm> = kinds
        .into_iter()
        .map(|(library, function, problem, mut cells)| ComparedGemm {
            versus: PerRun::others(runs, |other| {
                let limit = |run: &ComparedRun| run.limit_of_function(library, function);
                CallChange::of(runs, [cells[0].as_ref(), cells[other].as_ref()], other, limit)
            }),
            runs: PerRun::of(runs, |run| cells[run].take()),
            library: library.to_string(),
            function: function.to_string(),
            problem,
        })
        .collect();
    let longest = |row: &ComparedGemm| row.runs.iter().flatten().map(|cell| cell.total_ns).max();
    rows.sort_by_key(|row| std::cmp::Reverse(longest(row)));
    rows
}
