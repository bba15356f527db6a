//! What `tail` takes.

use clap::Args;
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
A line for each call: when it was made (UTC), how long it took the host, process and thread, whose function or which family of kernels, \
what was called, and what it was asked for. A folder stands for all the traces in it, and those that are still to come. It ends \
when every trace that was named has; Ctrl-C ends it before.

A PATTERN with `*` fits a whole name, one without is a part of it; upper and lower case are the same. One of each kind that is given \
must fit. What was lost, or not recorded, is told whatever was asked for: it may have been such.

Example:  rocshim tail traces --family mmq --process llama-server
          rocshim tail traces --library rocblas --json | jq .m";

/// The options of `tail`.
#[derive(Args)]
pub(crate) struct Tail {
    /// Trace files, or folders of them [default: $ROCSHIM_OUT, else ./rocshim-out]
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Of what is there already, the last so many; `all` is everything
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = count)]
    pub(crate) lines: usize,
    /// Launches of kernels of this name
    #[arg(long, value_name = "PATTERN")]
    pub(crate) kernel: Vec<String>,
    /// Launches of kernels of this family (mmvq, ggml, …: the families of `summary`)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) family: Vec<String>,
    /// Calls of functions of this library (rocblas, amdhip64, …)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) library: Vec<String>,
    /// Processes of this number, or whose executable has this name
    #[arg(long, value_name = "PATTERN")]
    pub(crate) process: Vec<String>,
    /// Names in full, also where they do not fit the terminal
    #[arg(long)]
    pub(crate) full_names: bool,
    /// A JSON object for each line, with the columns of `export --columns`
    #[arg(long)]
    pub(crate) json: bool,
}

fn count(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        text => text.parse().map_err(|_| "give a number, or `all`".into()),
    }
}
