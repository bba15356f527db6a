//! Kernel families: the kinds of work of each run.

use super::{
    ComparedRun, PerRun,
    kernels::{difference, ratio},
};
use crate::{Evidence, FamilyRow, names, units};
use serde::Serialize;
use std::collections::BTreeMap;

/// A family of kernels that some run launched.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedFamily {
    /// Its name; absent for the kernels whose names match no family.
    pub family: Option<&'static str>,
    /// The library or program that the kernels belong to.
    pub of: Option<&'static str>,
    /// `inferred`: a name is no proof. `unresolved` for the kernels whose names match no family.
    pub evidence: Evidence,
    /// Launches of each run; absent where there are none.
    #[serde(rename = "sides")]
    pub runs: PerRun<FamilyCell>,
    /// Differences from the baseline, for each other run.
    pub versus: PerRun<FamilyChange>,
}

crate::table! {
    /// The kernel families of the runs.
    COMPARED_FAMILIES: ComparedFamily = "families", "Kernel families, inferred from kernel names (host time)",
        "the kernels that do one kind of work, by their names";
    |row|
    count[each run]("sides.RUN.launches", "launches", "launches in each run")
        => row.runs.get(run).map(|cell| cell.launches);
    words[each_other run]("versus.RUN.launches", "change", "launches more than the baseline's, and their ratio")
        .right() => row.versus.of_run(run).map(|change| units::change(change.launches, change.launches_ratio));
    time[each run]("sides.RUN.total_ns", "total", "host time of all launch calls").optional()
        => row.runs.get(run).map(|cell| cell.total_ns);
    evidence("evidence", "evidence", "inferred: a name is no proof").on_page() => row.evidence;
    words("family", "family", "whose kernels they are, and what they are called").name()
        => names::family(row.of, row.family);
}

/// A family in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyCell {
    /// Different kernels.
    pub kernels: u64,
    /// Launches of these kernels, failed ones among them.
    pub launches: u64,
    /// Host time of all launch calls.
    pub total_ns: u64,
}

/// A family, compared with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyChange {
    /// Launches minus the baseline's.
    pub launches: i64,
    /// Launches as a multiple of the baseline's; absent where that has none.
    pub launches_ratio: Option<f64>,
    /// Host time minus the baseline's, ns.
    pub total_ns: i64,
    /// Host time as a multiple of the baseline's.
    pub(crate) total_ratio: Option<f64>,
}

/// A family's rows, one for each run.
type FamilyRows<'a> = Vec<Option<&'a FamilyRow>>;

/// Every family, most launches in any run first.
pub(super) fn compare(runs: &[ComparedRun]) -> Vec<ComparedFamily> {
    let mut rows: BTreeMap<(Option<&str>, Option<&str>), FamilyRows> = BTreeMap::new();
    for (run, of) in runs.iter().enumerate() {
        for family in of.summary.families.iter().filter(|family| family.launches > 0) {
            rows.entry((family.of, family.family)).or_insert_with(|| vec![None; runs.len()])[run] =
                Some(family);
        }
    }
    let mut rows: Vec<FamilyRows> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.iter().flatten().map(|row| row.launches).max()));
    rows.iter().map(|row| compared(runs, row)).collect()
}

fn compared(runs: &[ComparedRun], row: &[Option<&FamilyRow>]) -> ComparedFamily {
    let first = row.iter().flatten().next().expect("a row is of some run");
    let cell =
        |row: &FamilyRow| FamilyCell { kernels: row.kernels, launches: row.launches, total_ns: row.total_ns };
    let change = |other: usize| {
        let both = |of: fn(&FamilyRow) -> u64| [row[0], row[other]].map(|row| row.map_or(0, of));
        let (launches, total) = (both(|row| row.launches), both(|row| row.total_ns));
        FamilyChange {
            launches: difference(launches),
            launches_ratio: ratio(launches),
            total_ns: difference(total),
            total_ratio: ratio(total),
        }
    };
    ComparedFamily {
        family: first.family,
        of: first.of,
        evidence: first.evidence,
        runs: PerRun::of(runs, |run| row[run].map(cell)),
        versus: PerRun::others(runs, change),
    }
}
