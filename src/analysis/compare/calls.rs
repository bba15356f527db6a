//! Library calls of one kind (a GEMM, a convolution) of a run: number, duration, kernels.

use super::{ComparedRun, PerRun, Presence, Seen};
use crate::evidence::observations::{absence, complete};
use crate::{CallCounts, Evidence, table::Cell, units};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Calls of one kind in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallCell {
    /// Calls, failed ones among them.
    pub calls: u64,
    /// Host time of all calls.
    pub total_ns: u64,
    /// What the calls requested: solution indices of a GEMM, solvers or algorithms of a
    /// convolution.
    pub chosen: BTreeSet<String>,
    /// Symbols of the kernels launched (or captured) inside, without trials, with their launches.
    pub kernels: BTreeMap<String, u64>,
    /// Whether those kernels are all of them.
    pub evidence: Evidence,
    /// Why the evidence is not *confirmed*.
    pub why: Option<String>,
}

impl CallCell {
    pub(super) fn chosen_in_words(&self) -> String {
        self.chosen.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn kernels_cell(&self) -> Cell {
        let kernel = |(name, launches): (&String, &u64)| (*launches, name.clone(), None);
        Cell::Kernels(self.kernels.iter().map(kernel).collect())
    }
}

/// Calls of one kind, compared with the baseline's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallChange {
    /// Which of the two made such calls.
    #[serde(flatten)]
    pub presence: Presence,
    /// Number of calls minus the baseline's.
    pub calls: i64,
    /// Whether the calls requested another solution or solver than the baseline's.
    pub chosen: Change,
    /// Whether other kernels were launched inside than on the baseline.
    pub kernels: Change,
}

/// Whether something differs from the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    pub changed: bool,
    /// How certain that is.
    pub evidence: Evidence,
    /// Why it is not confirmed.
    pub why: Option<String>,
}

impl Default for CallCell {
    fn default() -> CallCell {
        let (chosen, kernels) = (BTreeSet::new(), BTreeMap::new());
        CallCell { calls: 0, total_ns: 0, chosen, kernels, evidence: complete(None).0, why: None }
    }
}

impl CallCell {
    /// Adds calls, which requested `chosen`.
    pub(super) fn add(&mut self, counts: &CallCounts, chosen: Option<String>) {
        self.calls += counts.calls;
        self.total_ns += counts.total_ns;
        self.chosen.extend(chosen);
        for inside in &counts.kernels {
            let launches = inside.launches + inside.captured - inside.trials;
            if launches > 0 {
                *self.kernels.entry(inside.kernel.clone()).or_default() += launches;
            }
        }
        if self.evidence.is_confirmed() {
            (self.evidence, self.why) = (counts.evidence, counts.why.clone());
        }
    }
}

impl CallChange {
    /// Returns how many more calls a run made than the baseline, in words.
    pub(super) fn in_words(
        runs: &PerRun<CallCell>,
        versus: &PerRun<CallChange>,
        run: usize,
    ) -> Option<String> {
        let baseline = runs.get(0).map_or(0, |cell| cell.calls);
        let change = versus.of_run(run)?;
        let ratio = (baseline > 0).then(|| (baseline as f64 + change.calls as f64) / baseline as f64);
        Some(units::change(change.calls, ratio))
    }

    /// Returns whether each run chose and launched as the baseline did, in words.
    pub(super) fn cell(versus: &PerRun<CallChange>) -> Cell {
        let statement = |change: &CallChange| {
            let words = match (change.chosen.changed, change.kernels.changed) {
                _ if change.presence.seen != Seen::Both => "–",
                (true, true) => "another solution and other kernels",
                (true, false) => "another solution",
                (false, true) => "other kernels",
                (false, false) => "the same",
            };
            let of = if change.chosen.changed { &change.chosen } else { &change.kernels };
            let is_plain = !change.is_change() || change.presence.seen != Seen::Both;
            (words.to_owned(), (!is_plain).then(|| (of.evidence, of.why.clone())))
        };
        Cell::Statements(versus.iter().flatten().map(statement).collect())
    }

    /// Returns true when another kernel or solver served the same problem.
    pub fn is_change(&self) -> bool {
        self.chosen.changed || self.kernels.changed
    }

    /// Compares the calls of two runs. `limit`: why calls may be missing in a run.
    pub(super) fn of(
        runs: &[ComparedRun],
        cells: [Option<&CallCell>; 2],
        other: usize,
        limit: impl Fn(&ComparedRun) -> Option<String>,
    ) -> CallChange {
        let limit = |run: usize| limit(&runs[[0, other][run]]);
        let presence = Presence::of(cells.map(|cell| cell.is_some()), |run| absence(limit(run)));
        let calls = cells.map(|cell| cell.map_or(0, |cell| cell.calls) as i64);
        let found =
            |changed: bool, (evidence, why): (Evidence, Option<String>)| Change { changed, evidence, why };
        // Lost calls may have requested something else.
        let limited = || complete(limit(0).or_else(|| limit(1)));
        let (chosen, kernels) = match cells {
            [Some(was), Some(is)] => {
                let silent = [was, is].into_iter().find(|cell| !cell.evidence.is_confirmed());
                let inside = silent.map_or_else(limited, |cell| (cell.evidence, cell.why.clone()));
                // Without kernels inside, there is nothing to compare.
                let are_known = !was.kernels.is_empty() && !is.kernels.is_empty();
                let kernels = are_known && !was.kernels.keys().eq(is.kernels.keys());
                (found(was.chosen != is.chosen, limited()), found(kernels, inside))
            }
            _ => (found(false, limited()), found(false, limited())),
        };
        CallChange { presence, calls: calls[1] - calls[0], chosen, kernels }
    }
}
