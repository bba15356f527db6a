//! The options of `export`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
perfetto and chrome write one file: a track per process and thread with a slice per call, ranges \
of roctx and rocshim.h, arrows from a call to the launches inside it and from a graph to its \
launches, and tracks of their own for phases, passes, GPU queues (traces with --gpu-time), lost \
events and hook coverage. csv and parquet write a folder: a table per kind of call, and tables \
of ranges, GPU commands, lost events, phases, passes, processes and coverage; each launch's row \
has its kernel, family and code object. --columns lists them all.

The whole trace is exported, in one pass. Times are Unix nanoseconds (in chrome: since the \
earliest process began), so processes and hosts share one clock. OUT gets its name only when it \
is complete.

Example:  rocshim export --to perfetto traces -o run.pftrace";

/// The options of `export`.
#[derive(Args)]
pub(crate) struct Export {
    /// The format to write
    #[arg(long, value_enum, value_name = "FORM", required_unless_present = "columns")]
    pub(crate) to: Option<To>,
    /// Trace files, or folders of them
    #[arg(required_unless_present = "columns", value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The file or folder to write; `-` is standard output where a file is written
    #[arg(short, long = "out", value_name = "PATH", required_unless_present = "columns")]
    pub(crate) out: Option<PathBuf>,
    /// Replace what exists
    #[arg(long)]
    pub(crate) force: bool,
    /// The run's name in a dataset [default: the number of the Slurm job, else the traces' folder]
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Option<String>,
    /// List the tables and their columns, and do nothing else
    #[arg(long, exclusive = true)]
    pub(crate) columns: bool,
}

/// An output format.
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
    /// A dataset of many runs and ranks for SQL; what is there stays (`rocshim help dataset`)
    Dataset,
}
