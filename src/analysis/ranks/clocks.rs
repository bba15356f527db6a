//! Aligns the clocks of hosts by collectives: none can end on a rank before it began on all ranks.

use super::{gather::Signatures, groups::Group, rank::Rank, steps::Basis};
use crate::{Evidence, evidence::observations::Observation, units::time};
use serde::Serialize;
use std::collections::BTreeMap;

/// The rule, for people.
pub const RULE: &str = "a collective that needs data of every rank ends nowhere before it has begun \
    everywhere: each bounds the difference of two hosts' clocks from both sides";

/// A host's clock, compared with that of the first rank's host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockRow {
    /// The host's name.
    pub host: String,
    /// Ranks on the host.
    pub ranks: usize,
    /// How far its clock is ahead of the first host's, ns; absent if unknown.
    pub ahead_ns: Option<i64>,
    /// Error bound of `ahead_ns`, ns.
    pub error_ns: Option<u64>,
    /// How certain the offset is.
    pub evidence: Evidence,
    /// The rule, or why the offset is unknown.
    pub why: Option<&'static str>,
}

crate::table! {
    /// The clocks of hosts.
    CLOCKS: ClockRow = "clocks", "Clocks, compared with the first host's", "a host's clock";
    |row|
    words("host", "host", "the host's name") => &row.host;
    count("ranks", "ranks", "ranks on the host") => row.ranks;
    words("ahead_ns", "ahead", "by how much it is ahead of the first host's").right()
        => row.ahead_ns.map(|ns| format!("{}{}", if ns < 0 { "-" } else { "" }, time(ns.unsigned_abs())));
    time("error_ns", "within", "the true difference is within this of it").no_sum() => row.error_ns;
    sentence("evidence", "evidence", "how certain that is, and why it is not known")
        => row.why.map_or_else(|| row.evidence.to_string(), |why| format!("{}: {why}", row.evidence));
}

/// The least and the most by which a host can be ahead of the first.
#[derive(Clone, Copy)]
struct Bounds {
    least: i64,
    most: i64,
}

/// Bounds the clock of each host; hosts are in the order of their first ranks.
pub(super) fn clocks(ranks: &[Rank], groups: &[(&Group, Basis)], signatures: &Signatures) -> Vec<ClockRow> {
    let mut hosts: Vec<&str> = Vec::new();
    for rank in ranks {
        if !hosts.contains(&rank.host.as_str()) {
            hosts.push(&rank.host);
        }
    }
    let number: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, host)| (*host, at)).collect();
    let mut bounds: Vec<Option<Bounds>> = vec![None; hosts.len()];
    for (group, basis) in groups.iter().filter(|(_, basis)| *basis != Basis::Entry) {
        for (at, signature) in group.sequence.iter().enumerate() {
            if signatures.get(*signature).is_barrier() {
                narrow(&mut bounds, ranks, group, *basis, at, &number);
            }
        }
    }
    let row = |(at, host): (usize, &&str)| {
        let of_host = ranks.iter().filter(|rank| rank.host == **host).count();
        match at {
            0 => ClockRow {
                evidence: Observation::FirstHost.evidence(),
                why: Some("the others are compared with it"),
                ..clock(host, of_host, Some(Bounds { least: 0, most: 0 }))
            },
            _ => clock(host, of_host, bounds[at]),
        }
    };
    hosts.iter().enumerate().map(row).collect()
}

fn clock(host: &str, ranks: usize, bounds: Option<Bounds>) -> ClockRow {
    let row = ClockRow {
        host: host.to_owned(),
        ranks,
        ahead_ns: None,
        error_ns: None,
        evidence: Evidence::Unresolved,
        why: None,
    };
    match bounds {
        None => {
            let why = "no collective with the first host whose begin and end are both known";
            ClockRow { why: Some(why), ..row }
        }
        Some(Bounds { least, most }) if least > most => {
            let why = "no constant difference explains all collectives: the clocks drift, or one was set";
            ClockRow { why: Some(why), ..row }
        }
        Some(Bounds { least, most }) => ClockRow {
            ahead_ns: Some(least + (most - least) / 2),
            error_ns: Some(((most - least) as u64).div_ceil(2)),
            evidence: Evidence::Inferred,
            ..row
        },
    }
}

/// Narrows the bounds by the collective at a place of a group's sequence.
fn narrow(
    bounds: &mut [Option<Bounds>],
    ranks: &[Rank],
    group: &Group,
    basis: Basis,
    at: usize,
    number: &BTreeMap<&str, usize>,
) {
    // By host: the last begin and the first end.
    let mut times: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for member in group.aligned().filter(|member| at < member.aligned) {
        let (begin, end) = basis.times(&member.calls(ranks)[at]);
        if begin == 0 || end == 0 {
            continue;
        }
        let host = number[ranks[member.rank].host.as_str()];
        let times = times.entry(host).or_insert((begin, end));
        *times = (times.0.max(begin), times.1.min(end));
    }
    let Some((begin, end)) = times.get(&0).copied() else { return };
    for (host, (host_begin, host_end)) in times {
        let (least, most) = (host_begin as i64 - end as i64, host_end as i64 - begin as i64);
        let known = bounds[host].get_or_insert(Bounds { least, most });
        *known = Bounds { least: known.least.max(least), most: known.most.min(most) };
    }
}
