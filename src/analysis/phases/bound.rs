//! Decides what bounds a phase, from the times of its commands on the GPU.

use super::gpu::PassGpu;
use crate::evidence::Evidence;
use crate::evidence::rules::{Answer, Basis, Class, Premise, Rule, RuleRow};
use crate::gpu::CLOCK_ERROR;
use serde::Serialize;
use std::collections::BTreeMap;

/// Time of a phase on the GPU, over its passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseGpu {
    /// Kernels of its launches that the HIP runtime reported.
    pub reported: u64,
    /// Kernels that its launches and graphs executed.
    pub executed: u64,
    /// Of each pass from the entry of its first launch to the end of its last command, ns:
    /// `busy_ns + not_launched_ns + held_ns`.
    pub elapsed_ns: u64,
    /// Time in which at least one of its commands ran.
    pub busy_ns: u64,
    /// Time in which none ran and the call that requests the next one had not returned.
    pub not_launched_ns: u64,
    /// Time in which none ran although the next one was launched: it waited on the GPU.
    pub held_ns: u64,
    /// Time of its kernels.
    pub kernels_ns: u64,
    /// Time of its copies and fills.
    pub transfers_ns: u64,
    /// `busy_ns` per token; absent where the tokens are not known.
    pub busy_per_token_ns: Option<f64>,
    /// `elapsed_ns` per token; absent where the tokens are not known.
    pub elapsed_per_token_ns: Option<f64>,
    /// From the entry of the first launch to the end of the last command; of prompts: the time to
    /// the first token, up to its sampling.
    pub span_ns: u64,
    /// Time of its kernels by family, most first.
    pub families: Vec<PhaseGpuFamily>,
    /// The largest uncertainty of a begin on the GPU against host times, ns; of `elapsed_ns`, each
    /// pass adds it once.
    pub clock_error_ns: u64,
    /// `confirmed` if every kernel that the phase executed was reported.
    pub evidence: Evidence,
    /// The premise that does not hold where it is not confirmed.
    pub why: Option<&'static str>,
    /// What bounds it; absent where that cannot be decided.
    pub bound: Option<Bound>,
    /// How certain `bound` is.
    pub bound_evidence: Evidence,
    /// The rule, or the premise that does not hold where there is no `bound`.
    pub bound_why: &'static str,
}

/// Time of a family of kernels on the GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseGpuFamily {
    /// The family; absent for kernels whose names match none.
    pub family: Option<&'static str>,
    /// Sum of the durations of its kernels.
    pub total_ns: u64,
}

/// What a phase waits for most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The GPU's own work.
    Gpu,
    /// The host, which launches too late.
    Launch,
    /// Something between two commands on the GPU: barriers, signals, other queues.
    Held,
    /// None of these.
    Mixed,
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Bound::Gpu => "GPU-bound",
            Bound::Launch => "launch-bound",
            Bound::Held => "held",
            Bound::Mixed => "mixed",
        })
    }
}

/// The facts that the rules test.
#[derive(Clone, Copy, Default)]
struct Facts {
    /// Reports were not requested all the time, or do not name their calls.
    partial: bool,
    lost: u64,
    unlisted: u64,
    reported: u64,
    executed: u64,
    /// The largest uncertainty of a time; `None`: the clock was not compared.
    error: Option<u64>,
    elapsed: u64,
    busy: u64,
    not_launched: u64,
    held: u64,
}

/// Returns true when `part` is at least this many hundredths of `all`.
fn is_share(part: u64, all: u64, hundredths: u64) -> Option<bool> {
    Some(all > 0 && u128::from(part) * 100 >= u128::from(all) * u128::from(hundredths))
}

const ASKED: Premise<Facts> =
    observed("the runtime was asked all the time, and its reports name their calls", |facts| {
        Some(!facts.partial)
    });
const KEPT: Premise<Facts> = observed("no event of it was lost", |facts| Some(facts.lost == 0));
const LISTED: Premise<Facts> =
    observed("the kernels of its graphs are known", |facts| Some(facts.unlisted == 0));
const ALL: Premise<Facts> = observed("as many kernels were reported as were executed", |facts| {
    Some(facts.reported == facts.executed && facts.executed > 0)
});
const CLOCK: Premise<Facts> = Premise {
    text: "the runtime converts the GPU's clock to the host's to within a hundredth of the time",
    basis: Basis::Known,
    holds: |facts| facts.error.map(|error| error.saturating_mul(100) <= facts.elapsed),
};

