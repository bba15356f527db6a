//! Names and details of rows in formats with slices (Perfetto, Chrome).

use crate::names;
use rocshim_analysis::{Cell, Column, Track, TrackKind, TrackRow, queue_of};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::{borrow::Cow, fmt};

/// The name of a slice: a C++ name without return type and parameters.
pub fn name(row: &TrackRow) -> Cow<'_, str> {
    names::tidy(&row.name)
}

/// The details of a slice: cells that hold something and do not follow from its position.
pub fn details(row: &TrackRow) -> impl Iterator<Item = (&'static Column, &Cell)> {
    let cells = row.table.cells().zip(&row.cells);
    cells.filter(|(column, cell)| column.in_slices && !matches!(cell, Cell::Absent | Cell::Flag(false)))
}

/// The title of a track that is not a thread's.
pub fn title(track: Track) -> String {
    let Track::Other { what, of, slot: _ } = track else { return String::new() };
    let of = of.unwrap_or_default();
    match what {
        TrackKind::Process => "process".into(),
        TrackKind::Phases => format!("phases, stream group {of}"),
        TrackKind::Passes => format!("passes, stream group {of}"),
        TrackKind::Gpu => {
            let (device, queue) = queue_of(of);
            format!("GPU {device}, queue {queue}")
        }
        TrackKind::Ranges => "ranges across threads and calls".into(),
        TrackKind::Losses => format!("lost events of thread {of}"),
        TrackKind::Pauses => "recording stopped".into(),
        TrackKind::Coverage => "hook coverage".into(),
    }
}

/// The name of an argument, or its place where it has none.
pub fn argument(names: &[impl AsRef<str>], at: usize) -> Cow<'_, str> {
    match names.get(at).map(AsRef::as_ref) {
        Some(name) if !name.is_empty() => name.into(),
        _ => at.to_string().into(),
    }
}

/// A cell as JSON; arguments by their names.
pub struct Value<'a>(pub &'a Cell);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Cell::Absent => to.serialize_unit(),
            Cell::Integer(value) => to.serialize_i64(*value),
            Cell::Flag(value) => to.serialize_bool(*value),
            Cell::Word(word) => to.serialize_str(word),
            Cell::Address(value) => to.collect_str(&Hexadecimal(*value)),
            Cell::Arguments(arguments) => {
                let mut map = to.serialize_map(Some(arguments.values.len()))?;
                for (at, value) in arguments.values.iter().enumerate() {
                    map.serialize_entry(&*argument(&arguments.names, at), value)?;
                }
                map.end()
            }
        }
    }
}

struct Hexadecimal(u64);

impl fmt::Display for Hexadecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
