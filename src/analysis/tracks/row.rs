//! One row of a timeline: its track, its time, and its cells, one for each column of its table.

use super::Table;
use rocshim_trace::{Arg, Word};
use std::{ops::Range, sync::Arc};

/// A call, or something else with a begin and an end.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackRow {
    /// The table that it belongs to.
    pub table: &'static Table,
    /// Its process, by number.
    pub process: usize,
    /// The thread that it is of; absent for what is the process's.
    pub tid: Option<u32>,
    /// Where it is drawn.
    pub track: Track,
    /// Its begin, in Unix ns.
    pub begin: u64,
    /// Its duration on the host, in ns; absent for what had not ended when the process died.
    pub dur: Option<u64>,
    /// The text that is drawn on it.
    pub name: Word,
    /// One cell for each of [`Table::cells`].
    pub cells: Vec<Cell>,
    /// The arrows that begin or end here.
    pub arrows: Arrows,
}

impl TrackRow {
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
    /// A track for rows that are no calls, of a thread or stream group by its number where there
    /// are several. Rows that would overlap get tracks with different `slot`, from 0.
    Other {
        /// What its rows are.
        what: TrackKind,
        /// The thread, stream group or queue; absent where there is only one.
        of: Option<u32>,
        /// 0, and from 1 for rows that would overlap.
        slot: u32,
    },
}

/// What has tracks of its own, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrackKind {
    /// The process, from its first event to its last.
    Process,
    /// Phases of inference or training.
    Phases,
    /// Passes of a model.
    Passes,
    /// Commands on a queue of the GPU.
    Gpu,
    /// Ranges that are not confined to a thread.
    Ranges,
    /// Lost events of a thread.
    Losses,
    /// Times in which recording was stopped.
    Pauses,
    /// What was hooked of each library.
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
    /// The one that begins or continues here: a graph's, from where it is instantiated to its
    /// launches.
    pub through: Option<Through>,
}

/// An arrow of several steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    /// The arrow's number.
    pub number: u64,
    /// True where the arrow begins.
    pub is_first: bool,
}

/// What a row has in one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The row has no value here.
    Absent,
    /// A count, an id, a time in ns.
    Integer(i64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Word(Word),
    /// A handle or pointer, shown in hexadecimal.
    Address(u64),
    /// The arguments of a kernel launch.
    Arguments(Arguments),
}

/// The arguments of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// The parameters' names; empty where they are not known.
    pub names: Arc<[Word]>,
    /// The values, in the order of the parameters.
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
