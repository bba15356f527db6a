//! What a row has in a column, and how that reads in text.

use super::head::{CellKind, Head};
use crate::{
    evidence::{Evidence, Outcome},
    names, units,
};

/// A statement, with its class of evidence and the reason where that is not plain.
pub type Statement = (String, Option<(Evidence, Option<String>)>);

/// What a row has in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Absent,
    /// A number in the column's unit.
    Number(u64),
    /// A part of 1, or a ratio.
    Real(f64),
    /// A number that is shown in words, as `9..512`, and sorted by its value.
    Shown(String, u64),
    /// Words.
    Text(String),
    /// How sure something is, and why, where that needs words.
    Evidence(Evidence, Option<String>),
    /// What a statement came to.
    Outcome(Outcome),
    /// A kernel by its symbol, and its name as people write it, where that differs.
    Kernel(String, Option<String>),
    /// Kernels with the number of their launches.
    Kernels(Vec<(u64, String, Option<String>)>),
    /// Statements, each with how sure it is where that is not plain.
    Statements(Vec<Statement>),
}

impl Cell {
    /// How it reads in text, without colour and in full width.
    pub fn text(&self, head: &Head) -> String {
        match self {
            Cell::Absent => head.absent.into(),
            Cell::Number(number) => match head.kind {
                CellKind::Number => number.to_string(),
                CellKind::Time => units::time(*number),
                CellKind::Bytes => units::bytes(*number),
                _ => units::count(*number),
            },
            Cell::Real(value) => match head.kind {
                CellKind::Share => units::percent(*value),
                CellKind::Time => units::time(value.round() as u64),
                CellKind::Ratio => format!("{value:.2}"),
                _ => format!("{value:.1}"),
            },
            Cell::Shown(text, _) | Cell::Text(text) => text.clone(),
            Cell::Evidence(evidence, _) => evidence.to_string(),
            Cell::Outcome(outcome) => outcome.to_string(),
            Cell::Kernel(symbol, demangled) => {
                names::tidy(demangled.as_deref().unwrap_or(symbol)).into_owned()
            }
            Cell::Kernels(kernels) => {
                let one = |(launches, symbol, _): &(u64, String, Option<String>)| {
                    format!("{} x {symbol}", units::count(*launches))
                };
                kernels.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Cell::Statements(all) => all.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("; "),
        }
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::Number(number)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Cell {
        Cell::Number(number.into())
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Cell {
        Cell::Number(number as u64)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        u64::try_from(number).map_or_else(|_| Cell::Text(number.to_string()), Cell::Number)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        Cell::Real(value)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Cell {
        Cell::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&rocshim_trace::Word> for Cell {
    fn from(word: &rocshim_trace::Word) -> Cell {
        Cell::Text(word.as_str().into())
    }
}

impl From<Evidence> for Cell {
    fn from(evidence: Evidence) -> Cell {
        Cell::Evidence(evidence, None)
    }
}

impl From<Outcome> for Cell {
    fn from(outcome: Outcome) -> Cell {
        Cell::Outcome(outcome)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Absent, Into::into)
    }
}
