//! The options of `tail`.

use super::KernelFilter;
use clap::Args;
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
Without TRACE: the traces in $ROCSHIM_OUT, else in ./rocshim-out. \
One line per call: when it was made (UTC), how long it took the host, process and thread, the \
library or the family of kernels, what was called, and its main arguments. A folder stands for \
all the traces in it, and those still to come. tail ends when every trace that was named has \
ended, or by Ctrl-C.

A PATTERN with `*` matches a whole name, one without matches a part of it; case does not matter. \
A call must match one pattern of each kind that is given. Lost events are always reported: they \
may have matched. --json prints one object per line, with the columns of `rocshim help tables`.

Example:  rocshim tail traces --family mmq --process llama-server
          rocshim tail traces --library rocblas --json | jq .m";

/// The options of `tail`.
#[derive(Args)]
pub(crate) struct Tail {
    /// Trace files, or folders of them
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// How many of the calls recorded so far to print first; `all`: every one
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = count)]
    pub(crate) lines: usize,
    #[command(flatten)]
    pub(crate) kernels: KernelFilter,
    /// Only calls of functions of this library: rocblas, amdhip64, …
    #[arg(long, value_name = "PATTERN")]
    pub(crate) library: Vec<String>,
    /// Only processes with this id, or whose executable has this name
    #[arg(long, value_name = "PATTERN")]
    pub(crate) process: Vec<String>,
    /// Print names as they are in the trace, neither simplified nor shortened
    #[arg(long)]
    pub(crate) full_names: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

fn count(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        text => text.parse().map_err(|_| "give a number, or `all`".into()),
    }
}
