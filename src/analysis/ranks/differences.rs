//! Ranks that launched, computed or loaded something else than the rest.

use super::{
    rank::{Rank, Trait, TraitKind},
    rows::{RankFinding, RankFindingKind, listed},
};
use crate::evidence::observations::complete;
use std::collections::{BTreeMap, BTreeSet};

/// The most texts of a kind in a sentence.
const LISTED: usize = 3;

/// Finds the ranks that differ from most others. One that is `short`, whose trace ends before those
/// of the others, is compared only by what it has.
pub(super) fn differences(
    ranks: &[Rank],
    short: &BTreeSet<usize>,
    notes: &mut Vec<String>,
) -> Vec<RankFinding> {
    let mut classes: BTreeMap<&BTreeSet<Trait>, Vec<usize>> = BTreeMap::new();
    let whole = || (0..ranks.len()).filter(|rank| !short.contains(rank) && ranks[*rank].gaps.is_none());
    for rank in whole() {
        classes.entry(&ranks[rank].traits).or_default().push(rank);
    }
    let Some((usual, of_usual)) = classes.iter().max_by_key(|(_, ranks)| ranks.len()) else {
        return Vec::new();
    };
    if 2 * of_usual.len() <= whole().count() {
        notes.push(format!(
            "the ranks are {} classes by what they launch, none of which has most of them: no rank is said to \
             differ (they may run different parts of a model)",
            classes.len()
        ));
        return Vec::new();
    }
    // What differs, and the ranks that differ so.
    let mut found: BTreeMap<(Vec<&Trait>, Vec<&Trait>), Vec<usize>> = BTreeMap::new();
    for (rank, of) in ranks.iter().enumerate() {
        let has: Vec<&Trait> = of.traits.difference(usual).collect();
        let lacks: Vec<&Trait> = match short.contains(&rank) || of.gaps.is_some() {
            true => Vec::new(),
            false => usual.difference(&of.traits).collect(),
        };
        if !has.is_empty() || !lacks.is_empty() {
            found.entry((has, lacks)).or_default().push(rank);
        }
    }
    let others = of_usual.len();
    found.into_iter().map(|((has, lacks), of)| finding(ranks, &of, others, &has, &lacks)).collect()
}

fn finding(ranks: &[Rank], of: &[usize], others: usize, has: &[&Trait], lacks: &[&Trait]) -> RankFinding {
    // That a rank does not do something holds if its trace would show it.
    let gap = ranks.iter().find_map(|rank| rank.bypass.clone());
    let (has, lacks) = (sentence(has), sentence(lacks));
    let what = match (has.is_empty(), lacks.is_empty()) {
        (false, false) => format!("{}; {others} others do not, but {}", has.join("; "), lacks.join("; ")),
        (false, true) => format!("{}; {others} others do not", has.join("; ")),
        _ => format!("does not do what {others} others do: {}", lacks.join("; ")),
    };
    RankFinding {
        kind: RankFindingKind::Differs,
        ranks: of.iter().map(|rank| ranks[*rank].label()).collect(),
        hosts: listed(of.iter().map(|rank| ranks[*rank].host.clone())),
        what,
        evidence: complete(gap.clone()).0,
        why: gap.map(|why| format!("calls may be in no trace: {why}")),
    }
}

/// A part for each kind: `launches gelu_tanh`.
fn sentence(traits: &[&Trait]) -> Vec<String> {
    let mut by_kind: BTreeMap<TraitKind, Vec<&str>> = BTreeMap::new();
    let solutions: Vec<&str> = of_kind(traits, TraitKind::Solution).collect();
    // A kernel that serves a product is said there.
    let is_said = |kernel: &str| {
        let symbol = kernel.split(" for gfx").next().unwrap_or(kernel);
        solutions.iter().any(|solution| solution.ends_with(symbol))
    };
    for (kind, text) in traits.iter().filter(|(kind, text)| *kind != TraitKind::Kernel || !is_said(text)) {
        by_kind.entry(*kind).or_default().push(text);
    }
    let part = |(kind, texts): (TraitKind, Vec<&str>)| {
        let shown = texts[..texts.len().min(LISTED)].join(", ");
        let more = texts.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{} {shown}{more}", kind.verb())
    };
    by_kind.into_iter().map(part).collect()
}

fn of_kind<'a>(traits: &[&'a Trait], wanted: TraitKind) -> impl Iterator<Item = &'a str> {
    traits.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, text)| text.as_str())
}
