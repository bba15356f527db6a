//! GEMMs by function and problem: the solutions and kernels by which each side computed them.

use super::{
    BySide, Side,
    by_side::seen_cell,
    calls::{CallCell, CallChange},
};
use crate::{GemmProblem, names};
use serde::Serialize;

/// A kind of matrix product that some side made.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedGemm {
    /// The library that was called.
    pub library: String,
    /// Its function.
    pub function: String,
    /// What was asked for. `algo` and `solution` say how and are absent: see `chosen` of each side.
    #[serde(flatten)]
    pub problem: GemmProblem,
    /// What each side did; absent where it never made this product.
    pub sides: BySide<CallCell>,
    /// What is different from the baseline, for each other side.
    pub versus: BySide<CallChange>,
}

crate::table! {
    /// The GEMMs of the runs.
    COMPARED_GEMMS: ComparedGemm = "gemms", "GEMMs (host time; below each, the kernels launched inside the call)",
        "a product that a run made through a function";
    |row|
    count[each run]("sides.RUN.calls", "calls", "calls in each run")
        => row.sides.get(run).map(|cell| cell.calls);
    words[each_other run]("versus.RUN.calls", "change", "calls more than the baseline's, and their ratio")
        .right() => CallChange::in_words(&row.sides, &row.versus, run);
    time[each run]("sides.RUN.total_ns", "total", "host time of all calls").optional()
        => row.sides.get(run).map(|cell| cell.total_ns);
    words("op", "op", "op(A) and op(B): N, T or C (trans_a, trans_b)").derived() => row.problem.ops();
    number("m", "m", "rows of D").absent("?") => row.problem.m;
    number("n", "n", "columns of D").absent("?") => row.problem.n;
    number("k", "k", "the inner dimension").absent("?") => row.problem.k;
    number("batch", "batch", "products in a call").absent("?") => row.problem.batch;
    words("types", "types", "element types of A, B, C and D, and that of the computation (compute)")
        => row.problem.types_in_short();
    code("function", "function", "the function that was called").name() => names::function(&row.function);
    words[each run]("sides.RUN.chosen", "chose", "solution indices that were asked for").on_page()
        => row.sides.get(run).map(CallCell::chosen_in_words);
    words[each run]("sides.RUN.kernels", "kernels", "the kernels launched inside these calls").on_page()
        => row.sides.get(run).map(CallCell::kernels_cell);
    words("versus", "by which kernels", "whether each run chose and launched as the baseline").on_page()
        => CallChange::cell(&row.versus);
    words("versus.RUN.seen", "who made it", "whether each run and the baseline made it").on_page()
        => seen_cell(&row.sides, row.versus.labelled().map(|(run, change)| (run, &change.presence)));
}

/// Every kind of product, longest host time on any side first.
pub(super) fn compare(sides: &[Side]) -> Vec<ComparedGemm> {
    let mut kinds: Vec<(&str, &str, GemmProblem, Vec<Option<CallCell>>)> = Vec::new();
    let mut places = foldhash::HashMap::<(&str, GemmProblem), usize>::default();
    for (side, of) in sides.iter().enumerate() {
        for row in &of.summary.gemms {
            let problem = GemmProblem { algo: None, solution: None, ..row.problem.clone() };
            let place = *places.entry((&row.function, problem.clone())).or_insert_with(|| {
                kinds.push((&row.library, &row.function, problem, vec![None; sides.len()]));
                kinds.len() - 1
            });
            kinds[place].3[side].get_or_insert_default().add(&row.counts, row.chosen());
        }
    }
    let mut rows: Vec<ComparedGemm> = kinds
        .into_iter()
        .map(|(library, function, problem, mut cells)| ComparedGemm {
            versus: BySide::others(sides, |other| {
                let limit = |side: &Side| side.limit_of_function(library, function);
                CallChange::of(sides, [cells[0].as_ref(), cells[other].as_ref()], other, limit)
            }),
            sides: BySide::of(sides, |side| cells[side].take()),
            library: library.to_string(),
            function: function.to_string(),
            problem,
        })
        .collect();
    let longest = |row: &ComparedGemm| row.sides.iter().flatten().map(|cell| cell.total_ns).max();
    rows.sort_by_key(|row| std::cmp::Reverse(longest(row)));
    rows
}
