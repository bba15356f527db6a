//! Bisection: finds the smallest set of differences between two environments that flips a decision,
//! in few runs.
//!
//! 1. The program runs in A and in B, twice each in random order. The decisions that are stable in
//!    both and differ between them have to be explained.
//! 2. For each such decision delta debugging (ddmin) narrows the differences: those of B, put on A,
//!    that are needed for B's choice. A run answers for all decisions at once, so decisions with a
//!    common cause cost no more runs than one.
//! 3. Each set found is confirmed by a separate experiment (A with the set and without it, new runs
//!    in random order); no difference of a set may be dispensable. One run with all other
//!    differences shows whether they matter.
//!
//! A random decision may pass the first two steps; the third does not confirm it.

use crate::evidence::rules::{Class, Rule, RuleRow, premises};
use crate::{
    Choice, Decisions, Difference, Evidence, Judged, ObservedDecision, Subject,
    experiment::{Experiment, ExperimentRun, LEAST_RUNS, Order, Verdict, judge},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Differences by their number: B's value of these, A's of all others.
pub type Differences = BTreeSet<usize>;

/// Runs the program.
pub trait Bench {
    /// The reason why a run could not be made.
    type Error;

    /// Runs the program in A with these differences of B applied.
    ///
    /// # Errors
    /// When no run can be made, which ends the bisection.
    fn run(&mut self, differences: &Differences) -> Result<Decisions, Self::Error>;
}

/// The result that `rocshim bisect` shows, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BisectPage {
    /// Format of this object: 1.
    pub format: u32,
    /// What differs between A and B; causes refer to them by number, from 0.
    pub differences: Vec<Difference>,
    /// The result.
    #[serde(flatten)]
    pub found: Bisection,
}

/// The result of a bisection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bisection {
    /// Number of runs made.
    pub runs: usize,
    /// Sets of differences with the decisions that follow them.
    pub causes: Vec<Cause>,
    /// Decisions that are not stable in A, in B, or in a repetition.
    pub unstable: Vec<Judged>,
    /// Decisions that some runs show only in part.
    pub limited: Vec<Judged>,
    /// Decisions that are the same in A and B.
    pub same: usize,
}

/// A set of differences and the decisions that follow it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// The numbers of the differences.
    pub differences: Differences,
    /// The decisions that follow the set.
    pub decisions: Vec<Judged>,
    /// What all other differences do without the set.
    pub others: Others,
    /// `confirmed` if a separate experiment showed it; `why` has the reason where it did not.
    pub evidence: Evidence,
    /// Why it is not confirmed.
    pub why: Option<String>,
}

/// What all other differences do without the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Others {
    /// There are none.
    None,
    /// They do not matter: the choices are A's.
    Stay,
    /// They flip a decision too: the set is not the only cause.
    FlipToo,
    /// The choices are neither A's nor B's, or were not recorded.
    Unresolved,
}

/// What a set of differences does to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Stays,
    Flips,
    Unresolved,
}

/// Bisects `differences` differences, with `each` runs for each side of an experiment.
///
/// # Errors
/// Those of `bench`.
pub fn bisect<B: Bench>(
    bench: &mut B,
    differences: usize,
    each: usize,
    seed: u64,
) -> Result<Bisection, B::Error> {
    Bisecting { bench, all: (0..differences).collect(), each, seed, runs: 0, known: BTreeMap::new() }.bisect()
}

struct Bisecting<'a, B> {
    bench: &'a mut B,
    all: Differences,
    each: usize,
    seed: u64,
    runs: usize,
    /// The decisions of one run with each set.
    known: BTreeMap<Differences, Decisions>,
}

