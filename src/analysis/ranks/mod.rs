//! Finds which ranks of a job wait for which, by aligning the ranks' traces at their collectives.
//!
//! Layers, lowest first: `rank` (what is gathered of a rank), `gather` (records to ranks), `groups`
//! (communicators over ranks, their collectives aligned by order), `steps` (the period of these,
//! and times), `collectives` (of one process, for tables), `stragglers` (the test), `clocks`
//! (hosts' clocks), `rows` (the result), `differences` and `ends` (findings). Memory grows with
//! collectives, by 64 bytes each.

mod clocks;
mod collectives;
mod differences;
mod ends;
mod gather;
mod groups;
mod rank;
mod rows;
mod steps;
mod stragglers;

pub use clocks::{CLOCKS, ClockRow, RULE as CLOCK_RULE};
pub use collectives::CollectiveRow;
pub use gather::RanksBuilder;
pub use rows::{
    COMMUNICATORS, GroupRow, RANK_FINDINGS, RANK_STEPS, RANKS, RankFinding, RankFindingKind, RankRow, Ranks,
    StepRow,
};
pub use steps::{AROUND, AroundCollective, Basis as RankTimes, StepTime};
pub use stragglers::RULE as STRAGGLER_RULE;

use crate::Evidence;
use crate::units::time;
use groups::{Group, Member};
use rank::Rank;
use std::ops::AddAssign;
use steps::{Basis, Period};
use stragglers::Tested;

/// A group with its steps and the times of its aligned ranks.
struct Timed {
    group: Group,
    period: Option<Period>,
    /// The period, or each collective as a step.
    steps: Period,
    basis: Basis,
    /// By aligned member and step.
    times: Vec<Vec<Option<StepTime>>>,
    tested: Vec<Tested>,
}

impl Timed {
    fn new(group: Group, ranks: &[Rank]) -> Timed {
        let period = steps::period(&group.sequence);
        let all = group.sequence.len();
        let steps = period.unwrap_or(Period { skipped: 0, length: 1, steps: all });
        // The last step of a job that died has no end.
        let died = group.aligned().any(|member| !ranks[member.rank].in_flight.is_empty());
        let steps = Period { steps: steps.steps.saturating_sub(usize::from(died)), ..steps };
        let basis = Basis::of(&group, ranks, steps.skipped + steps.steps * steps.length);
        let times = |member: &Member| steps::times(member, ranks, basis, steps);
        let times: Vec<_> = group.aligned().map(times).collect();
        let tested = stragglers::tested(&times);
        Timed { group, period, steps, basis, times, tested }
    }
}

impl RanksBuilder {
    /// Returns the findings on all ranks, after the last file. Without `every_step`, `steps` is
    /// empty.
    pub fn finish(mut self, every_step: bool) -> Ranks {
        let mut notes = Vec::new();
        self.ranks.sort_by(|a, b| (a.label(), a.last_ns, &a.trace).cmp(&(b.label(), b.last_ns, &b.trace)));
        self.drop_repeated(&mut notes);
        let timed: Vec<Timed> =
            groups::groups(&self).into_iter().map(|group| Timed::new(group, &self.ranks)).collect();
        let of_groups: Vec<_> = timed.iter().map(|timed| (&timed.group, timed.period)).collect();
        let ends = ends::ends(&self, &of_groups);
        let expected = self.expected();
        let mut findings = ends.findings;
        findings.extend(ends::missing(&self.ranks, expected));
        findings.extend(timed.iter().flat_map(|timed| ends::mismatches(&self, &timed.group)));
        findings.extend(ends::left_out(&self.ranks));
        findings.extend(self.stragglers(&timed));
        findings.extend(differences::differences(&self.ranks, &ends.short, &mut notes));
        findings.sort_by_key(|finding| finding.kind);
        self.note(&timed, &mut notes);
        let bases: Vec<_> = timed.iter().map(|timed| (&timed.group, timed.basis)).collect();
        Ranks {
            format: 1,
            expected,
            findings,
            ranks: self.rows(timed.first()),
            clocks: clocks::clocks(&self.ranks, &bases, &self.signatures),
            around: timed.iter().enumerate().flat_map(|(at, timed)| self.around(at, timed)).collect(),
            steps: if every_step {
                timed.first().map_or(Vec::new(), |timed| self.steps(timed))
            } else {
                Vec::new()
            },
            groups: timed.iter().map(|timed| self.group(timed)).collect(),
            notes,
        }
    }

