//! Rules: each derived statement with its evidence class and its premises.
//!
//! A rule is a row: its statement, the class, and premises, each a function of the facts. An
//! undecidable premise is treated as one that does not hold: the statement is not made.
//! *Confirmed*, *confirmed absent* and *contradicted* are classes of rules all of whose premises
//! were observed: a rule of such a class with another premise makes no statement, and a test finds
//! it in every table.

use super::{Evidence, Outcome, Seal};
use serde::Serialize;

/// Class of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Read from the trace.
    Confirmed,
    /// Nothing occurred, where everything that could have shown it was recorded.
    ConfirmedAbsent,
    /// The trace shows something else than was reported.
    Contradicted,
    /// Follows from premises that are not all observations of the trace.
    Inferred,
}

impl Class {
    /// True of the classes that leave no doubt.
    pub fn is_certain(self) -> bool {
        self != Class::Inferred
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Class::Confirmed => "confirmed",
            Class::ConfirmedAbsent => "confirmed absent",
            Class::Contradicted => "contradicted",
            Class::Inferred => "inferred",
        })
    }
}

/// Where a premise comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Intercepted calls, their arguments, the code objects that they launch from, the counters of
    /// losses.
    Observed,
    /// What is known of how programs of that kind work.
    Known,
}

/// Something that must hold.
pub(crate) struct Premise<F: 'static> {
    pub(crate) text: &'static str,
    pub(crate) basis: Basis,
    /// `None`: the facts do not tell.
    pub(crate) holds: fn(&F) -> Option<bool>,
}

/// A statement that follows where all premises hold.
pub(crate) struct Rule<F: 'static> {
    pub(crate) says: &'static str,
    pub(crate) class: Class,
    pub(crate) premises: &'static [Premise<F>],
}

/// Whether a rule's statement follows from some facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Met,
    /// The first premise that does not hold.
    NotMet(&'static str),
    /// All others hold; of this one it is not known.
    Unknown(&'static str),
}

/// What follows from premises, each with whether it holds.
pub(crate) fn decide(premises: impl Iterator<Item = (&'static str, Option<bool>)> + Clone) -> Answer {
    let first = |wanted| premises.clone().find(|(_, holds)| *holds == wanted).map(|(text, _)| text);
    match (first(Some(false)), first(None)) {
        (Some(text), _) => Answer::NotMet(text),
        (None, Some(text)) => Answer::Unknown(text),
        (None, None) => Answer::Met,
    }
}

impl<F> Rule<F> {
    pub(crate) fn answer(&self, facts: &F) -> Answer {
        decide(self.premises.iter().map(|premise| (premise.text, (premise.holds)(facts))))
    }

    pub(crate) fn is_met(&self, facts: &F) -> bool {
        self.answer(facts) == Answer::Met
    }

    /// The class of its statement where the premises hold.
    pub(crate) fn evidence(&self, facts: &F) -> Option<Evidence> {
        match self.class {
            Class::Inferred => self.is_met(facts).then_some(Evidence::Inferred),
            Class::Confirmed => self.seal(facts).map(Evidence::Confirmed),
            Class::ConfirmedAbsent => self.seal(facts).map(Evidence::ConfirmedAbsent),
            Class::Contradicted => None,
        }
    }

    /// The same of a statement about what a server says.
    pub(crate) fn outcome(&self, facts: &F) -> Option<Outcome> {
        match self.class {
            Class::Inferred => self.is_met(facts).then_some(Outcome::Inferred),
            Class::Confirmed => self.seal(facts).map(Outcome::Confirmed),
            Class::Contradicted => self.seal(facts).map(Outcome::Contradicted),
            Class::ConfirmedAbsent => None,
        }
    }

    fn seal(&self, facts: &F) -> Option<Seal> {
        let is_observed = self.premises.iter().all(|premise| premise.basis == Basis::Observed);
        (is_observed && self.is_met(facts)).then_some(Seal(()))
    }

    /// The rule, as listed.
    pub(crate) fn row(&self, about: &'static str) -> RuleRow {
        let premises = self.premises.iter().map(|premise| (premise.text, premise.basis)).collect();
        RuleRow { about, says: self.says, class: self.class, premises }
    }
}

/// A rule, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleRow {
    /// What it is about: `library`, `prompt`, …
    pub about: &'static str,
    /// The statement that follows where all premises hold.
    pub says: &'static str,
    /// The class of the statement.
    pub class: Class,
    /// Each premise with its basis, in the order in which they are tested.
    pub premises: Vec<(&'static str, Basis)>,
}

impl RuleRow {
    /// A statement that repeats what a record says.
    pub(super) fn observed(about: &'static str, says: &'static str, from: &'static str) -> RuleRow {
        RuleRow { about, says, class: Class::Confirmed, premises: vec![(from, Basis::Observed)] }
    }
}

/// Premises, one a row: the text, where it comes from, and the function.
macro_rules! premises {
    ($($text:literal $basis:ident $holds:expr;)*) => {
        &[$($crate::evidence::rules::Premise {
            text: $text,
            basis: $crate::evidence::rules::Basis::$basis,
            holds: $holds,
        }),*]
    };
}
pub(crate) use premises;

/// Shows each answer of `rule`: from facts that meet it, and for each premise from facts of which
/// that one does not hold, or is unknown.
#[cfg(test)]
#[track_caller]
pub(crate) fn check<F>(rule: &Rule<F>, met: &F, not_met: &[F], unknown: &[F]) {
    assert_eq!(rule.answer(met), Answer::Met, "{}", rule.says);
    let unmet: Vec<&str> = not_met
        .iter()
        .map(|facts| match rule.answer(facts) {
            Answer::NotMet(text) => text,
            other => panic!("{}: {other:?}", rule.says),
        })
        .collect();
    let unknown = unknown.iter().map(|facts| match rule.answer(facts) {
        Answer::Unknown(text) => text,
        other => panic!("{}: {other:?}", rule.says),
    });
    let shown: Vec<&str> = unmet.into_iter().chain(unknown).collect();
    for premise in rule.premises {
        assert!(shown.contains(&premise.text), "{}: nothing shows it without: {}", rule.says, premise.text);
    }
}