impl<B: Bench> Bisecting<'_, B> {
    fn bisect(mut self) -> Result<Bisection, B::Error> {
        let all = self.all.clone();
        let mut ends = self.experiment(&all, LEAST_RUNS)?;
        let mut sets = self.minimal_sets(&ends)?;
        if sets.is_none() {
            // That many runs exceed what a cause of a few differences needs, so the decision may be
            // unstable.
            ends = self.experiment(&all, self.each)?;
            sets = self.minimal_sets_unbounded(&ends)?;
        }
        let mut causes = Vec::new();
        let mut unstable: Vec<Judged> =
            ends.that(Verdict::Unstable).chain(ends.that(Verdict::UnstableWith)).cloned().collect();
        for (set, subjects) in sets.unwrap_or_default() {
            let (cause, lost) = self.confirm(set, &subjects, &ends)?;
            causes.extend(cause);
            unstable.extend(lost);
        }
        Ok(Bisection {
            runs: self.runs,
            causes,
            unstable,
            limited: ends.that(Verdict::Limited).cloned().collect(),
            same: ends.that(Verdict::Stays).count(),
        })
    }

    fn run(&mut self, differences: &Differences) -> Result<Decisions, B::Error> {
        self.runs += 1;
        self.bench.run(differences)
    }

    /// Runs A with these differences and without them, in random order, until every decision is
    /// judged.
    fn experiment(&mut self, differences: &Differences, each: usize) -> Result<Experiment, B::Error> {
        self.seed = self.seed.wrapping_add(1);
        let order = Order::draw(each, self.seed);
        let mut runs: Vec<ExperimentRun> = Vec::new();
        for changed in &order.changed {
            let set = if *changed { differences.clone() } else { Differences::new() };
            let decisions = self.run(&set)?;
            self.known.entry(set).or_insert_with(|| decisions.clone());
            runs.push(ExperimentRun { changed: *changed, decisions });
            if runs.len() >= 2 * LEAST_RUNS && !judge(&runs, &order).is_open() {
                break;
            }
        }
        Ok(judge(&runs, &order))
    }

    fn minimal_sets(&mut self, ends: &Experiment) -> Result<Option<Sets>, B::Error> {
        // ddmin finds a cause of one difference in about 2 log2 n runs.
        let budget = 16 + 6 * self.all.len().max(1).ilog2() as usize;
        self.sets(ends, self.runs + budget)
    }

    fn minimal_sets_unbounded(&mut self, ends: &Experiment) -> Result<Option<Sets>, B::Error> {
        self.sets(ends, usize::MAX)
    }

    /// Returns the minimal set for each decision that differs between A and B; `None` if that takes
    /// more than `most` runs.
    fn sets(&mut self, ends: &Experiment, most: usize) -> Result<Option<Sets>, B::Error> {
        let mut sets = Sets::new();
        for target in ends.that(Verdict::Follows) {
            let Some(set) = self.minimal(target, most)? else { return Ok(None) };
            sets.entry(set).or_default().push(target.subject.clone());
        }
        Ok(Some(sets))
    }

    /// Delta debugging (ddmin): returns a set of differences for B's choice from which none can be
    /// left out.
    fn minimal(&mut self, target: &Judged, most: usize) -> Result<Option<Differences>, B::Error> {
        let mut set: Vec<usize> = self.all.iter().copied().collect();
        let mut parts = 2;
        while set.len() >= 2 {
            let chunks: Vec<Differences> =
                set.chunks(set.len().div_ceil(parts)).map(|chunk| chunk.iter().copied().collect()).collect();
            let rest = |chunk: &Differences| set.iter().copied().filter(|at| !chunk.contains(at)).collect();
            let rests: Vec<Differences> =
                if chunks.len() > 2 { chunks.iter().map(rest).collect() } else { Vec::new() };
            let mut found = None;
            for (at, candidate) in chunks.iter().chain(&rests).enumerate() {
                if self.runs > most {
                    return Ok(None);
                }
                if self.effect(candidate, target)? == Effect::Flips {
                    found = Some((at < chunks.len(), candidate));
                    break;
                }
            }
            match found {
                Some((is_chunk, candidate)) => {
                    parts = if is_chunk { 2 } else { (parts - 1).max(2) };
                    set = candidate.iter().copied().collect();
                }
                None if parts >= set.len() => break,
                None => parts = (2 * parts).min(set.len()),
            }
        }
        Ok(Some(set.into_iter().collect()))
    }

    /// Returns the effect of a set, by the first run with it.
    fn effect(&mut self, set: &Differences, target: &Judged) -> Result<Effect, B::Error> {
        if !self.known.contains_key(set) {
            let decisions = self.run(set)?;
            self.known.insert(set.clone(), decisions);
        }
        Ok(effect(&self.known[set], target))
    }

    /// Repeats the experiment with the set found; returns the cause, and the decisions that did not
    /// follow it this time.
    fn confirm(
        &mut self,
        set: Differences,
        subjects: &[Subject],
        ends: &Experiment,
    ) -> Result<(Option<Cause>, Vec<Judged>), B::Error> {
        let again = self.experiment(&set, self.each)?;
        let of = |experiment: &Experiment, subject: &Subject| {
            experiment.decisions.iter().find(|row| row.subject == *subject).cloned()
        };
        let (mut decisions, mut lost) = (Vec::new(), Vec::new());
        for subject in subjects {
            let (Some(end), Some(row)) = (of(ends, subject), of(&again, subject)) else { continue };
            let is_same =
                choice(&end.without) == choice(&row.without) && choice(&end.with) == choice(&row.with);
            match row.verdict == Verdict::Follows && is_same {
                true => decisions.push(row),
                false => lost.push(row),
            }
        }
        if decisions.is_empty() {
            return Ok((None, lost));
        }
        let mut why = decisions.iter().find(|row| !row.evidence.is_confirmed()).map(|row| row.why.clone());
        if set.len() > 1 {
            for one in &set {
                let less: Differences = set.iter().copied().filter(|other| other != one).collect();
                let shown = self.run(&less)?;
                if decisions.iter().any(|row| effect(&shown, row) != Effect::Stays) {
                    why.get_or_insert_with(|| {
                        "with one of them less the decision is not always A's".to_string()
                    });
                }
            }
        }
        let rest: Differences = self.all.difference(&set).copied().collect();
        let others = match rest.is_empty() {
            true => Others::None,
            false => {
                let shown = self.run(&rest)?;
                let effects: Vec<Effect> = decisions.iter().map(|row| effect(&shown, row)).collect();
                match effects {
                    effects if effects.iter().all(|effect| *effect == Effect::Stays) => Others::Stay,
                    effects if effects.contains(&Effect::Flips) => Others::FlipToo,
                    _ => Others::Unresolved,
                }
            }
        };
        let evidence = CAUSE.evidence(&why).unwrap_or(Evidence::Inferred);
        Ok((Some(Cause { differences: set, decisions, others, evidence, why }), lost))
    }
}

