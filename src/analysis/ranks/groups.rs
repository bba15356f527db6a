//! Matches communicators over ranks. Their collectives are aligned by their order: all ranks of a
//! communicator call the same collectives in the same order, or the job hangs.

use super::{
    gather::RanksBuilder,
    rank::{Collective, Rank},
};
use crate::Evidence;
use crate::evidence::observations::Observation;
use rocshim_trace::Hex;
use std::collections::{BTreeMap, HashMap};

/// A communicator over all its ranks.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) key: Key,
    /// The number of its ranks, where a rank's trace has it.
    pub(super) members: Option<u32>,
    /// Its ranks, by their number among all ranks.
    pub(super) ranks: Vec<Member>,
    /// What most ranks call, in order.
    pub(super) sequence: Vec<usize>,
}

/// The key by which communicators of several ranks are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The hash of the unique id that they were created with.
    Id(Hex),
    /// Their creation is not in the traces: their number in each rank, by first use.
    Order(usize),
}

/// A rank in a group.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The index of the rank.
    pub(super) rank: usize,
    /// The index of its communicator.
    pub(super) communicator: usize,
    /// Number of its collectives, from the first, that agree with the sequence.
    pub(super) aligned: usize,
    /// Why its collectives cannot be aligned: some may be missing.
    pub(super) left_out: Option<String>,
}

impl Group {
    /// Returns the evidence class of the match.
    pub(super) fn evidence(&self) -> Evidence {
        match self.key {
            Key::Id(_) => Observation::Id.evidence(),
            Key::Order(_) => Evidence::Inferred,
        }
    }

    /// Returns the ranks whose collectives are aligned.
    pub(super) fn aligned(&self) -> impl Iterator<Item = &Member> {
        self.ranks.iter().filter(|member| member.left_out.is_none())
    }
}

impl Member {
    /// Returns the rank's collectives of this group.
    pub(super) fn calls<'a>(&self, ranks: &'a [Rank]) -> &'a [Collective] {
        &ranks[self.rank].communicators[self.communicator].calls
    }
}

/// Finds the groups of a reading, those with most ranks first, then those with most collectives.
pub(super) fn groups(builder: &RanksBuilder) -> Vec<Group> {
    let ranks = &builder.ranks;
    let mut found: BTreeMap<Key, Group> = BTreeMap::new();
    for (rank, of) in ranks.iter().enumerate() {
        let mut unknown = 0;
        for (communicator, handle) in of.communicators.iter().enumerate() {
            let key = match handle.created {
                Some(created) => Key::Id(created.group),
                None if handle.calls.is_empty() => continue,
                None => {
                    unknown += 1;
                    Key::Order(unknown)
                }
            };
            let new = || Group { key, members: None, ranks: Vec::new(), sequence: Vec::new() };
            let group = found.entry(key).or_insert_with(new);
            group.members = group.members.max(handle.created.map(|created| created.members));
            let left_out = of.gaps.clone();
            group.ranks.push(Member { rank, communicator, aligned: 0, left_out });
        }
    }
    let mut groups: Vec<Group> = found.into_values().collect();
    groups.iter_mut().for_each(|group| align(group, ranks));
    groups.retain(|group| !group.sequence.is_empty());
    groups.sort_by_key(|group| std::cmp::Reverse((group.ranks.len(), group.sequence.len())));
    groups
}

/// Finds what most ranks call at each place, and how far each rank agrees with that.
fn align(group: &mut Group, ranks: &[Rank]) {
    let longest = group.aligned().map(|member| member.calls(ranks).len()).max().unwrap_or(0);
    for at in 0..longest {
        let mut votes: HashMap<usize, usize> = HashMap::new();
        for call in group.aligned().filter_map(|member| member.calls(ranks).get(at)) {
            *votes.entry(call.signature).or_default() += 1;
        }
        // On a tie, the one that was read first.
        let most = votes.into_iter().max_by_key(|(signature, votes)| (*votes, std::cmp::Reverse(*signature)));
        group.sequence.extend(most.map(|(signature, _)| signature));
    }
    let sequence = &group.sequence;
    for member in &mut group.ranks {
        let calls = member.calls(ranks).iter().zip(sequence);
        member.aligned = calls.take_while(|(call, signature)| call.signature == **signature).count();
    }
}
