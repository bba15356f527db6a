//! Ranks of the jobs: each with the rank of its number in the other runs.

use super::{
    ComparedRun, PerRun,
    kernels::{difference, ratio},
};
use crate::{
    Evidence, JobRankRow,
    evidence::observations::complete,
    table::{Cell, Statement},
    traits::{Trait, sentence},
    units,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// A rank, by its number in the job.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRank {
    /// Its number.
    pub rank: u32,
    /// What it did in each run; absent where there is no trace of it.
    #[serde(rename = "sides")]
    pub runs: PerRun<RankCell>,
    /// What is different from the baseline, for each other run.
    pub versus: PerRun<RankChange>,
}

crate::table! {
    /// The ranks of the runs.
    COMPARED_RANKS: ComparedRank = "ranks", "Ranks", "a rank of a job, by its number in each run";
    |row|
    number("rank", "rank", "its number in the job").name() => row.rank;
    words[each run]("sides.RUN.host", "host", "the machine's name").optional()
        => row.runs.get(run).map(|cell| cell.host.clone());
    count[each run]("sides.RUN.launches", "launches", "kernel launches; absent: no trace of the rank")
        => row.runs.get(run).map(|cell| cell.launches);
    words[each_other run]("versus.RUN.launches", "change", "launches more than the baseline's, and their ratio")
        .right() => row.versus.of_run(run).and_then(RankChange::change);
    count[each run]("sides.RUN.gemms", "GEMMs", "GEMMs, each once").optional()
        => row.runs.get(run).map(|cell| cell.gemms);
    count[each run]("sides.RUN.fallback_launches", "fallback", "launches out of Tensile's fallback library")
        .optional() => row.runs.get(run).map(|cell| cell.fallback_launches);
    words[each run]("sides.RUN.end", "end", "how the trace of its first process ends")
        => row.runs.get(run).map(|cell| cell.end.clone());
    words("versus", "what differs", "what it does in one run and not in the other").on_page()
        => Cell::Statements(row.versus.iter().flatten().filter_map(RankChange::statement).collect());
}

/// A rank in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankCell {
    /// The machine's name.
    pub host: String,
    /// Kernel launches, failed ones among them.
    pub launches: u64,
    /// Different kernels.
    pub kernels: u64,
    /// Matrix products, each counted once.
    pub gemms: u64,
    /// Convolution calls.
    pub convolutions: u64,
    /// Launches out of Tensile's fallback library.
    pub fallback_launches: u64,
    /// How its trace ends.
    pub end: String,
}

/// A rank, held against that of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankChange {
    /// Launches more than the baseline's; absent where one of the two has no trace.
    pub launches: Option<i64>,
    /// Launches as a multiple of the baseline's; absent where that has none.
    pub launches_ratio: Option<f64>,
    /// What it launches and loads in one of the two runs alone; absent where that is nothing.
    pub what: Option<String>,
    /// How certain `what` is.
    pub evidence: Option<Evidence>,
    /// Why it is not confirmed.
    pub why: Option<String>,
}

impl RankChange {
    fn change(&self) -> Option<String> {
        self.launches.map(|launches| units::change(launches, self.launches_ratio))
    }

    fn statement(&self) -> Option<Statement> {
        Some((self.what.clone()?, Some((self.evidence?, self.why.clone()))))
    }
}

/// By number; none where no run, or only one, has ranks, or where a run has several jobs.
pub(super) fn compare(runs: &[ComparedRun]) -> Vec<ComparedRank> {
    let has_ranks = |run: &&ComparedRun| !run.summary.ranks.is_empty();
    let is_one_job = |run: &ComparedRun| run.summary.ranks.windows(2).all(|pair| pair[0].job == pair[1].job);
    if runs.iter().filter(has_ranks).count() < 2 || !runs.iter().all(is_one_job) {
        return Vec::new();
    }
    let mut rows: BTreeMap<u32, Vec<Option<&JobRankRow>>> = BTreeMap::new();
    for (run, of) in runs.iter().enumerate() {
        for rank in &of.summary.ranks {
            rows.entry(rank.rank).or_insert_with(|| vec![None; runs.len()])[run] = Some(rank);
        }
    }
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let row = |(rank, of): (u32, Vec<Option<&JobRankRow>>)| ComparedRank {
        rank,
        runs: PerRun::of(runs, |run| of[run].map(RankCell::of)),
        versus: PerRun::others(runs, |other| change([of[0], of[other]], [labels[0], labels[other]])),
    };
    rows.into_iter().map(row).collect()
}

impl RankCell {
    fn of(row: &JobRankRow) -> RankCell {
        RankCell {
            host: row.host.clone(),
            launches: row.launches,
            kernels: row.kernels,
            gemms: row.gemms,
            convolutions: row.convolutions,
            fallback_launches: row.fallback_launches,
            end: row.end.clone(),
        }
    }
}

fn change(both: [Option<&JobRankRow>; 2], labels: [&str; 2]) -> RankChange {
    let [Some(a), Some(b)] = both else {
        return RankChange { launches: None, launches_ratio: None, what: None, evidence: None, why: None };
    };
    let launches = [a.launches, b.launches];
    let alone = |one: &JobRankRow, other: &JobRankRow, label: &str| {
        let only: Vec<&Trait> = one.traits.difference(&other.traits).collect();
        (!only.is_empty()).then(|| format!("only in {label}: {}", sentence(&only)))
    };
    let parts: Vec<String> = [alone(a, b, labels[0]), alone(b, a, labels[1])].into_iter().flatten().collect();
    let limit = a.limits().or_else(|| b.limits());
    let (evidence, why) = complete(limit);
    let differs = !parts.is_empty();
    RankChange {
        launches: Some(difference(launches)),
        launches_ratio: ratio(launches),
        what: differs.then(|| parts.join("; ")),
        evidence: differs.then_some(evidence),
        why: why.filter(|_| differs),
    }
}