const CAUSE: Rule<Option<String>> = Rule {
    says: "these differences decide",
    class: Class::Confirmed,
    premises: premises! {
        "every decision is confirmed to follow them, and with one of them less it is the first run's" Observed
            |doubt: &Option<String>| Some(doubt.is_none());
    },
};

/// Returns the module's rules, for `rocshim help evidence`.
pub(crate) fn rules() -> Vec<RuleRow> {
    vec![CAUSE.row("try, bisect")]
}

/// Minimal sets, each with the subjects that it explains.
type Sets = BTreeMap<Differences, Vec<Subject>>;

fn effect(shown: &Decisions, target: &Judged) -> Effect {
    let shown = match shown.observed(&target.subject) {
        ObservedDecision::Decided(choice) => Some(choice),
        ObservedDecision::NotAsked => None,
        ObservedDecision::Limited(_) => return Effect::Unresolved,
    };
    match shown {
        shown if shown == choice(&target.without) => Effect::Stays,
        shown if shown == choice(&target.with) => Effect::Flips,
        _ => Effect::Unresolved,
    }
}

/// Returns the only choice of a side; `None` if it has several.
fn choice(side: &[crate::Chosen]) -> Option<&Choice> {
    side.first().and_then(|chosen| chosen.choice.as_ref())
}

#[cfg(test)]
mod tests;