    /// Keeps one trace of each rank: of several at the same time, the others are of workers that
    /// inherited its number; of several after one another, the last, because the job was started
    /// again.
    fn drop_repeated(&mut self, notes: &mut Vec<String>) {
        let (mut workers, mut earlier) = (0, 0);
        let mut kept: Vec<Rank> = Vec::new();
        for rank in std::mem::take(&mut self.ranks) {
            match kept.last_mut() {
                Some(last) if last.known_number().is_some() && last.label() == rank.label() => {
                    let is_parallel = rank.first_ns < last.last_ns;
                    (if is_parallel { &mut workers } else { &mut earlier }).add_assign(1);
                    if !is_parallel || rank.weight() >= last.weight() {
                        *last = rank;
                    }
                }
                _ => kept.push(rank),
            }
        }
        self.ranks = kept;
        if earlier > 0 {
            notes.push(format!(
                "{earlier} traces are of a rank that has a later one, and were left out: name the traces of one job"
            ));
        }
        if workers > 0 {
            notes.push(format!(
                "{} a rank's number while another process of it calls more collectives or kernels: workers, left out",
                if workers == 1 { "1 process has".to_owned() } else { format!("{workers} processes have") }
            ));
        }
    }

    fn expected(&self) -> Option<u32> {
        let of = |rank: &Rank| {
            let created = rank.communicators.iter().filter_map(|of| of.created);
            rank.world.into_iter().chain(created.map(|created| created.members)).max()
        };
        self.ranks.iter().filter_map(of).max()
    }

    fn note(&self, timed: &[Timed], notes: &mut Vec<String>) {
        let captured: u64 = self.ranks.iter().map(|rank| rank.captured).sum();
        if captured > 0 {
            notes.push(format!(
                "limited: {captured} collectives were captured into graphs; when graphs execute them is not known"
            ));
        }
        match timed.first() {
            None if !self.ranks.is_empty() => {
                notes.push("no rank called a collective of RCCL: nothing aligns their steps".into());
            }
            Some(first) if first.basis == Basis::Entry => notes.push(
                "limited: a rank whose GPU is slow cannot be found from host times of calls alone; record with --gpu-time"
                    .into(),
            ),
            _ => {}
        }
    }