const fn observed(text: &'static str, holds: fn(&Facts) -> Option<bool>) -> Premise<Facts> {
    Premise { text, basis: Basis::Observed, holds }
}

/// Returns the premises of a bound: those that every bound needs, and its own.
const fn bounded_by(own: Premise<Facts>) -> [Premise<Facts>; 6] {
    [ASKED, KEPT, LISTED, ALL, CLOCK, own]
}

const WHOLE: Rule<Facts> = Rule {
    says: "the GPU times are of every kernel that the phase executed",
    class: Class::Confirmed,
    premises: &[ASKED, KEPT, LISTED, ALL],
};

const GPU: Rule<Facts> = Rule {
    says: "GPU-bound: its commands run for at least 80 % of the time from its first launch",
    class: Class::Inferred,
    premises: &bounded_by(observed("a command of it runs for at least 80 % of the time", |facts| {
        is_share(facts.busy, facts.elapsed, 80)
    })),
};

const LAUNCH: Rule<Facts> = Rule {
    says: "launch-bound: for at least half of the time no command runs, and the next is not launched",
    class: Class::Inferred,
    premises: &bounded_by(observed(
        "for at least half of the time none runs, and the call that asks for the next has not returned",
        |facts| is_share(facts.not_launched, facts.elapsed, 50),
    )),
};

const HELD: Rule<Facts> = Rule {
    says: "held: for at least half of the time no command runs, although the next was launched",
    class: Class::Inferred,
    premises: &bounded_by(observed(
        "for at least half of the time none runs, although the next was launched",
        |facts| is_share(facts.held, facts.elapsed, 50),
    )),
};

const MIXED: Rule<Facts> = Rule {
    says: "mixed: neither the GPU, nor the launches, nor waits on the GPU take most of the time",
    class: Class::Inferred,
    premises: &bounded_by(observed(
        "commands run for less than 80 % of the time, and no kind of pause takes half of it",
        |facts| {
            let most = [(facts.busy, 80), (facts.not_launched, 50), (facts.held, 50)];
            Some(most.iter().all(|(part, share)| is_share(*part, facts.elapsed, *share) == Some(false)))
        },
    )),
};

const BOUNDS: [(Bound, Rule<Facts>); 4] =
    [(Bound::Gpu, GPU), (Bound::Launch, LAUNCH), (Bound::Held, HELD), (Bound::Mixed, MIXED)];

/// All rules, in the order of their listing.
pub(crate) fn rules() -> Vec<RuleRow> {
    [&WHOLE, &GPU, &LAUNCH, &HELD, &MIXED].iter().map(|rule| rule.row("time on the GPU")).collect()
}

/// The GPU times of passes while they are added up.
#[derive(Clone, Default)]
pub(super) struct GpuSum {
    facts: Facts,
    passes: u64,
    begin: Option<u64>,
    end: u64,
    transfers: u64,
    families: BTreeMap<Option<&'static str>, u64>,
}

impl GpuSum {
    /// Adds a pass: its reports, whether they are not all, when it began, and its process's epoch,
    /// both in Unix ns.
    pub(super) fn add(&mut self, gpu: &PassGpu, is_partial: bool, begin: u64, epoch: u64) {
        let facts = &mut self.facts;
        facts.partial |= is_partial;
        facts.reported += gpu.kernels;
        facts.error = facts.error.max(Some(CLOCK_ERROR + gpu.error));
        facts.busy += gpu.busy;
        facts.not_launched += gpu.not_launched;
        facts.held += gpu.held;
        facts.elapsed += gpu.busy + gpu.not_launched + gpu.held;
        self.passes += 1;
        self.begin = Some(self.begin.map_or(begin, |first| first.min(begin)));
        self.end = self.end.max(gpu.end + epoch);
        self.transfers += gpu.transfers;
        gpu.families.iter().for_each(|(family, ns)| *self.families.entry(*family).or_default() += ns);
    }

