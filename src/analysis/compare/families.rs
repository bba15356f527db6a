//! Kernel families: the kinds of work of each side.

use super::{
    BySide, Side,
    kernels::{difference, ratio},
};
use crate::{Evidence, FamilyRow};
use serde::Serialize;
use std::collections::BTreeMap;

/// A family of kernels that some side launched.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedFamily {
    /// What it is called; absent for the kernels whose names tell nothing.
    pub family: Option<&'static str>,
    /// Whose kernels they are.
    pub of: Option<&'static str>,
    /// `inferred`: a name is no proof. `unresolved` for the kernels whose names tell nothing.
    pub evidence: Evidence,
    /// What each side launched of it; absent where that is nothing.
    pub sides: BySide<FamilyCell>,
    /// What is different from the baseline, for each other side.
    pub versus: BySide<FamilyChange>,
}

/// A family on one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyCell {
    /// Different kernels.
    pub kernels: u64,
    pub launches: u64,
    /// Host time of all launch calls.
    pub total_ns: u64,
}

/// A family, held against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyChange {
    /// Launches more than the baseline's.
    pub launches: i64,
    /// Launches as a multiple of the baseline's; absent where that has none.
    pub launches_ratio: Option<f64>,
    /// Host time more than the baseline's.
    pub total_ns: i64,
    /// Host time as a multiple of the baseline's.
    pub(crate) total_ratio: Option<f64>,
}

/// A family's rows, one for each side.
type Row<'a> = Vec<Option<&'a FamilyRow>>;

/// Every family, most launches on any side first.
pub(super) fn compare(sides: &[Side]) -> Vec<ComparedFamily> {
    let mut rows: BTreeMap<(Option<&str>, Option<&str>), Row> = BTreeMap::new();
    for (side, of) in sides.iter().enumerate() {
        for family in of.summary.families.iter().filter(|family| family.launches > 0) {
            rows.entry((family.of, family.family)).or_insert_with(|| vec![None; sides.len()])[side] =
                Some(family);
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.iter().flatten().map(|row| row.launches).max()));
    rows.iter().map(|row| compared(sides, row)).collect()
}

fn compared(sides: &[Side], row: &[Option<&FamilyRow>]) -> ComparedFamily {
    let first = row.iter().flatten().next().expect("a row is of some side");
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
        sides: BySide::of(sides, |side| row[side].map(cell)),
        versus: BySide::others(sides, change),
    }
}
