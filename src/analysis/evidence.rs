//! The evidence class of a derived statement.
//!
//! *Confirmed*, *confirmed absent* and *contradicted* hold a [`Seal`], which only the rules and the
//! observations of this module make: there is no other way to print one of them.

pub(crate) mod observations;
pub(crate) mod rules;

use serde::{Serialize, Serializer};

/// Proof that a rule was met all of whose premises were observed, or that something was read from
/// a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal(());

/// How sure a statement is; the users' own classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// Read directly from an intercepted call, its arguments, or the code object that it launched.
    Confirmed(Seal),
    /// It follows from confirmed facts by a stated rule.
    Inferred,
    /// It did not happen, and it would have been seen.
    ConfirmedAbsent(Seal),
    /// The observer saw only part.
    Limited,
    /// It cannot be decided from these traces.
    #[default]
    Unresolved,
}

impl Evidence {
    /// True of *confirmed*.
    pub fn is_confirmed(self) -> bool {
        matches!(self, Evidence::Confirmed(_))
    }

    /// True of *confirmed absent*.
    pub fn is_confirmed_absent(self) -> bool {
        matches!(self, Evidence::ConfirmedAbsent(_))
    }

    /// The class of what rests on all of these; *unresolved* for none.
    pub(crate) fn least_sure(all: impl Iterator<Item = Evidence>) -> Evidence {
        let rank = |evidence: &Evidence| match evidence {
            Evidence::Confirmed(_) | Evidence::ConfirmedAbsent(_) => 0,
            Evidence::Inferred => 1,
            Evidence::Limited => 2,
            Evidence::Unresolved => 3,
        };
        all.max_by_key(rank).unwrap_or_default()
    }

    /// As it is written in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Evidence::Confirmed(_) => "confirmed",
            Evidence::Inferred => "inferred",
            Evidence::ConfirmedAbsent(_) => "confirmed_absent",
            Evidence::Limited => "limited",
            Evidence::Unresolved => "unresolved",
        }
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Evidence::ConfirmedAbsent(_) => "confirmed absent",
            other => other.word(),
        })
    }
}

/// The verdict on what a server says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was launched is what was said, read from the launches of exactly this request.
    Confirmed(Seal),
    /// What was launched is something else.
    Contradicted(Seal),
    /// It agrees, by a rule.
    Inferred,
    /// Part of what was launched is not visible, or not distinguishable from other requests.
    Limited,
    /// It cannot be decided.
    Unresolved,
}

impl Outcome {
    /// The words in JSON, in the order in which they are printed.
    pub const WORDS: [&str; 5] = ["confirmed", "contradicted", "inferred", "limited", "unresolved"];

    /// As it is written in JSON.
    pub fn word(self) -> &'static str {
        let at = match self {
            Outcome::Confirmed(_) => 0,
            Outcome::Contradicted(_) => 1,
            Outcome::Inferred => 2,
            Outcome::Limited => 3,
            Outcome::Unresolved => 4,
        };
        Outcome::WORDS[at]
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Outcome::Contradicted(_) => "contradicted by observation",
            other => other.word(),
        })
    }
}

/// For tests alone: by `testing`, of the crates above this one too.
pub(crate) mod made {
    use super::{Evidence, Outcome, Seal};

    /// Says *confirmed*.
    pub const CONFIRMED: Evidence = Evidence::Confirmed(Seal(()));
    /// Says *confirmed absent*.
    pub const CONFIRMED_ABSENT: Evidence = Evidence::ConfirmedAbsent(Seal(()));
    /// Says that a server's number is right.
    pub const AS_SAID: Outcome = Outcome::Confirmed(Seal(()));
    /// Says that it is wrong.
    pub const CONTRADICTED: Outcome = Outcome::Contradicted(Seal(()));
}
