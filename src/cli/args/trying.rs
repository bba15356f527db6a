//! The options of `try` and `bisect`, which run a program many times.

use super::Forms;
use clap::Args;
use rocshim_analysis::{LEAST_RUNS, USUAL_RUNS};
use std::{ffi::OsString, path::PathBuf};

/// The options of `try`.
#[derive(Args)]
pub(crate) struct Try {
    /// VAR=VALUE sets a variable, VAR= unsets it; several changes are made together
    #[arg(value_name = "CHANGE")]
    pub(crate) changes: Vec<String>,
    /// Put this folder first in LD_LIBRARY_PATH
    #[arg(long, value_name = "DIR")]
    pub(crate) library_path: Option<PathBuf>,
    /// Use another GPU of the machine: HIP_VISIBLE_DEVICES
    #[arg(long, value_name = "NUMBER")]
    pub(crate) device: Option<String>,
    /// Make the GPU pass for another target: HSA_OVERRIDE_GFX_VERSION, from `gfx1030` 10.3.0
    #[arg(long, value_name = "TARGET")]
    pub(crate) gfx: Option<String>,
    /// Append an argument to the program's
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) arg: Vec<OsString>,
    /// Leave out this argument of the program
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) without_arg: Vec<OsString>,
    #[command(flatten)]
    pub(crate) runs: Runs,
}

/// The options of `bisect`.
#[derive(Args)]
pub(crate) struct Bisect {
    /// A trace (its header's variables), a file of VAR=VALUE lines as `env` prints, or a library
    /// folder
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Another of the same kind
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Where to keep what is known after each run; the same command continues from it
    #[arg(long, value_name = "FILE", default_value = "rocshim-bisect.json")]
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) runs: Runs,
}

/// Options of both: how the program is run.
#[derive(Args)]
pub(crate) struct Runs {
    /// The file or folder to write; `-` is standard output where a file is written
    #[arg(short, long = "out", value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
    /// Record only programs whose name or path matches one of these patterns: `ollama,llama*`
    #[arg(long, value_name = "LIST")]
    pub(crate) only: Option<String>,
    /// Do not record programs that match: `sh,bash,git*` [default: $ROCSHIM_SKIP, else none]
    #[arg(long, value_name = "LIST")]
    pub(crate) skip: Option<String>,
    /// Ask the HIP runtime when each kernel and copy began and ended on the GPU [default:
    /// $ROCSHIM_GPU_TIME, else no]
    #[arg(long)]
    pub(crate) gpu_time: bool,
    /// The most runs with a change, and without it, where a decision follows the change
    #[arg(long = "runs", value_name = "N", default_value_t = USUAL_RUNS, value_parser = runs)]
    pub(crate) each: usize,
    /// Run the program once with and once without the change before the runs that count
    #[arg(long)]
    pub(crate) warm_up: bool,
    /// End a run after this time [default: 10 times the longest run so far and a minute more]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Print neither progress nor a tally
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) forms: Forms,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) program: Vec<OsString>,
}

fn runs(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(runs) if (LEAST_RUNS..=100).contains(&runs) => Ok(runs),
        _ => Err(format!("give a number from {LEAST_RUNS} to 100")),
    }
}

pub(super) const TRY_NOTES: &str = "\
CMD must end by itself: for a server, a script that starts it, asks and ends it. Its standard \
input is empty; its output goes to files in the folder -o, else nowhere. Traces are kept in that \
folder too; without -o they are removed once read.

A decision is the library, solution, solver and kernels that serve a GEMM or convolution (by \
function, shape and types), the family that serves a product of ggml, a library called or not. The \
order of the runs is random. Where no decision follows the change after two runs with it and two \
without, that is all. Else there are up to --runs of each, because a program that decides by \
chance or by how often it ran would often seem to follow the change. `confirmed`: the decision \
follows the change in all runs, is stable without it, nothing was lost, and chance would show the \
same in at most 1 of 1000 orders of the runs (8 of each, where no more than one other decision \
varies). A run that crashes, hangs or exits otherwise than the first does not show all: its \
decisions are limited.

Exit code 0: a decision follows the change, confirmed. 1: all decisions stay the same. 3: neither. \
125: rocshim itself failed, 126: CMD cannot be run, 127: it was not found; 2: the command line is \
wrong.

Examples:  rocshim try ROCBLAS_USE_HIPBLASLT=0 -- llama-bench -m model.gguf
           rocshim try --arg -fa --arg 1 -- llama-bench -m model.gguf";

pub(super) const BISECT_NOTES: &str = "\
CMD runs in A's environment with some of B's differences, until the smallest set is found that \
gives B's decisions. Variables of A and B are set over those of this shell. Of library folders \
each file that differs is a difference: CMD runs on a folder of links to files of either, first in \
LD_LIBRARY_PATH (of a folder without libraries: ROCBLAS_TENSILE_LIBPATH and \
HIPBLASLT_TENSILE_LIBPATH). `rocshim try --help` explains decisions and what is confirmed.

Exit code 0: a cause was found, confirmed. 1: none of the differences matters. 3: not decided (not \
stable, or limited). 125, 126, 127 and 2 as for try.

Example:  rocshim bisect traces-fast traces-slow -- llama-bench -m model.gguf";
