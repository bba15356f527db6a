//! What `ctl` takes.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
The process is asked by a word in its shared memory: it gets no signal and is not attached to. It must see the same \
files (or be in a container that is seen in /proc), and belong to you.

Without a process all of yours that have the shim are listed.";

/// The options of `ctl`.
#[derive(Args)]
pub(crate) struct Ctl {
    /// The process's number
    #[arg(value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// What is asked of it
    #[arg(value_enum, value_name = "WHAT", default_value_t = Verb::Status, requires = "pid")]
    pub(crate) verb: Verb,
    /// For gpu-time: on or off
    #[arg(value_enum, value_name = "STATE")]
    pub(crate) state: Option<Switch>,
    /// File of the snapshot [default: a new one in the folder `snapshots` beside the trace]
    #[arg(short, long = "out", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How long to wait for an answer, in seconds
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) wait: u32,
    /// JSON instead of text (for status, and the list)
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a process is asked.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Verb {
    /// How it stands: threads, events, losses, rings, its trace
    Status,
    /// Record nothing from now on; what the program calls goes straight through
    Stop,
    /// Record again
    Start,
    /// Ask the HIP runtime for GPU times from now on, or not any more: `rocshim ctl PID gpu-time on`
    GpuTime,
    /// Write all that was recorded by now to the trace, and the trace to the disk
    Flush,
    /// Write what a flight recorder holds now, or else the trace as it is now, to a file of its own
    Snapshot,
}

/// What a thing is switched to.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// From now on
    On,
    /// Not any more
    Off,
}
