//! The options of `export`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
perfetto and chrome are one file: processes and threads with a slice for each call, ranges of roctx and rocshim.h, arrows \
from a call to the launches made inside it and from a graph to its launches, and phases, passes, losses and hook coverage on \
tracks of their own. csv and parquet are a folder: a table for each kind of call, and for ranges, losses, phases, passes, processes and \
coverage, with the kernel, its family and its code object in each row of launches. --columns lists them all.

Everything that the trace has is exported, in one pass; phases come at the end. Times are Unix nanoseconds (in chrome: since \
the earliest process began), so processes and hosts stand on one clock. OUT has its name only when it is whole.

Example:  rocshim export --to perfetto traces -o run.pftrace";

/// The options of `export`.
#[derive(Args)]
pub(crate) struct Export {
    /// The form
    #[arg(long, value_enum, value_name = "FORM", required_unless_present = "columns")]
    pub(crate) to: Option<To>,
    /// Trace files, or folders of them
    #[arg(required_unless_present = "columns", value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The file or, for csv and parquet, the folder to make; `-` is standard output
    #[arg(short, long = "out", value_name = "OUT", required_unless_present = "columns")]
    pub(crate) out: Option<PathBuf>,
    /// Replace OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// The tables and their columns, and nothing else
    #[arg(long, exclusive = true)]
    pub(crate) columns: bool,
}

/// A form of other programs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// Perfetto's protobuf packets, for ui.perfetto.dev and trace_processor
    Perfetto,
    /// Chrome's JSON events, for chrome://tracing, Speedscope and Perfetto
    Chrome,
    /// A CSV file for each table
    Csv,
    /// Parquet files for each table, by host and process
    Parquet,
}