    /// Returns the times of all that was added, if any was: of passes that executed so many
    /// kernels, lost so many events, and have so many launches whose kernels are unknown.
    pub(super) fn finish(
        &self,
        (executed, lost, unlisted): (u64, u64, u64),
        tokens: Option<u64>,
    ) -> Option<PhaseGpu> {
        let begin = self.begin?;
        // Each pass's times have an error of their own.
        let error = self.facts.error.map(|error| error.saturating_mul(self.passes));
        let facts = Facts { executed, lost, unlisted, error, ..self.facts };
        let (bound, bound_evidence, bound_why) = facts.bound();
        let why = facts.unmet(&WHOLE);
        let tokens = tokens.filter(|tokens| *tokens > 0).map(|tokens| tokens as f64);
        let mut families: Vec<PhaseGpuFamily> = self
            .families
            .iter()
            .map(|(family, ns)| PhaseGpuFamily { family: *family, total_ns: *ns })
            .collect();
        families.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
        Some(PhaseGpu {
            reported: facts.reported,
            executed,
            elapsed_ns: facts.elapsed,
            busy_ns: facts.busy,
            not_launched_ns: facts.not_launched,
            held_ns: facts.held,
            kernels_ns: families.iter().map(|row| row.total_ns).sum(),
            transfers_ns: self.transfers,
            busy_per_token_ns: tokens.map(|tokens| facts.busy as f64 / tokens),
            elapsed_per_token_ns: tokens.map(|tokens| facts.elapsed as f64 / tokens),
            span_ns: self.end.saturating_sub(begin),
            families,
            clock_error_ns: self.facts.error.unwrap_or(0),
            evidence: WHOLE.evidence(&facts).unwrap_or(Evidence::Limited),
            why,
            bound,
            bound_evidence,
            bound_why,
        })
    }
}

impl Facts {
    /// Returns the premise of a rule that does not hold, or is not known to hold.
    fn unmet(&self, rule: &Rule<Facts>) -> Option<&'static str> {
        match rule.answer(self) {
            Answer::Met => None,
            Answer::NotMet(premise) | Answer::Unknown(premise) => Some(premise),
        }
    }

    fn bound(&self) -> (Option<Bound>, Evidence, &'static str) {
        if let Some((bound, rule)) = BOUNDS.iter().find(|(_, rule)| rule.is_met(self)) {
            return (Some(*bound), Evidence::Inferred, rule.says);
        }
        match self.unmet(&WHOLE) {
            Some(premise) => (None, Evidence::Limited, premise),
            None => (None, Evidence::Unresolved, CLOCK.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::rules::check;

    /// A phase of which everything was reported.
    fn facts(busy: u64, not_launched: u64, held: u64) -> Facts {
        let elapsed = busy + not_launched + held;
        Facts {
            reported: 4,
            executed: 4,
            error: Some(1),
            elapsed,
            busy,
            not_launched,
            held,
            ..Facts::default()
        }
    }

    /// The same with each premise that all rules share not met.
    fn without(facts: Facts) -> [Facts; 4] {
        [
            Facts { partial: true, ..facts },
            Facts { lost: 1, ..facts },
            Facts { unlisted: 1, ..facts },
            Facts { reported: 3, ..facts },
        ]
    }

    #[test]
    fn times_are_confirmed_only_of_what_was_reported_whole() {
        let met = facts(1000, 0, 0);
        check(&WHOLE, &met, &without(met), &[]);
    }

    #[test]
    fn each_bound_needs_whole_reports_one_clock_and_its_share() {
        let cases =
            [(GPU, facts(800, 100, 100)), (LAUNCH, facts(400, 500, 100)), (HELD, facts(400, 100, 500))];
        for (rule, met) in cases.iter().chain(&[(MIXED, facts(700, 200, 100))]) {
            let off = Facts { error: Some(11), ..*met };
            let wrong = if rule.says == MIXED.says { facts(800, 100, 100) } else { facts(700, 200, 100) };
            let not_met = [&without(*met)[..], &[off, wrong]].concat();
            check(rule, met, &not_met, &[Facts { error: None, ..*met }]);
        }
    }

    #[test]
    fn nothing_bounds_a_phase_of_which_a_part_was_not_reported() {
        for part in without(facts(1000, 0, 0)) {
            let (bound, evidence, _) = part.bound();
            assert_eq!((bound, evidence), (None, Evidence::Limited));
        }
        let short = Facts { error: Some(1_000), ..facts(1000, 0, 0) };
        assert_eq!(short.bound(), (None, Evidence::Unresolved, CLOCK.text));
        assert_eq!(facts(1000, 0, 0).bound(), (Some(Bound::Gpu), Evidence::Inferred, GPU.says));
    }
}
