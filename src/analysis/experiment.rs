//! Experiments: runs a program with a change and without it, in random order, and decides which of
//! its decisions follow the change.
//!
//! Two runs cannot show that a decision follows a change: one that depends on chance, on time or on
//! the number of earlier runs would often seem to. So the order of the runs is drawn at random. If
//! a change has no effect on a decision, its choices form a sequence that is independent of the
//! order, and the probability that they separate into one choice with the change and another
//! without is at most 2 in the number of possible orders. A cause is *confirmed* if that is at most
//! [`CONFIRMED_CHANCE`], after multiplication with the number of distinct sequences seen; this
//! holds whatever else the program decides by.

mod order;
mod times;

pub use order::Order;
pub use times::{Measure, TIMES, TimeRow, times};

use crate::{
    Choice, Decisions, Evidence, ObservedDecision, Subject,
    evidence::rules::{Class, Rule, RuleRow, premises},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A cause is confirmed if chance alone would show the same at most this often.
pub(crate) const CONFIRMED_CHANCE: f64 = 0.001;
/// The fewest runs with the change, and without it.
pub const LEAST_RUNS: usize = 2;
/// This many runs of each kind confirm a cause even if two other decisions vary by themselves.
pub const USUAL_RUNS: usize = 8;

/// One run.
#[derive(Clone, Debug)]
pub struct ExperimentRun {
    /// With the change.
    pub changed: bool,
    /// The decisions that its trace shows.
    pub decisions: Decisions,
}

/// The result of an experiment, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// Runs without the change.
    pub without: usize,
    /// Runs with it.
    pub with: usize,
    /// The probability that a decision which the change does not affect seems to follow it.
    pub chance: f64,
    /// Number of distinct sequences of choices; `chance` includes it as a factor.
    pub sequences: usize,
    /// Every decision: those that follow the change first, those that never vary last.
    pub decisions: Vec<Judged>,
}

/// The result that `rocshim try` shows, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Format of this object: 1.
    pub format: u32,
    /// What was changed, in words.
    pub change: String,
    /// The verdict on each decision.
    #[serde(flatten)]
    pub experiment: Experiment,
    /// Times with and without the change.
    pub times: Vec<TimeRow>,
    /// The runs in the order in which they were made.
    pub runs: Vec<TrialRun>,
}

/// A run as it ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialRun {
    /// True for a run with the change.
    pub changed: bool,
    /// `exit 0`, `signal 11`, `ended after 60 s`.
    pub ending: String,
}

/// A decision over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The subject of the decision.
    #[serde(flatten)]
    pub subject: Subject,
    /// Whether the choice follows the change.
    pub verdict: Verdict,
    /// How certain the verdict is.
    pub evidence: Evidence,
    /// The rule, or what is missing.
    pub why: String,
    /// The choices without the change, most frequent first.
    pub without: Vec<Chosen>,
    /// The choices with it.
    pub with: Vec<Chosen>,
}

crate::table! {
    /// Decisions over all runs.
    JUDGED: Judged = "decisions", "Decisions", "a decision over all runs";
    |row|
    evidence("evidence", "evidence", "how certain the verdict is") => row.evidence;
    words("kind", "what", "what was decided about") => row.subject.kind.name();
    words("what", "decision", "what was decided") => &row.subject.what;
}

/// A choice, and the runs that made it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chosen {
    /// The choice; absent if the subject was not requested.
    pub choice: Option<Choice>,
    /// Number of runs that made it.
    pub runs: usize,
}

/// How a decision behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One choice in all runs without the change, another one in all runs with it.
    Follows,
    /// It varies with the change, and not without it.
    UnstableWith,
    /// It varies without the change.
    Unstable,
    /// Some runs show it only in part.
    Limited,
    /// The same in all runs.
    Stays,
}

#[derive(Clone, Copy)]
struct Facts {
    runs: [usize; 2],
    is_whole: bool,
    /// One choice without the change; one with it.
    is_one: [bool; 2],
    /// The choices of both.
    differ: bool,
    chance: f64,
}

const CONFIRMED_CAUSE: Rule<Facts> = Rule {
    says: "the decision follows the change",
    class: Class::Confirmed,
    premises: premises! {
        "at least two runs with the change and two without" Observed |f| Some(f.runs.iter().all(|runs| *runs >= LEAST_RUNS));
        "nothing was lost that could show it otherwise" Observed |f| Some(f.is_whole);
        "it is the same in all runs without the change" Observed |f| Some(f.is_one[0]);
        "it is the same in all runs with the change" Observed |f| Some(f.is_one[1]);
        "it is another one with the change than without" Observed |f| Some(f.differ);
        "the runs came in random order, and by chance this would be so in at most 1 of 1000 orders" Observed |f| Some(f.chance <= CONFIRMED_CHANCE);
    },
};
const STAYS: Rule<Facts> = Rule {
    says: "the decision was the same in all runs",
    class: Class::Confirmed,
    premises: premises! {
        "nothing was lost that could show it otherwise" Observed |f| Some(f.is_whole);
        "it is the same in all runs with the change and without" Observed |f| Some(f.is_one[0] && f.is_one[1] && !f.differ);
    },
};

/// The rules of this module.
pub(crate) fn rules() -> Vec<RuleRow> {
    let decisions = [&CONFIRMED_CAUSE, &STAYS].map(|rule| rule.row("try, bisect"));
    decisions.into_iter().chain(times::rules()).collect()
}

/// What a run shows about a subject: its choice, or why that may be incomplete.
type Value<'a> = Result<Option<&'a Choice>, &'a str>;

