//! One row of a timeline: its track, its time, and its cells, one for each column of its table.

use super::Table;
use rocshim_trace::{Arg, Word};
use std::{ops::Range, sync::Arc};

/// A call, or something else with a begin and an end.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub table: &'static Table,
    /// Its process, by number.
    pub process: usize,
    /// The thread that it is of; absent for what is the process's.
    pub tid: Option<u32>,
    pub track: Track,
    /// In Unix ns.
    pub begin: u64,
    /// In ns; absent for what had not ended when the process died.
    pub dur: Option<u64>,
    /// What it is called where it is drawn.
    pub name: Word,
    /// In the order of the table's columns.
    pub cells: Vec<Cell>,
    pub arrows: Arrows,
}

impl Row {
    /// Its cell of a column of its own table; `None` where the table has no such column.
    pub fn cell(&self, column: &str) -> Option<&Cell> {
        self.table.cells().zip(&self.cells).find_map(|(of, cell)| (of.name == column).then_some(cell))
    }
}

/// The track of a row. Rows on one track never overlap, unless one contains the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Track {
    /// The calls of a thread, and the ranges that enclose them.
    Thread(u32),
    /// A track of its own, of a thread or lane by its number, where there are several; `slot` is 0
    /// but for what would overlap.
    Beside { what: Beside, of: Option<u32>, slot: u32 },
}

/// What has tracks of its own, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Beside {
    Process,
    Phases,
    Passes,
    Gpu,
    Ranges,
    Losses,
    Pauses,
    Coverage,
}

/// Arrows to and from a row, each by its number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrows {
    /// Those that begin here: to the launches that were made inside this call, and to the command
    /// on the GPU that this call asked for.
    pub begin: Vec<Range<u64>>,
    /// The one that ends here.
    pub end: Option<u64>,
    /// The one that begins or goes on here: a graph's, from where it is instantiated to its
    /// launches.
    pub through: Option<Through>,
}

/// An arrow of several steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    pub number: u64,
    /// Here it begins.
    pub is_first: bool,
}

/// What a row has in one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Absent,
    Integer(i64),
    Flag(bool),
    Word(Word),
    Address(u64),
    Arguments(Arguments),
}

/// The arguments of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// Their names, as far as they are known.
    pub names: Arc<[Word]>,
    pub values: Vec<Arg>,
}

impl Cell {
    /// An integer; what no trace has (above 2^63) as the largest.
    pub(super) fn count(value: u64) -> Cell {
        Cell::Integer(value.try_into().unwrap_or(i64::MAX))
    }

    pub(super) fn text(text: &str) -> Cell {
        if text.is_empty() { Cell::Absent } else { Cell::Word(text.into()) }
    }

    /// Numbers or words with blanks between.
    pub(super) fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> Cell {
        let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
        Cell::text(&values.join(" "))
    }

    /// An address; absent for NULL.
    pub(super) fn address(value: rocshim_trace::Hex) -> Cell {
        if value.is_zero() { Cell::Absent } else { Cell::Address(value.0) }
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Cell {
        Cell::Integer(value)
    }
}

impl From<i32> for Cell {
    fn from(value: i32) -> Cell {
        Cell::Integer(value.into())
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Cell {
        Cell::Integer(value.into())
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Cell {
        Cell::count(value)
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Cell {
        Cell::Flag(value)
    }
}

impl From<Word> for Cell {
    fn from(word: Word) -> Cell {
        if word.is_empty() { Cell::Absent } else { Cell::Word(word) }
    }
}

impl From<&Word> for Cell {
    fn from(word: &Word) -> Cell {
        word.clone().into()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Absent, Into::into)
    }
}
