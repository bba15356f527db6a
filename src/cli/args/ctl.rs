//! The options of `ctl`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
The request is a word in the process's shared memory: the process gets no signal, and nothing \
attaches to it. It must be yours, and see the same files (or run in a container that is visible \
in /proc).

Without PID: lists all your processes that record. --json is for this list and for status. A \
snapshot goes to the file -o, else to a new one in the folder `snapshots` beside the trace.";

/// The options of `ctl`.
#[derive(Args)]
pub(crate) struct Ctl {
    /// The process's id
    #[arg(value_name = "PID", value_parser = process_id)]
    pub(crate) pid: Option<u32>,
    /// What the process should do
    #[arg(value_enum, value_name = "REQUEST", default_value_t = Verb::Status, requires = "pid")]
    pub(crate) verb: Verb,
    /// For gpu-time: on or off
    #[arg(value_enum, value_name = "STATE")]
    pub(crate) state: Option<Switch>,
    /// The file or folder to write; `-` is standard output where a file is written
    #[arg(short, long = "out", value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// How long to wait for an answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) wait: u32,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

fn process_id(argument: &str) -> Result<u32, &'static str> {
    argument.parse().map_err(|_| "a process id is a number; `rocshim ctl` lists the processes that record")
}

/// A control request.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Verb {
    /// Print threads, events, lost events, rings and the trace
    Status,
    /// Stop recording; calls go straight to the real functions
    Stop,
    /// Start recording again
    Start,
    /// Switch GPU times: `rocshim ctl PID gpu-time on`
    GpuTime,
    /// Write all events recorded so far to the trace, and the trace to the disk
    Flush,
    /// Copy what a flight recorder holds, or else the trace so far, to another file
    Snapshot,
}

/// The new state of GPU times.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Record GPU times
    On,
    /// Record no GPU times
    Off,
}