/// Judges every decision that some run shows. The runs come in the order in which they were made,
/// which is the beginning of `order`.
pub fn judge(runs: &[ExperimentRun], order: &Order) -> Experiment {
    let subjects: BTreeSet<&Subject> = runs.iter().flat_map(|run| run.decisions.by_subject.keys()).collect();
    let rows: Vec<(&Subject, Vec<Value<'_>>)> =
        subjects.into_iter().map(|subject| (subject, values(runs, subject))).collect();
    let sequences: BTreeSet<Vec<usize>> = rows
        .iter()
        .map(|(_, values)| sequence(values))
        .filter(|sequence| sequence.iter().any(|at| *at > 0))
        .collect();
    let chance = (order.chance(runs.len()) * sequences.len().max(1) as f64).min(1.0);
    let count = |changed: bool| runs.iter().filter(|run| run.changed == changed).count();
    let counts = [count(false), count(true)];
    let mut decisions: Vec<Judged> =
        rows.into_iter().map(|(subject, values)| judge_one(subject, runs, &values, counts, chance)).collect();
    decisions.sort_by(|a, b| (a.verdict, &a.subject).cmp(&(b.verdict, &b.subject)));
    Experiment {
        without: counts[0],
        with: counts[1],
        chance: order.chance(runs.len()),
        sequences: sequences.len(),
        decisions,
    }
}

impl Experiment {
    /// Returns the decisions with this verdict.
    pub fn that(&self, verdict: Verdict) -> impl Iterator<Item = &Judged> {
        self.decisions.iter().filter(move |row| row.verdict == verdict)
    }

    /// Returns true if a decision has followed the change in all runs so far, so that more runs
    /// would decide.
    pub fn is_open(&self) -> bool {
        self.that(Verdict::Follows).any(|row| !row.evidence.is_confirmed())
    }

    /// Returns true if a decision is confirmed to follow the change.
    pub fn has_effect(&self) -> bool {
        self.that(Verdict::Follows).any(|row| row.evidence.is_confirmed())
    }
}

fn values<'a>(runs: &'a [ExperimentRun], subject: &Subject) -> Vec<Value<'a>> {
    let value = |run: &'a ExperimentRun| match run.decisions.observed(subject) {
        ObservedDecision::Decided(choice) => Ok(Some(choice)),
        ObservedDecision::NotAsked => Ok(None),
        ObservedDecision::Limited(why) => Err(why),
    };
    runs.iter().map(value).collect()
}

/// Returns the sequence of values, each as its number in order of first occurrence.
fn sequence(values: &[Value<'_>]) -> Vec<usize> {
    let mut known: Vec<&Value<'_>> = Vec::new();
    let mut number = |value| {
        known.iter().position(|other| *other == value).unwrap_or_else(|| {
            known.push(value);
            known.len() - 1
        })
    };
    values.iter().map(&mut number).collect()
}

fn judge_one(
    subject: &Subject,
    runs: &[ExperimentRun],
    values: &[Value<'_>],
    counts: [usize; 2],
    chance: f64,
) -> Judged {
    let side = |changed: bool| chosen(runs, values, changed);
    let (without, with) = (side(false), side(true));
    let limit = values.iter().find_map(|value| value.err());
    let facts = Facts {
        runs: counts,
        is_whole: limit.is_none(),
        is_one: [&without, &with].map(|side| side.len() == 1),
        differ: without.first().map(|one| &one.choice) != with.first().map(|one| &one.choice),
        chance,
    };
    let stays = STAYS.evidence(&facts);
    let (verdict, evidence, why) = match (limit, stays, facts.is_one) {
        (Some(why), ..) => (Verdict::Limited, Evidence::Limited, why.to_string()),
        (None, Some(evidence), _) => {
            (Verdict::Stays, evidence, format!("the same in all {} runs", runs.len()))
        }
        (None, None, [false, _]) => {
            (Verdict::Unstable, Evidence::Unresolved, "it varies without the change".into())
        }
        (None, None, [_, false]) => (
            Verdict::UnstableWith,
            Evidence::Unresolved,
            "it varies with the change, and not without it".into(),
        ),
        (None, None, _) => {
            let (evidence, why) = follows(&facts);
            (Verdict::Follows, evidence, why)
        }
    };
    Judged { subject: subject.clone(), verdict, evidence, why, without, with }
}

fn follows(facts: &Facts) -> (Evidence, String) {
    let [without, with] = facts.runs;
    let all = format!("in {with} of {with} runs with the change and in none of {without} without");
    let odds = |chance: f64| match chance {
        chance if chance >= 1.0 => "chance could show the same".to_string(),
        chance => {
            format!("chance would show the same in 1 of {:.0} orders of the runs", (1.0 / chance).floor())
        }
    };
    match CONFIRMED_CAUSE.evidence(facts) {
        Some(evidence) => (evidence, format!("{all}; {}", odds(facts.chance))),
        None => (Evidence::Inferred, format!("{all}; {}: more runs would decide", odds(facts.chance))),
    }
}

/// Returns the choices of one side, most frequent first, without incomplete runs.
fn chosen(runs: &[ExperimentRun], values: &[Value<'_>], changed: bool) -> Vec<Chosen> {
    let mut counts: BTreeMap<Option<&Choice>, usize> = BTreeMap::new();
    for (run, value) in runs.iter().zip(values) {
        if let (Ok(choice), true) = (value, run.changed == changed) {
            *counts.entry(*choice).or_default() += 1;
        }
    }
    let mut chosen: Vec<Chosen> =
        counts.into_iter().map(|(choice, runs)| Chosen { choice: choice.cloned(), runs }).collect();
    chosen.sort_by_key(|chosen| std::cmp::Reverse(chosen.runs));
    chosen
}

#[cfg(test)]
mod tests;
