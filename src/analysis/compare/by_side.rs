//! Values by side: what each has in a row, under its label, and the meaning of an absent value.

use super::Side;
use crate::{Evidence, table::Cell};
use serde::{Serialize, Serializer};

/// A value per side, in the sides' order; absent if a side has none. In JSON an object with the
/// sides' labels as keys.
#[derive(Clone, Debug, PartialEq)]
pub struct BySide<T>(Vec<(String, Option<T>)>);

impl<T> BySide<T> {
    /// What `of` gives for each side.
    pub(super) fn of(sides: &[Side], mut of: impl FnMut(usize) -> Option<T>) -> BySide<T> {
        BySide(sides.iter().enumerate().map(|(at, side)| (side.label.clone(), of(at))).collect())
    }

    /// The same for all sides but the baseline.
    pub(super) fn others(sides: &[Side], mut of: impl FnMut(usize) -> T) -> BySide<T> {
        BySide(
            sides.iter().enumerate().skip(1).map(|(at, side)| (side.label.clone(), Some(of(at)))).collect(),
        )
    }

    /// Of the side with this number.
    pub fn get(&self, side: usize) -> Option<&T> {
        self.0.get(side)?.1.as_ref()
    }

    /// Of the run with this number among all, where only the others than the baseline are kept.
    pub(super) fn of_run(&self, run: usize) -> Option<&T> {
        self.get(run.checked_sub(1)?)
    }

    /// Those that are there, with the labels of their sides.
    pub(super) fn labelled(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().filter_map(|(label, thing)| Some((label.as_str(), thing.as_ref()?)))
    }

    /// In the order of the sides.
    pub fn iter(&self) -> impl Iterator<Item = Option<&T>> {
        self.0.iter().map(|(_, thing)| thing.as_ref())
    }
}

impl<T: Serialize> Serialize for BySide<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(label, thing)| (label, thing)))
    }
}

/// Who has a row, of the baseline and one other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Both have it.
    Both,
    /// The baseline has it, the other side has not.
    Gone,
    /// The other side has it, the baseline has not.
    New,
    /// A third side has it.
    Neither,
}

/// Who has a row, and how sure it is that a side has it not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Presence {
    /// Which of the two have it.
    pub seen: Seen,
    /// `confirmed` where both have it; else the class of the absence.
    pub evidence: Evidence,
    /// Why it may be there nevertheless.
    pub why: Option<String>,
}

impl Presence {
    /// Of the baseline and another side: whether each has it, and what it means for each if not.
    pub(super) fn of(has: [bool; 2], absence: impl Fn(usize) -> (Evidence, Option<String>)) -> Presence {
        let (seen, (evidence, why)) = match has {
            [true, true] => (Seen::Both, (Evidence::Confirmed, None)),
            [true, false] => (Seen::Gone, absence(1)),
            [false, true] => (Seen::New, absence(0)),
            [false, false] => (Seen::Neither, absence(1)),
        };
        Presence { seen, evidence, why }
    }
}

/// The class of an absence: confirmed unless there is a reason why something may have been missed.
pub(super) fn absence(limit: Option<String>) -> (Evidence, Option<String>) {
    let evidence = if limit.is_some() { Evidence::Limited } else { Evidence::ConfirmedAbsent };
    (evidence, limit)
}

/// Who has a row: for each run but the baseline.
pub(super) fn seen_cell<'a, T>(
    sides: &BySide<T>,
    presences: impl Iterator<Item = (&'a str, &'a Presence)>,
) -> Cell {
    let baseline = sides.0.first().map_or("", |(label, _)| label.as_str());
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
