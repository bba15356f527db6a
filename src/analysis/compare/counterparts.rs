//! Counterparts: matches kernels that only one run has with the other run's.
//!
//! Kernels are equal if their symbols are. If each run has a kernel that the other lacks, two rules
//! decide which correspond, the more certain first. Both are inferences, and a rule that fits
//! several pairs decides nothing:
//!
//! 1. both names are Tensile's and state the same problem (types, transposes, additional
//!    operations): the same work by another kernel;
//! 2. both names are of one family, and both were launched equally often with the same grid and
//!    block. Several that are alike in all of that are paired in the order of their first launches.

use super::kernels::{KernelRows, has_run, is_unnamed};
use crate::{Evidence, KernelRow};
use rocshim_trace::{Family, Tensile};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The other run's presumed counterpart of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterpart {
    /// Its symbol.
    pub name: String,
    /// Its name as people write it, where that differs.
    pub demangled: Option<String>,
    /// Always inferred.
    pub evidence: Evidence,
    /// `same problem`, `same place` or `same order`.
    pub rule: &'static str,
    /// The meaning of the rule.
    pub why: &'static str,
}

/// A rule: the one that is printed beside the kernel, and what it means.
pub(crate) type Rule = (&'static str, &'static str);

const SAME_PROBLEM: Rule =
    ("same problem", "both names are Tensile's and say the same types, transposes and extras");
const SAME_PLACE: Rule =
    ("same place", "both are of one family, and launched equally often in the same grid and block");
const SAME_ORDER: Rule = (
    "same order",
    "several of one family were launched equally often in the same grid and block; paired by their first launches",
);

/// All rules of this module.
pub const RULES: [Rule; 3] = [SAME_PROBLEM, SAME_PLACE, SAME_ORDER];

/// Returns, by row index, the counterpart of each kernel in the other run.
pub(super) fn find(rows: &[KernelRows], other: usize) -> BTreeMap<usize, Counterpart> {
    let mut found = BTreeMap::new();
    for (gone, new) in
        groups(&only(rows, 0, other), &only(rows, other, 0), |row| problem(row.tensile.as_ref()?))
    {
        if let ([gone], [new]) = (&gone[..], &new[..]) {
            pair(&mut found, *gone, *new, SAME_PROBLEM);
        }
    }
    let rest = |on, off| {
        let mut rest = only(rows, on, off);
        rest.retain(|(place, _)| !found.contains_key(place));
        rest
    };
    for (mut gone, mut new) in groups(&rest(0, other), &rest(other, 0), position) {
        if gone.len() == new.len() {
            let rule = if gone.len() == 1 { SAME_PLACE } else { SAME_ORDER };
            for run in [&mut gone, &mut new] {
                run.sort_by_key(|(_, row)| row.first_ns);
            }
            gone.into_iter().zip(new).for_each(|(gone, new)| pair(&mut found, gone, new, rule));
        }
    }
    found
}

/// A kernel with the place of its row.
type Placed<'a> = (usize, &'a KernelRow);

/// The kernels with names that ran in run `on` and not in run `off`.
fn only<'a>(rows: &[KernelRows<'a>], on: usize, off: usize) -> Vec<Placed<'a>> {
    let placed = rows.iter().enumerate().filter(|(_, row)| !has_run(row[off]));
    placed
        .filter(|(_, row)| has_run(row[on]))
        .filter_map(|(place, row)| Some((place, row[on]?)))
        .filter(|(_, row)| !is_unnamed(row))
        .collect()
}

/// Records two kernels as counterparts of each other.
fn pair(found: &mut BTreeMap<usize, Counterpart>, gone: Placed, new: Placed, rule: Rule) {
    found.insert(gone.0, counterpart(new.1, rule));
    found.insert(new.0, counterpart(gone.1, rule));
}

fn counterpart(row: &KernelRow, (rule, why): Rule) -> Counterpart {
    let (name, demangled) = (row.name.clone(), row.demangled.clone());
    Counterpart { name, demangled, evidence: Evidence::Inferred, rule, why }
}

type Problem = (String, [Option<String>; 6], Vec<String>);

/// Returns what a Tensile kernel's name states about its problem, not about its solution; nothing
/// for other names.
fn problem(tensile: &Tensile) -> Option<Problem> {
    let Tensile { kind, contraction, a, b, d, compute, batch, extras, .. } = tensile.clone();
    contraction.is_some().then_some((kind, [contraction, a, b, d, compute, batch], extras))
}

type Position = (&'static Family, u64, [u32; 3], [u32; 3]);

/// Returns what two kernels at the same place of a program have in common; `None` for a kernel of
/// no known family.
fn position(row: &KernelRow) -> Option<Position> {
    let family = rocshim_trace::family(&row.name, row.demangled.as_deref())?;
    Some((family, row.launches, row.shape.grid, row.shape.block))
}

/// Groups the kernels of both runs by a key.
fn groups<'a, K: Hash + Eq>(
    gone: &[Placed<'a>],
    new: &[Placed<'a>],
    key: impl Fn(&KernelRow) -> Option<K>,
) -> Vec<(Vec<Placed<'a>>, Vec<Placed<'a>>)> {
    let mut groups: HashMap<K, [Vec<Placed>; 2]> = HashMap::new();
    for (run, placed) in [gone, new].into_iter().enumerate() {
        for (place, row) in placed {
            if let Some(key) = key(row) {
                groups.entry(key).or_default()[run].push((*place, row));
            }
        }
    }
    groups.into_values().map(|[gone, new]| (gone, new)).collect()
}
