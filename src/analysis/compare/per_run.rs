//! The values of one table row by run, and the meaning of an absent value.

use super::ComparedRun;
use crate::evidence::observations::Observation;
use crate::{Evidence, table::Cell};
use serde::{Serialize, Serializer};

/// A value per run, in the runs' order; absent if a run has none. In JSON an object with the runs'
/// labels as keys.
#[derive(Clone, Debug, PartialEq)]
pub struct PerRun<T>(Vec<(String, Option<T>)>);

impl<T> PerRun<T> {
    /// Computes the value of each run by `of`.
    pub(super) fn of(runs: &[ComparedRun], mut of: impl FnMut(usize) -> Option<T>) -> PerRun<T> {
        PerRun(runs.iter().enumerate().map(|(at, run)| (run.label.clone(), of(at))).collect())
    }

    /// The same for all runs but the baseline.
    pub(super) fn others(runs: &[ComparedRun], mut of: impl FnMut(usize) -> T) -> PerRun<T> {
        PerRun(runs.iter().enumerate().skip(1).map(|(at, run)| (run.label.clone(), Some(of(at)))).collect())
    }

    /// Returns the value of the run with this index.
    pub fn get(&self, run: usize) -> Option<&T> {
        self.0.get(run)?.1.as_ref()
    }

    /// Returns the value of the run with this index among all runs, if only those after the
    /// baseline have values.
    pub(super) fn of_run(&self, run: usize) -> Option<&T> {
        self.get(run.checked_sub(1)?)
    }

    /// Returns the values that exist, with the labels of their runs.
    pub(super) fn labelled(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().filter_map(|(label, thing)| Some((label.as_str(), thing.as_ref()?)))
    }

    /// Returns the values in the order of the runs.
    pub fn iter(&self) -> impl Iterator<Item = Option<&T>> {
        self.0.iter().map(|(_, thing)| thing.as_ref())
    }
}

impl<T: Serialize> Serialize for PerRun<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(label, thing)| (label, thing)))
    }
}

/// Which of the baseline and one other run has a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Both have it.
    Both,
    /// Only the baseline has it.
    Gone,
    /// Only the other run has it.
    New,
    /// Neither has it, but a third run does.
    Neither,
}

/// Which of two runs has a row, and how certain its absence from the other is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Presence {
    /// Which of the two has it.
    pub seen: Seen,
    /// `confirmed` where both have it; else the class of the absence.
    pub evidence: Evidence,
    /// Why it may exist there nevertheless.
    pub why: Option<String>,
}

impl Presence {
    /// Determines the presence of a row in the baseline and another run from whether each has it,
    /// and the meaning of its absence from each.
    pub(super) fn of(has: [bool; 2], absence: impl Fn(usize) -> (Evidence, Option<String>)) -> Presence {
        let (seen, (evidence, why)) = match has {
            [true, true] => (Seen::Both, (Observation::Record.evidence(), None)),
            [true, false] => (Seen::Gone, absence(1)),
            [false, true] => (Seen::New, absence(0)),
            [false, false] => (Seen::Neither, absence(1)),
        };
        Presence { seen, evidence, why }
    }
}

/// Returns, in words, which runs have a row, for each run but the baseline.
pub(super) fn seen_cell<'a, T>(
    runs: &PerRun<T>,
    presences: impl Iterator<Item = (&'a str, &'a Presence)>,
) -> Cell {
    let baseline = runs.0.first().map_or("", |(label, _)| label.as_str());
    let statement = |(run, presence): (&str, &Presence)| {
        let words = match presence.seen {
            Seen::Both => "both".to_string(),
            Seen::Gone => format!("only {baseline}, not {run}"),
            Seen::New => format!("only {run}, not {baseline}"),
            Seen::Neither => "neither".to_string(),
        };
        let is_plain = presence.seen == Seen::Both;
        (words, (!is_plain).then(|| (presence.evidence, presence.why.clone())))
    };
    Cell::Statements(presences.map(statement).collect())
}
