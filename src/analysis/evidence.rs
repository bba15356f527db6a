//! The evidence class of a derived statement.

use serde::Serialize;

/// How sure a statement is; the users' own classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Read directly from an intercepted call, its arguments, or the code object that it launched.
    Confirmed,
    /// It follows from confirmed facts by a stated rule.
    Inferred,
    /// It did not happen, and it would have been seen.
    ConfirmedAbsent,
    /// The observer saw only part.
    Limited,
    /// It cannot be decided from these traces.
    #[default]
    Unresolved,
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Evidence::Confirmed => "confirmed",
            Evidence::Inferred => "inferred",
            Evidence::ConfirmedAbsent => "confirmed absent",
            Evidence::Limited => "limited",
            Evidence::Unresolved => "unresolved",
        })
    }
}
