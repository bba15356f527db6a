//! GEMMs by function and problem: the solutions and kernels by which each side computed them.

use super::{
    BySide, Side,
    calls::{CallCell, CallChange},
};
use crate::GemmProblem;
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
