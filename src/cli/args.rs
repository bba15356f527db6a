//! Defines and validates the command line: the options of each command, checked before anything is
//! done.

mod compare;
mod ctl;
mod export;
mod forms;
mod notes;
mod ollama;
mod ranks;
mod report;
mod sql;
mod tail;
#[cfg(test)]
mod tests;
mod top;
mod trying;
mod why;
mod wrong;

pub(crate) use compare::Compare;
pub(crate) use ctl::{Ctl, Switch, Verb};
pub(crate) use export::Export;
#[cfg(feature = "views")]
pub(crate) use export::To;
pub(crate) use forms::{Forms, KernelFilter, When};
pub(crate) use ollama::{Ollama, OllamaInstall, OllamaStep, OllamaUninstall};
pub(crate) use ranks::Ranks;
pub(crate) use report::Report;
pub(crate) use sql::Sql;
pub(crate) use tail::Tail;
pub(crate) use top::Top;
pub(crate) use trying::{Bisect, Runs, Try};
pub(crate) use why::Why;

use clap::{Args, Parser, Subcommand, error::ErrorKind};
use std::{ffi::OsString, path::PathBuf, process::ExitCode};

/// See which kernels, GEMMs and convolution solvers a ROCm program really uses, without a profiler.
#[derive(Parser)]
#[command(name = "rocshim", version, max_term_width = 100, disable_help_subcommand = true, after_help = notes::NOTES)]
struct CommandLine {
    /// When to colour text: auto, always, never
    #[arg(long, global = true, hide_possible_values = true, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    color: When,
    #[command(subcommand)]
    command: Command,
}

/// The command.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a program with librocshim.so preloaded, then print what it launched
    #[command(after_help = notes::RUN_NOTES)]
    Run(Run),
    /// Kernels, GEMMs, convolutions, failures, lost events and coverage of traces
    #[command(after_help = notes::SUMMARY_NOTES)]
    Summary(Summary),
    /// Prompt and decode, or forward and backward: what each step of a model launched
    #[command(after_help = notes::PHASES_NOTES)]
    Phases(Phases),
    /// Compare what a server reported for each request with what it launched
    #[command(after_help = notes::PROXY_NOTES)]
    Proxy(Proxy),
    /// Which rank of a job the others wait for, which differs, which is missing, and where it ended
    #[command(after_help = ranks::NOTES)]
    Ranks(Ranks),
    /// What decided which library, solution or kernel served a GEMM or convolution, and what would
    /// change it
    #[command(after_help = why::NOTES)]
    Why(Why),
    /// Differences between two or more runs: kernels, GEMMs, convolutions, times; a check for CI
    #[command(after_help = compare::NOTES)]
    Compare(Compare),
    /// Run a program with a change and without: which decisions follow it
    #[command(after_help = trying::TRY_NOTES)]
    Try(Try),
    /// Find the smallest difference between two environments that flips a decision
    #[command(after_help = trying::BISECT_NOTES)]
    Bisect(Bisect),
    /// Write one HTML page with the results of the commands above; it needs no network
    #[command(after_help = report::NOTES)]
    Report(Report),
    /// Write a timeline for Perfetto or Chrome, tables as CSV or Parquet, or a dataset for SQL
    #[command(after_help = export::NOTES)]
    Export(Export),
    /// Answer an SQL query over a dataset of `export --to dataset`, with DuckDB by Python
    #[command(after_help = sql::NOTES)]
    Sql(Sql),
    /// List the hooked functions; with traces: which were called, and the file each is bound to
    #[command(after_help = notes::HOOKS_NOTES)]
    Hooks(Hooks),
    /// Check what will and what will not be seen of a program or a running process
    Doctor(Doctor),
    /// Print each call as it is recorded: of a kernel, a family, a library, a process
    #[command(after_help = tail::NOTES)]
    Tail(Tail),
    /// Show what processes do now: launches per second, families, GEMMs, phases, lost events
    #[command(after_help = top::NOTES)]
    Top(Top),
    /// Control a process that records: status, stop, start, flush, snapshot
    #[command(after_help = ctl::NOTES)]
    Ctl(Ctl),
    /// Check that each event of each thread is in the traces, or counted as lost
    #[command(after_help = notes::VERIFY_NOTES)]
    Verify(Verify),
    /// Finish the traces of processes that were killed
    #[command(after_help = notes::RECOVER_NOTES)]
    Recover(Recover),
    /// Have Ollama's systemd service record, see how it is, and undo it; advice for containers
    #[command(after_help = ollama::NOTES)]
    Ollama(Ollama),
    /// List the ROCSHIM_* environment variables with their defaults
    Variables(Variables),
    /// Explain a topic: variables, tables, format, evidence, …; write man pages and completions
    Help(Help),
}

/// The options of `run`.
#[derive(Args)]
pub(crate) struct Run {
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
    /// Print neither progress nor a tally
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub(crate) program: Vec<OsString>,
}

