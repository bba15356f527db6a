//! The result of `rocshim ranks`: findings, ranks, communicators, clocks and steps as rows.

use super::{
    clocks::ClockRow,
    rank::Rank,
    steps::{AroundCollective, Basis, StepTime},
};
use crate::Evidence;
use crate::units::count;
use serde::Serialize;

/// The findings on a job, from the traces of its ranks. Times are ns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranks {
    /// Format of this object: 1.
    pub format: u32,
    /// Number of ranks of the job, as stated by its launcher or its communicators.
    pub expected: Option<u32>,
    /// Problems and differences, the most serious first.
    pub findings: Vec<RankFinding>,
    /// Every rank that has a trace.
    pub ranks: Vec<RankRow>,
    /// Communicators, those of most ranks first.
    pub groups: Vec<GroupRow>,
    /// Every host's clock.
    pub clocks: Vec<ClockRow>,
    /// Medians over steps, for each collective of a step and each rank.
    pub around: Vec<AroundCollective>,
    /// Every step of every rank, in the largest communicator.
    pub steps: Vec<StepRow>,
    /// Files that could not be read, and what limits every finding.
    pub notes: Vec<String>,
}

/// A statement about some ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankFinding {
    /// What it is about.
    pub kind: RankFindingKind,
    /// The ranks, by number; by process id where they have none.
    pub ranks: Vec<u32>,
    /// Their hosts.
    pub hosts: Vec<String>,
    /// The statement.
    pub what: String,
    /// How certain it is.
    pub evidence: Evidence,
    /// The rule, or why it is not confirmed.
    pub why: Option<String>,
}

/// The kind of a finding, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RankFindingKind {
    /// The job ended inside a collective that a rank had not entered or none had left.
    UnfinishedCollective,
    /// Ranks call different collectives at the same place.
    Mismatch,
    /// A rank of a communicator has no trace.
    Missing,
    /// A rank called fewer collectives than the others, none of which waited in one.
    EndsEarly,
    /// The others wait for it.
    Straggler,
    /// It launched, computed or loaded something different from the others.
    Differs,
    /// Its trace lacks calls, so it cannot be aligned.
    LeftOut,
}

/// A rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankRow {
    /// Its number in the job; its process id where it is not known.
    pub rank: u32,
    /// The source of its number: a variable of its launcher, or its communicator.
    pub number_from: Option<String>,
    /// The name of its host.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// Its trace.
    pub trace: String,
    /// How its trace ends, in the words of `summary`.
    pub end: String,
    /// Collectives that it called.
    pub collectives: u64,
    /// Collectives that captures recorded into graphs; those that graphs execute are not counted.
    pub captured: u64,
    /// Whole steps of the largest communicator, the first left aside.
    pub steps: u64,
    /// Median over these: time outside of collectives.
    pub own_ns: u64,
    /// Median over these: time in collectives.
    pub in_ns: u64,
    /// Its own time relative to the median rank's, median over steps.
    pub ratio: Option<f64>,
    /// The probability that one of as many equal ranks shows such times.
    pub p: Option<f64>,
    /// Steps in which its own time was the longest.
    pub slowest_in: u64,
    /// Time that the other ranks waited for it in these steps: their time in collectives beyond its
    /// own, ns.
    pub waited_for_ns: u64,
}

/// A communicator over its ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupRow {
    /// A hash of its unique id; absent where its creation is not in the traces.
    pub id: Option<String>,
    /// The number of its ranks, from its creation.
    pub members: Option<u32>,
    /// Those of them that have a trace.
    pub ranks: Vec<u32>,
    /// Collectives of it, each counted once for all ranks.
    pub collectives: u64,
    /// `confirmed`: all were created with this id. `inferred`: matched by the order of their use.
    pub evidence: Evidence,
    /// Collectives of a step; absent where no period was found: then each collective is one.
    pub step_length: Option<u64>,
    /// Whole steps.
    pub steps: u64,
    /// The collectives of a step, in order.
    pub step: Vec<String>,
    /// Which times of its collectives are known.
    pub basis: Basis,
}

crate::table! {
    /// The findings, the gravest first.
    RANK_FINDINGS: RankFinding = "findings", "Findings", "a statement on some ranks";
    |row|
    words("ranks", "ranks", "the ranks, by number; by process id where they have none")
        => numbers(&row.ranks);
    words("hosts", "host", "their hosts") => match row.hosts.as_slice() {
        [] => None,
        [host] => Some(host.clone()),
        [first, rest @ ..] => Some(format!("{first} and {} more", rest.len())),
    };
    evidence("evidence", "evidence", "how certain it is") => row.evidence;
    sentence("what", "finding", "what they do or did") => &row.what;
}