    /// Returns the ranks that a test finds slow, each for the group with its smallest p.
    fn stragglers(&self, timed: &[Timed]) -> Vec<RankFinding> {
        let mut found: Vec<(usize, Tested, Basis)> = Vec::new();
        for timed in timed {
            for (member, tested) in timed.group.aligned().zip(&timed.tested).filter(|(_, t)| t.is_straggler())
            {
                match found.iter_mut().find(|(rank, ..)| *rank == member.rank) {
                    Some(known) if known.1.p > tested.p => *known = (member.rank, *tested, timed.basis),
                    Some(_) => {}
                    None => found.push((member.rank, *tested, timed.basis)),
                }
            }
        }
        found.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));
        let finding = |(rank, tested, basis): (usize, Tested, Basis)| RankFinding {
            kind: RankFindingKind::Straggler,
            ranks: vec![self.ranks[rank].label()],
            hosts: vec![self.ranks[rank].host.clone()],
            what: format!(
                "takes {:.2} times the median rank's time outside of collectives; the median rank waits {} a step for it",
                tested.ratio,
                time(tested.cost_ns)
            ),
            evidence: Evidence::Inferred,
            why: Some(format!("p {:.1e} over {} steps, from {}", tested.p, tested.steps, basis.words())),
        };
        found.into_iter().map(finding).collect()
    }

    fn rows(&self, largest: Option<&Timed>) -> Vec<RankRow> {
        let row = |(at, rank): (usize, &Rank)| {
            let place = largest.and_then(|timed| timed.group.aligned().position(|member| member.rank == at));
            let timed = largest.zip(place);
            let times: Vec<StepTime> = timed
                .map_or(Vec::new(), |(timed, place)| timed.times[place].iter().copied().flatten().collect());
            let tested = timed.map(|(timed, place)| timed.tested[place]).filter(|tested| tested.steps > 0);
            let (slowest_in, waited_for_ns) =
                timed.map_or((0, 0), |(timed, place)| waits(&timed.times, place));
            RankRow {
                rank: rank.label(),
                number_from: rank.number_from(),
                host: rank.host.clone(),
                pid: rank.pid,
                trace: rank.trace.clone(),
                end: rank.end.clone(),
                collectives: rank.communicators.iter().map(|of| of.calls.len() as u64).sum(),
                captured: rank.captured,
                steps: times.len() as u64,
                own_ns: steps::median(times.iter().map(|time| time.own_ns).collect()),
                in_ns: steps::median(times.iter().map(|time| time.in_ns).collect()),
                ratio: tested.map(|tested| tested.ratio),
                p: tested.map(|tested| tested.p),
                slowest_in,
                waited_for_ns,
            }
        };
        self.ranks.iter().enumerate().map(row).collect()
    }

    fn around(&self, group: usize, timed: &Timed) -> Vec<AroundCollective> {
        let row = |member: &Member| {
            let rank = self.ranks[member.rank].label();
            let times = steps::around(member, &self.ranks, timed.basis, timed.steps).into_iter().enumerate();
            times
                .map(|(place, [before_ns, in_ns, after_ns])| {
                    let collective = timed.group.sequence.get(timed.steps.skipped + place);
                    let collective =
                        collective.map_or(String::new(), |of| self.signatures.get(*of).to_string());
                    AroundCollective { group, rank, place, collective, before_ns, in_ns, after_ns }
                })
                .collect::<Vec<_>>()
        };
        match timed.period {
            Some(_) => timed.group.aligned().flat_map(row).collect(),
            None => Vec::new(),
        }
    }

    fn steps(&self, timed: &Timed) -> Vec<StepRow> {
        let of_member = |(member, times): (&Member, &Vec<Option<StepTime>>)| {
            let rank = self.ranks[member.rank].label();
            let steps = (1..).zip(times.clone());
            steps
                .filter_map(move |(step, time)| Some(StepRow { rank, step, time: time? }))
                .collect::<Vec<_>>()
        };
        timed.group.aligned().zip(&timed.times).flat_map(of_member).collect()
    }

    fn group(&self, timed: &Timed) -> GroupRow {
        let Timed { group, period, steps, basis, .. } = timed;
        let step = group.sequence.iter().skip(steps.skipped).take(steps.length);
        GroupRow {
            id: match group.key {
                groups::Key::Id(id) => Some(id.to_string()),
                groups::Key::Order(_) => None,
            },
            members: group.members,
            ranks: group.ranks.iter().map(|member| self.ranks[member.rank].label()).collect(),
            collectives: group.sequence.len() as u64,
            evidence: group.evidence(),
            step_length: period.map(|period| period.length as u64),
            steps: steps.steps as u64,
            step: step.map(|signature| self.signatures.get(*signature).to_string()).collect(),
            basis: *basis,
        }
    }
}

/// Returns the number of steps in which a rank's own time was the longest, and how long the others
/// waited in them.
fn waits(times: &[Vec<Option<StepTime>>], place: usize) -> (u64, u64) {
    let (mut slowest_in, mut waited) = (0, 0);
    for (step, time) in times[place].iter().enumerate() {
        let Some(time) = time else { continue };
        let others = || times.iter().filter_map(|of| of.get(step).copied().flatten());
        if others().all(|other| other.own_ns <= time.own_ns) && others().count() > 1 {
            slowest_in += 1;
            waited += others().map(|other| other.in_ns.saturating_sub(time.in_ns)).sum::<u64>();
        }
    }
    (slowest_in, waited)
}
