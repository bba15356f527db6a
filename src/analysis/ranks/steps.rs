//! Finds the steps of a job in the order of its collectives, and measures each rank's time outside
//! and inside of them.

use super::{
    groups::{Group, Member},
    rank::{Collective, Rank},
};
use serde::Serialize;

/// The period of a group's collectives: after the first `skipped`, each `length` collectives are a
/// step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) skipped: usize,
    pub(super) length: usize,
    pub(super) steps: usize,
}

/// Limit of the collectives of a step.
const LONGEST: usize = 4096;

/// Finds the shortest period that the sequence has from some position on, covering at least three
/// repetitions and half of the sequence. Without one each collective is a step.
pub(super) fn period(sequence: &[usize]) -> Option<Period> {
    let all = sequence.len();
    (1..=(all / 3).min(LONGEST)).find_map(|length| {
        let last_odd = (length..all).rev().find(|at| sequence[*at] != sequence[*at - length]);
        let skipped = last_odd.map_or(0, |at| at + 1 - length);
        let steps = (all - skipped) / length;
        (steps >= 3 && 2 * (all - skipped) >= all).then_some(Period { skipped, length, steps })
    })
}

/// Which times of collectives are known of every aligned rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Begin and end of RCCL's kernels on the GPU.
    Gpu,
    /// When the host entered the collective, and when its wait for it ended.
    Host,
    /// When the host entered it: the end is not known.
    Entry,
}

impl Basis {
    /// In two or three words.
    pub fn brief(self) -> &'static str {
        match self {
            Basis::Gpu => "GPU times",
            Basis::Host => "host times",
            Basis::Entry => "host times of calls alone",
        }
    }
}

impl Basis {
    /// The best that holds for all collectives of a group that can have it: the last ones of a job
    /// that died cannot.
    pub(super) fn of(group: &Group, ranks: &[Rank], whole: usize) -> Basis {
        let calls =
            || group.aligned().flat_map(|member| member.calls(ranks).iter().take(whole.min(member.aligned)));
        match () {
            () if calls().all(|call| call.gpu.1 > 0) => Basis::Gpu,
            () if calls().all(|call| call.done > 0) => Basis::Host,
            () => Basis::Entry,
        }
    }

    /// Begin and end of a collective, Unix ns of the rank's host.
    pub(super) fn times(self, call: &Collective) -> (u64, u64) {
        match self {
            Basis::Gpu => call.gpu,
            Basis::Host => (call.enter, call.done),
            Basis::Entry => (call.enter, call.returned.max(call.enter)),
        }
    }

    /// Returns the basis in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Basis::Gpu => "GPU times of RCCL's kernels",
            Basis::Host => "host times: from the call to the end of the wait for its stream",
            Basis::Entry => "host times of the calls alone: no rank's wait for them is in the traces",
        }
    }
}

/// A rank's part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StepTime {
    /// When its first collective began, Unix ns of its host's clock.
    pub begin_ns: u64,
    /// Time outside of collectives: before each, since the end of the one before it.
    pub own_ns: u64,
    /// Time in collectives: waiting for other ranks and moving data.
    pub in_ns: u64,
}

/// The times of a member for each of its whole steps. The first step of a group lacks what came
/// before its first collective, so its step is `None`.
pub(super) fn times(member: &Member, ranks: &[Rank], basis: Basis, period: Period) -> Vec<Option<StepTime>> {
    let calls = &member.calls(ranks)[..member.aligned];
    let step = |number: usize| {
        let first = period.skipped + number * period.length;
        let of_step = calls.get(first..first + period.length)?;
        let mut before = basis.times(calls.get(first.checked_sub(1)?)?).1;
        let mut time = StepTime { begin_ns: basis.times(&of_step[0]).0, own_ns: 0, in_ns: 0 };
        for call in of_step {
            let (begin, end) = basis.times(call);
            if begin == 0 || end == 0 {
                return None;
            }
            time.own_ns += begin.saturating_sub(before);
            // Where collectives overlap, their common time counts once.
            time.in_ns += end.saturating_sub(begin.max(before));
            before = before.max(end);
        }
        Some(time)
    };
    (0..period.steps).map(step).collect()
}

/// The median times around one collective of a step, on one rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AroundCollective {
    /// The group, by its place in `groups`.
    pub group: usize,
    /// The rank's number.
    pub rank: u32,
    /// The collective's place in its step, from 0.
    pub place: usize,
    /// The collective: function and count.
    pub collective: String,
    /// Since the end of the collective before it.
    pub before_ns: u64,
    /// From its begin to its end.
    pub in_ns: u64,
    /// Up to the begin of the collective after it.
    pub after_ns: u64,
}

crate::table! {
    /// The median times around each collective of a step.
    AROUND: AroundCollective = "around", "Around each collective of a step (medians)",
        "a collective of a step, on one rank";
    |row|
    number("rank", "rank", "the rank's number") => row.rank;
    number("place", "#", "its place in the step: from 1 here, from 0 in JSON") => row.place + 1;
    time("before_ns", "before", "since the end of the collective before it") => row.before_ns;
    time("in_ns", "in", "from its begin to its end") => row.in_ns;
    time("after_ns", "after", "up to the begin of the collective after it") => row.after_ns;
    words("collective", "collective", "function and count") => &row.collective;
}

/// Returns before, in and after for each place of a step: medians over the member's steps.
pub(super) fn around(member: &Member, ranks: &[Rank], basis: Basis, period: Period) -> Vec<[u64; 3]> {
    let calls = &member.calls(ranks)[..member.aligned];
    let place = |place: usize| {
        let mut times: [Vec<u64>; 3] = Default::default();
        for step in 0..period.steps {
            let at = period.skipped + step * period.length + place;
            let Some(call) = calls.get(at) else { break };
            let (begin, end) = basis.times(call);
            let before = at.checked_sub(1).map(|at| begin.saturating_sub(basis.times(&calls[at]).1));
            let after = calls.get(at + 1).map(|next| basis.times(next).0.saturating_sub(end));
            times[0].extend(before);
            times[1].push(end.saturating_sub(begin));
            times[2].extend(after);
        }
        times.map(median)
    };
    (0..period.length).map(place).collect()
}

/// Returns the median; of two middle values the lower one; 0 without values.
pub(super) fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_period_after_a_beginning_is_a_step() {
        let found = |sequence: &[usize]| period(sequence).map(|p| (p.skipped, p.length, p.steps));
        assert_eq!(found(&[1, 2, 3, 1, 2, 3, 1, 2, 3]), Some((0, 3, 3)));
        assert_eq!(found(&[9, 1, 2, 1, 2, 1, 2, 1]), Some((1, 2, 3)), "a broadcast of weights comes first");
        assert_eq!(found(&[5; 12]), Some((0, 1, 12)));
        assert_eq!(found(&[1, 2, 3, 4, 5, 6]), None);
        assert_eq!(found(&[1, 2]), None);
    }
}
