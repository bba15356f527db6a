//! The trace format: NDJSON, one record a line, written and read.
//!
//! ```
//! use rocshim_trace::{parse_line, Record};
//! let line = r#"{"type":"gap","tid":7,"t":10,"dur":5,"lost":3,"reason":"ring_full"}"#;
//! let Record::Gap(gap) = parse_line(line.as_bytes()).unwrap() else { panic!("not a gap") };
//! assert_eq!(gap.lost, 3);
//! ```
//!
//! Layers, lowest first: `hex` (64-bit values as strings), `word` (the words of records), `dims`
//! (sizes in three dimensions), `digits` (numbers as text), `text` (short texts written in blocks),
//! `stream` (how an event refers to its stream), `arg` (the value of a kernel argument), `tensile`
//! (what a BLAS kernel's name says), `record` (every record type, its fields and units), `library`
//! (files by their names, and which are one library), `pattern` (names that a list chooses),
//! `solver` (MIOpen's id table), `ggml` (what a launch of ggml's works on), `family` (what kind of
//! work a kernel does), `encode` (a record to a line), `line` (a line to a record), `part` (what the
//! files of a trace are called).
//!
//! Rules that hold for every record: times are integer nanoseconds since the header's epoch and durations are `dur`;
//! handles and pointers are hex strings; what has an id is defined before its first use, and again only to say the same
//! (or a hook's new state; or, where a dead process's trace is finished elsewhere, that a code object's file is not there); `(tid, id)` names an event and `parent` is the id of the enclosing hooked call of the same
//! thread; an unknown type or key must not stop a reader.

#![forbid(unsafe_code)]

mod arg;
mod digits;
mod dims;
mod encode;
mod family;
pub mod ggml;
mod hex;
mod library;
mod line;
mod part;
mod pattern;
mod record;
mod solver;
mod stream;
mod tensile;
mod text;
mod word;

pub use arg::{Arg, arg_of_text};
pub use encode::{write_arg, write_launch, write_record};
pub use family::{Family, families, family};
pub use hex::Hex;
pub use library::{OWN_LIBRARY, file_name, is_library};
pub use line::{LineError, parse_line};
pub use part::{TracePath, part_path};
pub use pattern::{fits, is_chosen, patterns};
pub use record::*;
pub use solver::{Solver, solver, solver_name};
pub use stream::StreamRef;
pub use tensile::{MatrixInstruction, Tensile};
pub use text::Text;
pub use word::Word;

/// The format number that this crate writes; raised when the meaning of a field changes.
pub const FORMAT: u32 = 1;

/// The JSON Schema of one line of the format.
pub const SCHEMA: &str = include_str!("format-1.schema.json");
