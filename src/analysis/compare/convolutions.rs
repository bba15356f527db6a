//! Convolutions by problem: the solvers and kernels by which each side ran them.

use super::{
    BySide, Side,
    calls::{CallCell, CallChange},
};
use crate::ConvProblem;
use serde::Serialize;

/// A convolution that some side ran.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedConv {
    #[serde(flatten)]
    pub problem: ConvProblem,
    /// What each side did; absent when it never ran this convolution. Searches and queries are not
    /// runs.
    pub sides: BySide<CallCell>,
    /// What is different from the baseline, for each other side.
    pub versus: BySide<CallChange>,
}

/// Every convolution, longest host time on any side first.
pub(super) fn compare(sides: &[Side]) -> Vec<ComparedConv> {
    let mut kinds: Vec<(&str, ConvProblem, Vec<Option<CallCell>>)> = Vec::new();
    for (side, of) in sides.iter().enumerate() {
        for row in of.summary.convolutions.iter().filter(|row| row.is_run()) {
            let problem = row.problem.clone();
            let place = kinds.iter().position(|(_, known, _)| *known == problem).unwrap_or_else(|| {
                kinds.push((&row.library, problem, vec![None; sides.len()]));
                kinds.len() - 1
            });
            kinds[place].2[side].get_or_insert_default().add(&row.counts, row.chosen());
        }
    }
    let mut rows: Vec<ComparedConv> = kinds
        .into_iter()
        .map(|(library, problem, mut cells)| ComparedConv {
            problem,
            versus: BySide::others(sides, |other| {
                let limit = |side: &Side| side.limit_of(library);
                CallChange::of(sides, [cells[0].as_ref(), cells[other].as_ref()], other, limit)
            }),
            sides: BySide::of(sides, |side| cells[side].take()),
        })
        .collect();
    let longest = |row: &ComparedConv| row.sides.iter().flatten().map(|cell| cell.total_ns).max();
    rows.sort_by_key(|row| std::cmp::Reverse(longest(row)));
    rows
}
