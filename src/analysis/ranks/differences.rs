//! Finds ranks that launched, computed or loaded something different from the others.

use super::{
    rank::Rank,
    rows::{RankFinding, RankFindingKind, listed},
};
use crate::{
    evidence::observations::complete,
    traits::{Differing, differing},
};
use std::collections::BTreeSet;

/// Finds the ranks that differ from most others. One that is `short`, whose trace ends before those
/// of the others, is compared only by what it has.
pub(super) fn differences(
    ranks: &[Rank],
    short: &BTreeSet<usize>,
    notes: &mut Vec<String>,
) -> Vec<RankFinding> {
    let is_whole = |at: usize| !short.contains(&at) && ranks[at].gaps.is_none();
    let compared: Vec<_> = ranks.iter().enumerate().map(|(at, rank)| (&rank.traits, is_whole(at))).collect();
    match differing(&compared) {
        Ok(found) => found.iter().map(|found| finding(ranks, found)).collect(),
        Err(classes) => {
            notes.push(format!(
                "the ranks are {} classes by what they launch, none of which has most of them: no rank is said to \
                 differ (they may run different parts of a model)",
                classes.len()
            ));
            Vec::new()
        }
    }
}

fn finding(ranks: &[Rank], found: &Differing) -> RankFinding {
    // That a rank does not do something holds if its trace would show it.
    let gap = ranks.iter().find_map(|rank| rank.bypass.clone());
    RankFinding {
        kind: RankFindingKind::Differs,
        ranks: found.ranks.iter().map(|rank| ranks[*rank].label()).collect(),
        hosts: listed(found.ranks.iter().map(|rank| ranks[*rank].host.clone())),
        what: found.what.clone(),
        evidence: complete(gap.clone()).0,
        why: gap.map(|why| format!("calls may be in no trace: {why}")),
    }
}