crate::table! {
    /// The ranks.
    RANKS: RankRow = "ranks", "Ranks, the slowest first", "a rank that has a trace";
    |row|
    number("rank", "rank", "its number in the job; its process id where it is not known") => row.rank;
    words("host", "host", "the name of its host") => &row.host;
    count("collectives", "collectives", "collectives that it called") => row.collectives;
    time("own_ns", "own a step", "time outside of collectives, median over steps")
        => row.timed(row.own_ns);
    time("in_ns", "in collectives", "time in collectives, median over steps") => row.timed(row.in_ns);
    ratio("ratio", "of median", "its own time relative to the median rank's") => row.ratio;
    count("slowest_in", "slowest in", "steps in which its own time was the longest").optional()
        => row.slowest_in;
    time("waited_for_ns", "waited for", "how long the others waited in these steps").optional()
        => row.timed(row.waited_for_ns);
    words("end", "end", "how its trace ends, in the words of summary") => &row.end;
    path("trace", "trace", "its trace") => &row.trace;
}

crate::table! {
    /// The communicators, those of most ranks first.
    COMMUNICATORS: GroupRow = "groups", "Communicators", "a communicator over its ranks";
    |row|
    words("ranks", "ranks", "its ranks that have a trace, of all").right() => match row.members {
        Some(members) => format!("{} of {members}", row.ranks.len()),
        None => row.ranks.len().to_string(),
    };
    count("collectives", "collectives", "its collectives, each counted once for all ranks")
        => row.collectives;
    evidence("evidence", "evidence", "confirmed by its unique id, or inferred from the order of use")
        => row.evidence;
    words("basis", "times", "which times of its collectives are known") => row.basis.brief();
    sentence("step", "a step", "the collectives of a step, in order") => match row.step_length {
        None => "no period: each collective is a step".to_owned(),
        Some(_) if row.step.len() > LISTED => {
            format!("{}; … {} in all", row.step[..LISTED].join("; "), row.step.len())
        }
        Some(_) => row.step.join("; "),
    };
}

/// A step of a rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepRow {
    /// The rank's number.
    pub rank: u32,
    /// From 1.
    pub step: u64,
    /// Its times.
    #[serde(flatten)]
    pub time: StepTime,
}

crate::table! {
    /// The steps of every rank.
    RANK_STEPS: StepRow = "steps", "Steps", "a step of a rank";
    |row|
    number("rank", "rank", "the rank's number") => row.rank;
    number("step", "step", "its number, from 1") => row.step;
    time("own_ns", "own", "time outside of collectives") => row.time.own_ns;
    time("in_ns", "in collectives", "time in collectives") => row.time.in_ns;
}

/// The most numbers of ranks, or collectives of a step, in a cell.
const LISTED: usize = 8;

/// `5`, `3, 4 and 9 more`.
fn numbers(ranks: &[u32]) -> String {
    let shown: Vec<String> = ranks.iter().take(LISTED).map(u32::to_string).collect();
    match ranks.len().checked_sub(LISTED) {
        Some(more) if more > 0 => format!("{} and {} more", shown.join(", "), count(more as u64)),
        _ => shown.join(", "),
    }
}

impl RankFinding {
    /// `rank 5`, `ranks 3, 4 and 9 more`.
    pub fn words(ranks: &[u32]) -> String {
        format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, numbers(ranks))
    }
}

impl RankRow {
    /// The time, if it has steps.
    fn timed(&self, ns: u64) -> Option<u64> {
        (self.steps != 0).then_some(ns)
    }
}

impl Rank {
    /// Its number by its launcher, else in its largest communicator.
    pub(super) fn known_number(&self) -> Option<u32> {
        let largest =
            self.communicators.iter().filter_map(|of| of.created).max_by_key(|created| created.members);
        self.number.map(|(number, _)| number).or(largest.map(|created| created.member))
    }

    /// Returns its number, else its process id.
    pub(super) fn label(&self) -> u32 {
        self.known_number().unwrap_or(self.pid)
    }

    /// How much of the rank's work its process does: collectives, then what it launched and loaded.
    pub(super) fn weight(&self) -> (usize, usize) {
        (self.communicators.iter().map(|of| of.calls.len()).sum(), self.traits.len())
    }

    /// The source of its number.
    pub(super) fn number_from(&self) -> Option<String> {
        let by_communicator = || self.known_number().map(|_| "communicator".to_owned());
        self.number.map(|(_, name)| name.to_owned()).or_else(by_communicator)
    }
}

/// The values without repetition, in their order.
pub(super) fn listed(values: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for value in values {
        if list.last() != Some(&value) && !list.contains(&value) {
            list.push(value);
        }
    }
    list
}
