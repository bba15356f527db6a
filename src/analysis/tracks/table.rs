//! The tables of a timeline and their columns: what each exported form has, under the same names.

use super::{calls, gpu, libraries, others};

/// A table.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// Its identifier.
    pub id: TableId,
    /// Its name: that of its file, and the category of its slices.
    pub name: &'static str,
    /// What a row is.
    pub what: &'static str,
    /// After those that every table has ([`COMMON`]) and, of calls, those that every call has.
    pub columns: &'static [Column],
    /// A row is a hooked call: [`CALL`] comes before its own columns.
    pub is_call: bool,
}

/// A column.
#[derive(Debug, PartialEq)]
pub struct Column {
    /// Its name, unique in the table; times end in `_ns`.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: ColumnKind,
    /// What it holds, with its unit.
    pub what: &'static str,
    /// True if slices have it as a property too; false for what the slice's place in the picture
    /// shows.
    pub in_slices: bool,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A signed 64-bit integer.
    Integer,
    /// True or false.
    Flag,
    /// A text.
    Text,
    /// A 64-bit handle or pointer.
    Address,
}

/// Names every table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TableId {
    /// Kernel launches.
    Launches,
    /// GEMMs of BLAS libraries.
    Gemms,
    /// Convolution calls.
    Convolutions,
    /// Other calls of BLAS libraries.
    Blas,
    /// Calls that are recorded by name only.
    Spans,
    /// Copies and memory sets.
    Copies,
    /// Calls that wait or order streams.
    Syncs,
    /// Launches of graphs.
    GraphLaunches,
    /// Calls that capture, build or instantiate graphs.
    GraphCalls,
    /// Module loads and unloads.
    Loads,
    /// Calls that set a marker or a range.
    Marks,
    /// Named time ranges of the program.
    Ranges,
    /// Lost events.
    Losses,
    /// Times in which recording was stopped.
    Pauses,
    /// Commands on the GPU, as the HIP runtime reported them.
    Gpu,
    /// Phases of inference or training.
    Phases,
    /// Passes of a model.
    Passes,
    /// Processes.
    Processes,
    /// What was hooked of each library, per process.
    Coverage,
}

/// Every table, in the order of [`TableId`].
pub static TABLES: [&Table; 19] = [
    &calls::LAUNCHES,
    &libraries::GEMMS,
    &libraries::CONVOLUTIONS,
    &libraries::BLAS,
    &libraries::SPANS,
    &calls::COPIES,
    &calls::SYNCS,
    &calls::GRAPH_LAUNCHES,
    &calls::GRAPH_CALLS,
    &calls::LOADS,
    &calls::MARKS,
    &others::RANGES,
    &others::LOSSES,
    &others::PAUSES,
    &gpu::GPU,
    &others::PHASES,
    &others::PASSES,
    &others::PROCESSES,
    &others::COVERAGE,
];

impl Table {
    /// Its place among [`TABLES`].
    pub fn number(&self) -> usize {
        self.id as usize
    }

    /// Its rows come when all else has been read.
    pub fn is_complete_at_end(&self) -> bool {
        self.id >= TableId::Phases
    }

    /// True if its rows are about what is not in the trace.
    pub(crate) fn is_about_what_is_missing(&self) -> bool {
        matches!(self.id, TableId::Losses | TableId::Pauses)
    }

    /// All columns, in their order.
    pub fn all(&self) -> impl Iterator<Item = &'static Column> {
        COMMON.iter().chain(self.cells())
    }

    /// The columns of a row's cells, in their order.
    pub fn cells(&self) -> impl Iterator<Item = &'static Column> {
        let of_call = if self.is_call { CALL } else { &[] };
        of_call.iter().chain(self.columns)
    }
}

pub(crate) const fn column(name: &'static str, kind: ColumnKind, what: &'static str) -> Column {
    Column { name, kind, what, in_slices: true }
}

const fn in_tables_alone(column: Column) -> Column {
    Column { in_slices: false, ..column }
}

pub(crate) const fn integer(name: &'static str, what: &'static str) -> Column {
    column(name, ColumnKind::Integer, what)
}

pub(crate) const fn flag(name: &'static str, what: &'static str) -> Column {
    column(name, ColumnKind::Flag, what)
}

pub(crate) const fn text(name: &'static str, what: &'static str) -> Column {
    column(name, ColumnKind::Text, what)
}

pub(crate) const fn address(name: &'static str, what: &'static str) -> Column {
    column(name, ColumnKind::Address, what)
}

/// What every table begins with. The first two are folders in a partitioned export.
pub const COMMON: &[Column] = &[
    text("host", "the host's name"),
    integer("pid", "process id"),
    integer("tid", "thread id; absent for what is the process's"),
    integer("begin_ns", "when it began, Unix ns"),
    integer("dur_ns", "how long it took the host, ns; absent for what had not ended when the process died"),
];

/// What every call has beside.
pub(crate) const CALL: &[Column] = &[
    in_tables_alone(integer("id", "number of the call in its thread, from 1")),
    in_tables_alone(integer("parent", "`id` of the call that it was made inside")),
    text("function", "the function that was called"),
    text("library", "its library, without version"),
    in_tables_alone(integer("status", "what it returned")),
    text("error", "the vendor's name for that, or its number, where it is not success"),
    flag("unwound", "it was left by a C++ exception"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_table_stands_at_its_number_and_each_column_once() {
        for (number, table) in TABLES.iter().enumerate() {
            assert_eq!(table.number(), number, "{}", table.name);
            let all: Vec<&str> = table.all().map(|column| column.name).collect();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{}: {all:?}", table.name);
        }
        let names: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(names.len(), TABLES.len());
    }
}
