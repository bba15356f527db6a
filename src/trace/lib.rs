//! The trace format: record types, their NDJSON encoder and parser, and decoders for the names of
//! kernels and solvers.
//!
//! ```
//! use rocshim_trace::{parse_line, Record};
//! let line = r#"{"type":"gap","tid":7,"t":10,"dur":5,"lost":3,"reason":"ring_full"}"#;
//! let Record::Gap(gap) = parse_line(line.as_bytes()).unwrap() else { panic!("not a gap") };
//! assert_eq!(gap.lost, 3);
//! ```
//!
//! Layers, lowest first: `hex` (64-bit values as strings), `word` (named values), `dims`
//! (three-dimensional sizes), `digits` (integers as text), `text` (short texts of fixed capacity),
//! `stream` (a reference to a stream), `arg` (the value of a kernel argument), `tensile` (decodes
//! the names of BLAS kernels), `record` (every record type, its fields and units), `library`
//! (recognises libraries by file name), `pattern` (glob patterns), `solver` (MIOpen's id table),
//! `ggml` (the columns of ggml's GEMMs), `family` (kernels by kind of work), `encode` (record to
//! line), `line` (line to record), `segment` (the file names of a trace), `launcher` (a process's
//! rank), `out_path` (the path that a process fills in).
//!
//! Rules for every record:
//!
//! - Times are integer nanoseconds since the header's epoch; durations are `dur`.
//! - Handles and pointers are hex strings.
//! - A definition precedes the first use of its id. It is repeated only unchanged, or for a hook's
//!   new state, or, where a dead process's trace is completed on another machine, for a code object
//!   whose file is missing there.
//! - `(tid, id)` identifies an event; `parent` is the id of the enclosing hooked call of the same
//!   thread.
//! - An unknown type or key must not stop a reader.

#![forbid(unsafe_code)]

mod arg;
mod digits;
mod dims;
mod encode;
mod family;
pub mod ggml;
mod hex;
pub mod launcher;
mod library;
mod line;
pub mod out_path;
mod pattern;
mod record;
mod segment;
mod solver;
mod stream;
mod tensile;
mod text;
mod word;

pub use arg::{Arg, arg_of_text};
pub use encode::{write_arg, write_launch, write_record};
pub use family::{Family, families, family};
pub use hex::Hex;
pub use library::{SHIM_LIBRARY, file_name, is_library};
pub use line::{LineError, parse_line};
pub use pattern::{fits, is_chosen, patterns};
pub use record::*;
pub use segment::{TracePath, segment_path};
pub use solver::{Solver, solver, solver_name};
pub use stream::StreamRef;
pub use tensile::{MatrixInstruction, Tensile};
pub use text::Text;
pub use word::Word;

/// The format number that this crate writes; raised when the meaning of a field changes.
pub const FORMAT: u32 = 1;

/// The JSON Schema of one line of the format.
pub const SCHEMA: &str = include_str!("format-1.schema.json");