/// The options of `summary`.
#[derive(Args)]
pub(crate) struct Summary {
    /// Trace files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Only phases of this name, as `rocshim phases` prints them: prompt, decode, …
    #[arg(long, value_name = "NAME", conflicts_with = "replay")]
    pub(crate) phase: Option<String>,
    #[command(flatten)]
    pub(crate) forms: Forms,
    #[command(flatten)]
    pub(crate) kernels: KernelFilter,
    /// Order of kernels and families: total (host time), launches, mean, name
    #[arg(long, hide_possible_values = true, value_enum, value_name = "KEY")]
    pub(crate) sort: Option<Sort>,
    /// Only the first N rows of each table
    #[arg(long, value_name = "N", conflicts_with_all = ["all", "json", "csv"])]
    pub(crate) top: Option<usize>,
    /// Print each problem as a command that runs it alone: rocblas-bench, hipblaslt-bench,
    /// MIOpenDriver
    #[arg(long, conflicts_with_all = ["full_names", "all", "md", "csv", "kernel", "family", "sort", "top"])]
    pub(crate) replay: bool,
}

/// The options of `phases`.
#[derive(Args)]
pub(crate) struct Phases {
    /// Trace files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Names for intervals: lines of JSON with `label` and, in Unix ns, `begin` and `end` (or
    /// `sent` and `received`, as the prompt ladder writes them)
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Only phases of this name, as `rocshim phases` prints them: prompt, decode, …
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: Option<String>,
    /// List every pass too
    #[arg(long)]
    pub(crate) passes: bool,
    #[command(flatten)]
    pub(crate) forms: Forms,
}

/// The options of `proxy`.
#[derive(Args)]
pub(crate) struct Proxy {
    /// Trace files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// What a server answered: files of samples/prompt_ladder.py, or JSON of Ollama or llama-server
    #[arg(long, required = true, value_name = "FILE")]
    pub(crate) responses: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) forms: Forms,
}

/// The options of `hooks`.
#[derive(Args)]
pub(crate) struct Hooks {
    /// Trace files, or folders of them
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
    /// The C signature of each function
    #[arg(long, conflicts_with = "traces")]
    pub(crate) signatures: bool,
    /// Leave nothing out: details and every row
    #[arg(long, requires = "traces")]
    pub(crate) all: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options of `doctor`.
#[derive(Args)]
pub(crate) struct Doctor {
    /// The program that you want to run, or the number of a running process
    #[arg(value_name = "CMD|PID", trailing_var_arg = true)]
    pub(crate) target: Vec<OsString>,
    /// The file or folder to write; `-` is standard output where a file is written
    #[arg(short, long = "out", value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Open these libraries and print their files: doctor's own process for that
    #[arg(long, hide = true, value_name = "LIST")]
    pub(crate) probe: Option<String>,
}

/// The options of `verify`.
#[derive(Args)]
pub(crate) struct Verify {
    /// Trace files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options of `recover`.
#[derive(Args)]
pub(crate) struct Recover {
    /// Trace files, or folders of them
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Finish the traces of all killed processes of yours
    #[arg(long, conflicts_with = "traces")]
    pub(crate) finish_all: bool,
    /// Remove the ring files of killed processes whose trace, or its folder, was deleted
    #[arg(long, conflicts_with = "traces")]
    pub(crate) discard: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options of `variables`.
#[derive(Args)]
pub(crate) struct Variables {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
}

/// The options of `help`.
#[derive(Args)]
pub(crate) struct Help {
    /// The topic, or a command; without: this command's help
    pub(crate) topic: Option<String>,
    /// Write a man page for each command to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "topic")]
    pub(crate) man: Option<PathBuf>,
    /// Print a completion script
    #[arg(long, value_name = "SHELL", conflicts_with_all = ["topic", "man"])]
    pub(crate) completions: Option<clap_complete::Shell>,
}

/// The order of a summary's kernels and families, largest first.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sort {
    /// Host time of all launch calls
    Total,
    /// Launches
    Launches,
    /// Host time of one launch call
    Mean,
    /// Name, from A to Z
    Name,
}

impl Command {
    /// Exit code when rocshim itself fails: distinct from that of the program of `run`, and from
    /// that of a condition of `compare` that holds.
    pub(crate) fn own_failure(&self) -> u8 {
        match self {
            Command::Run(_) | Command::Try(_) | Command::Bisect(_) => 125,
            Command::Compare(_) => 2,
            _ => 1,
        }
    }
}

/// Parses the command line: when to colour text, and the command. Prints help and the version; an
/// invalid line gives one sentence and exit code 2.
pub(crate) fn parse(version: fn() -> String) -> Result<(When, Command), ExitCode> {
    CommandLine::try_parse().map(|line| (line.color, line.command)).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => {
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayVersion => {
            let _ = rocshim_report::print(&format!("rocshim {}", version()));
            ExitCode::SUCCESS
        }
        _ => {
            rocshim_report::print_error(&wrong::sentence(&error));
            ExitCode::from(2)
        }
    })
}

/// Returns the definition of the command line, from which the parser, help, man pages and
/// completions are generated.
pub(crate) fn definition() -> clap::Command {
    use clap::CommandFactory;
    let mut definition = CommandLine::command();
    definition.build();
    definition
}
