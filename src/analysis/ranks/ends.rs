//! Finds missing ranks, ranks whose traces end early, and the collective in which a job ended.

use super::{
    gather::RanksBuilder,
    groups::{Group, Member},
    rank::Rank,
    rows::{RankFinding, RankFindingKind, listed},
    steps::Period,
};
use crate::Evidence;
use crate::evidence::observations::Observation;
use crate::units::{counted, time};
use std::collections::BTreeSet;

/// Findings from the ends of traces.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) findings: Vec<RankFinding>,
    /// Ranks that called fewer collectives than the others.
    pub(super) short: BTreeSet<usize>,
}

/// Examines the ends of all groups, the largest first. Reports each rank once.
pub(super) fn ends(builder: &RanksBuilder, groups: &[(&Group, Option<Period>)]) -> Ends {
    let mut ends = Ends::default();
    for (group, period) in groups {
        look(builder, group, *period, &mut ends);
    }
    ends
}

fn look(builder: &RanksBuilder, group: &Group, period: Option<Period>, ends: &mut Ends) {
    let ranks = &builder.ranks;
    let entered = |member: &Member| member.calls(ranks).len();
    let most = group.sequence.len();
    let died = |member: &&Member| !ranks[member.rank].in_flight.is_empty();
    let waiting: Vec<&Member> = group.aligned().filter(|m| entered(m) == most).filter(died).collect();
    let waited = |member: &Member| {
        let enter = member.calls(ranks).last().map_or(0, |call| call.enter);
        ranks[member.rank].last_ns.saturating_sub(enter)
    };
    let since = waiting.iter().map(|member| waited(member)).max().filter(|since| *since > 0);
    let since = since.map_or(String::new(), |since| format!(" for {}", time(since)));
    let behind: Vec<&Member> = group.aligned().filter(|member| entered(member) < most).collect();
    let number = most - 1;
    let collective = builder.signatures.get(group.sequence[number]);
    let place = period.filter(|period| number >= period.skipped).map_or(String::new(), |period| {
        let at = number - period.skipped;
        format!(" (step {}, number {} of {})", at / period.length + 1, at % period.length + 1, period.length)
    });
    ends.short.extend(behind.iter().map(|member| member.rank));
    if !waiting.is_empty() && behind.is_empty() && waiting.len() == group.ranks.len() {
        ends.findings.push(finding(
            RankFindingKind::UnfinishedCollective,
            ranks,
            &waiting,
            group,
            format!("all had entered collective {most}, {collective}{place}, and none had left it when the job ended"),
        ));
        return;
    }
    for member in behind {
        let rank = &ranks[member.rank];
        let next = builder.signatures.get(group.sequence[entered(member)]);
        let (kind, what) = match waiting.is_empty() {
            false => (
                RankFindingKind::UnfinishedCollective,
                format!(
                    "did not enter collective {}, {next}{}, in which {} waited{since} when the job ended: it {}",
                    entered(member) + 1,
                    if entered(member) == number { place.as_str() } else { "" },
                    counted(waiting.len() as u64, "other rank"),
                    last_call(rank)
                ),
            ),
            true => (
                RankFindingKind::EndsEarly,
                format!(
                    "called {} of {most} collectives; its trace ends with `{}`: it {}",
                    entered(member),
                    rank.end,
                    last_call(rank)
                ),
            ),
        };
        if !ends.findings.iter().any(|known| known.kind == kind && known.ranks == [rank.label()]) {
            ends.findings.push(finding(kind, ranks, &[member], group, what));
        }
    }
}

/// `was in hipStreamSynchronize for 1.2 s`, `had last called hipLaunchKernel`.
fn last_call(rank: &Rank) -> String {
    let end = rank.last_ns;
    match (rank.in_flight.first(), &rank.last) {
        (Some(call), _) => {
            let since = end.saturating_sub(call.enter);
            let since = if since > 0 { format!(" for {}", time(since)) } else { String::new() };
            format!("was in {}{since}", call.function)
        }
        (None, Some(last)) => format!("had last called {}", last.function),
        (None, None) => "had called nothing".into(),
    }
}

/// Creates a finding that depends on the order of a group's collectives, and on these ranks' traces
/// being complete.
fn finding(
    kind: RankFindingKind,
    ranks: &[Rank],
    of: &[&Member],
    group: &Group,
    what: String,
) -> RankFinding {
    let (evidence, why) = match of.iter().find_map(|member| doubt(&ranks[member.rank])) {
        Some(doubt) => (Evidence::Limited, Some(doubt)),
        None if group.evidence().is_confirmed() => (group.evidence(), None),
        None => (group.evidence(), Some("communicators are matched by the order of their use".into())),
    };
    RankFinding {
        kind,
        ranks: of.iter().map(|member| ranks[member.rank].label()).collect(),
        hosts: listed(of.iter().map(|member| ranks[member.rank].host.clone())),
        what,
        evidence,
        why,
    }
}

/// Returns why a rank may have made more calls than its trace shows.
fn doubt(rank: &Rank) -> Option<String> {
    match rank.end.as_str() {
        "exit" | "recovered" | "killed" => rank.bypass.clone(),
        "running" | "snapshot" => Some("it still ran when its trace was read".into()),
        end => Some(format!("its trace is not finished (`{end}`): what it called after that is not known")),
    }
}

/// Finds ranks without a trace, by the number of ranks that the others state.
pub(super) fn missing(ranks: &[Rank], expected: Option<u32>) -> Option<RankFinding> {
    let present: BTreeSet<u32> = ranks.iter().filter_map(Rank::known_number).collect();
    let missing: Vec<u32> = (0..expected?).filter(|number| !present.contains(number)).collect();
    (!missing.is_empty() && !present.is_empty()).then(|| RankFinding {
        kind: RankFindingKind::Missing,
        ranks: missing,
        hosts: Vec::new(),
        what: format!("no trace among those given, of {} ranks", expected.unwrap_or(0)),
        evidence: Observation::Absent.evidence(),
        why: None,
    })
}

/// Finds ranks that called a different collective than the others at the same position.
pub(super) fn mismatches(builder: &RanksBuilder, group: &Group) -> Vec<RankFinding> {
    let ranks = &builder.ranks;
    let odd = |member: &&Member| member.aligned < member.calls(ranks).len().min(group.sequence.len());
    let one = |member: &Member| {
        let call = &member.calls(ranks)[member.aligned];
        let (is, others) = (call.signature, group.sequence[member.aligned]);
        let what = format!(
            "calls {} as collective {}, where most call {}",
            builder.signatures.get(is),
            member.aligned + 1,
            builder.signatures.get(others)
        );
        finding(RankFindingKind::Mismatch, ranks, &[member], group, what)
    };
    group.aligned().filter(odd).map(one).collect()
}

/// Finds ranks whose collectives cannot be aligned.
pub(super) fn left_out(ranks: &[Rank]) -> Vec<RankFinding> {
    let one = |rank: &Rank| {
        let why = rank.gaps.clone()?;
        Some(RankFinding {
            kind: RankFindingKind::LeftOut,
            ranks: vec![rank.label()],
            hosts: vec![rank.host.clone()],
            what: "is not compared with the others: its collectives cannot be counted".into(),
            evidence: Evidence::Limited,
            why: Some(why),
        })
    };
    ranks.iter().filter_map(one).collect()
}
