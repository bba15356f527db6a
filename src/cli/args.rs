//! The command line: what each command takes, checked before anything is done.

mod compare;
mod ctl;
mod export;
mod forms;
mod ollama;
mod report;
mod tail;
mod top;
mod trying;
mod why;

pub(crate) use compare::Compare;
pub(crate) use ctl::{Ctl, Switch, Verb};
pub(crate) use export::Export;
#[cfg(feature = "views")]
pub(crate) use export::To;
pub(crate) use forms::Forms;
pub(crate) use ollama::{Ollama, OllamaInstall, OllamaStep, OllamaUninstall};
pub(crate) use report::Report;
pub(crate) use tail::Tail;
pub(crate) use top::Top;
pub(crate) use trying::{Bisect, Runs, Try};
pub(crate) use why::Why;

use clap::{Args, Parser, Subcommand, error::ErrorKind};
use std::{ffi::OsString, path::PathBuf, process::ExitCode};

/// See which kernels, GEMMs and convolution solvers a ROCm program really uses, without a profiler.
#[derive(Parser)]
#[command(name = "rocshim", version, max_term_width = 100, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a program with librocshim.so preloaded, then print what it launched
    #[command(after_help = RUN_NOTES)]
    Run(Run),
    /// Kernels, GEMMs, convolutions, failures, lost events and coverage of traces
    #[command(after_help = SUMMARY_NOTES)]
    Summary(Summary),
    /// Prompt and decode, or forward and backward: what each step of a model launched
    #[command(after_help = PHASES_NOTES)]
    Phases(Phases),
    /// Compare what a server reported for each request with what it launched
    #[command(after_help = PROXY_NOTES)]
    Proxy(Proxy),
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
    /// Write one HTML page with all of that; it needs no network
    #[command(after_help = report::NOTES)]
    Report(Report),
    /// Write a timeline for Perfetto or Chrome, or tables as CSV or Parquet
    #[command(after_help = export::NOTES)]
    Export(Export),
    /// List the hooked functions; with traces: which were called, and the file each is bound to
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
    #[command(after_help = VERIFY_NOTES)]
    Verify(Verify),
    /// Finish the traces of processes that were killed
    #[command(after_help = RECOVER_NOTES)]
    Recover(Recover),
    /// Have Ollama's systemd service record, see how it is, and undo it; advice for containers
    #[command(after_help = ollama::NOTES)]
    Ollama(Ollama),
    /// List the ROCSHIM_* environment variables with their defaults
    Variables(Variables),
    /// What stands behind a word: `help evidence` lists the rules by which statements are made
    Help(Help),
}

const RUN_NOTES: &str = "\
Input and output are the program's own; rocshim prints to standard error when the program has ended. The exit code is
the program's; 125: rocshim itself failed, 126: the program cannot be run, 127: it was not found. A program that dies
by a signal ends rocshim by the same signal.

Example:  rocshim run -o traces -- ollama serve";

const SUMMARY_NOTES: &str = "\
A folder stands for all its .ndjson and .ndjson.zst files. Times are host times: how long the program's own call took,
not how long the GPU worked. On a terminal, tables show their first rows and fit its width; in a file or a pipe, all
rows are written.

--phase: calls that make no event (a hooked function that only sets something) are counted per process; for a phase
they are limited.

--json prints one object: format (1), phase (if one was given), epoch (Unix nanoseconds, to which first_ns and last_ns
are relative), totals, unseen (why there may have been more), processes, families, kernels, gemms, convolutions,
streams, threads, gaps, modules, code_objects, libraries, functions, failures, losses, in_flight, notes. Times are
integers in nanoseconds (…_ns); `evidence` is confirmed, confirmed_absent, inferred, limited or unresolved, and `why`
gives the reason.

--csv TABLE takes one of these: `rocshim summary --csv kernels traces`. A nested value has a name with a dot
(shape.grid), a list of numbers is one cell separated by blanks, a list of objects is one cell of JSON.";

const PHASES_NOTES: &str = "\
A pass is one evaluation of a model. It ends with a copy to the host or, for a chunk of a prompt, where the same
weights come again. Its columns (ne11) are those that most of its matrix multiplications have; its tokens are the
columns of all its passes. A pass whose last multiplication has fewer columns than the others evaluates a prompt; a
pass with a single column decodes a token. A program that trains has forward, backward and optimiser instead. roctx
ranges, rocshim.h and --labels take precedence. All of this is inferred, by the rule that is printed with it.

--json prints one object: format (1), epoch, processes, phases, kinds (all phases of a kind, with their kernels by
name), libraries, losses, notes and, with --steps, passes. Times are ns since the epoch (…_ns).";

const PROXY_NOTES: &str = "\
RESPONSES are the files that samples/prompt_ladder.py writes, or the JSON answers of Ollama or llama-server, streamed
or not. A request is what was launched between the times at which it was sent and answered; without such times,
requests and answers are matched in order, if there are as many of both.

For each request three statements are compared with the launches: how many tokens of the prompt were evaluated (ne11,
chunk by chunk), by which kernels (up to 8 columns: MMVQ, more: MMQ), and how many tokens were generated. Each is
confirmed, contradicted by observation, inferred, limited or unresolved, with the rule. The clock of the client must be
that of the traced machine.

--json prints one object: format (1), epoch, requests, others (passes in no request's time), processes, losses, notes.

Example:  rocshim run -o traces -- llama-server -m model.gguf &
          samples/prompt_ladder.py --server llama-server --tokens 7-12,290 --out answers.ndjson
          rocshim proxy traces answers.ndjson";

const VERIFY_NOTES: &str = "\
A trace is right when every line is a record, everything that a line refers to was defined before it, and for each
thread produced = written + lost: written are the events in the file, each once, and lost are those that its gaps
count. What a killed process left in its ring files counts as written. The exit code is 1 when something is wrong, and
when that cannot be decided because the ring files of a killed process are gone.

A process that still runs has no totals yet: what it has written so far is checked.";

const RECOVER_NOTES: &str = "\
Without TRACE: lists the ring files that killed processes of yours have left, with the traces that they belong to, and
changes nothing. --all finishes all of these; --discard removes the ring files of those whose trace's folder is gone.";

/// The options of `run`.
#[derive(Args)]
pub(crate) struct Run {
    /// Folder for the traces [default: $ROCSHIM_OUT, else ./rocshim-out]
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
    /// Record only programs whose name or path matches one of these patterns: `ollama,llama*`
    /// [default: $ROCSHIM_ONLY, else all]
    #[arg(long, value_name = "LIST")]
    pub(crate) only: Option<String>,
    /// Do not record programs that match: `sh,bash,git*` [default: $ROCSHIM_SKIP, else none]
    #[arg(long, value_name = "LIST")]
    pub(crate) skip: Option<String>,
    /// Ask the HIP runtime when each kernel and copy began and ended on the GPU [default:
    /// $ROCSHIM_GPU_TIME, else no]
    #[arg(long)]
    pub(crate) gpu_time: bool,
    /// Print nothing when all is well
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
    /// Print each problem as a command that runs it alone: rocblas-bench, hipblaslt-bench,
    /// MIOpenDriver
    #[arg(long, conflicts_with_all = ["full_names", "all", "md", "csv"])]
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
    /// List every pass too
    #[arg(long)]
    pub(crate) steps: bool,
    #[command(flatten)]
    pub(crate) forms: Forms,
}

/// The options of `proxy`.
#[derive(Args)]
pub(crate) struct Proxy {
    /// A trace file, or a folder of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Files of responses
    #[arg(required = true, value_name = "RESPONSES")]
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
    /// JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options of `doctor`.
#[derive(Args)]
pub(crate) struct Doctor {
    /// The program that you want to run, or the number of a running process
    #[arg(value_name = "CMD|PID", trailing_var_arg = true)]
    pub(crate) target: Vec<OsString>,
    /// Folder for the traces [default: $ROCSHIM_OUT, else ./rocshim-out]
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
    /// JSON instead of text
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
    /// JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options of `recover`.
#[derive(Args)]
pub(crate) struct Recover {
    /// Trace files, or folders of them
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Finish everything that killed processes have left
    #[arg(long, conflicts_with = "traces")]
    pub(crate) all: bool,
    /// Remove what they have left for traces whose folder is gone
    #[arg(long, conflicts_with = "traces")]
    pub(crate) discard: bool,
}

/// The options of `variables`.
#[derive(Args)]
pub(crate) struct Variables {
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
}

/// The options of `help`.
#[derive(Args)]
pub(crate) struct Help {
    /// `evidence`: each rule with its class, and the premises that it follows from
    pub(crate) topic: Topic,
}

/// What `help` tells of.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Topic {
    Evidence,
}

impl Command {
    /// The exit code when rocshim itself fails: `run` must not be mistaken for its program, nor `compare` for a condition that is so.
    pub(crate) fn own_failure(&self) -> u8 {
        match self {
            Command::Run(_) | Command::Try(_) | Command::Bisect(_) => 125,
            Command::Compare(_) => 2,
            _ => 1,
        }
    }
}

/// Reads the command line. Help and `version` are printed here; a wrong line is one sentence and exit code 2.
pub(crate) fn parse(version: fn() -> String) -> Result<Command, ExitCode> {
    CommandLine::try_parse().map(|line| line.command).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => {
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayVersion => {
            let _ = rocshim_report::print(&format!("rocshim {}", version()));
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            rocshim_report::complain(&wrong_line(&error.to_string()));
            ExitCode::from(2)
        }
    })
}

/// The parser's page as one sentence: its first lines up to the empty one, and its tip.
fn wrong_line(page: &str) -> String {
    let words = |lines: &str| lines.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = page.split("\n\n").next().unwrap_or(page);
    let mut sentence = words(first.trim_start_matches("error: "));
    if let Some((_, tip)) = page.split_once("tip: ") {
        sentence = format!("{sentence}; {}", words(tip.lines().next().unwrap_or("")));
    }
    let usage = page.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("rocshim");
    let command = usage.split(' ').take_while(|word| !word.starts_with(['[', '<', '-']));
    format!("{sentence}; see {} --help", command.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &[&str]) -> Result<Command, clap::Error> {
        CommandLine::try_parse_from(line).map(|line| line.command)
    }

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        CommandLine::command().debug_assert();
    }

    #[test]
    fn options_after_the_program_are_the_programs() {
        for line in [
            &["rocshim", "run", "-q", "--", "prog", "-o", "x"][..],
            &["rocshim", "run", "-q", "prog", "-o", "x"],
        ] {
            let Ok(Command::Run(run)) = parsed(line) else { panic!("not a run") };
            assert_eq!(run.program, ["prog", "-o", "x"]);
            assert!(run.quiet && run.out.is_none());
        }
    }

    #[test]
    fn a_wrong_option_before_the_program_is_not_the_program() {
        let error = parsed(&["rocshim", "run", "--quit", "--", "prog"]).err().expect("an error").to_string();
        assert_eq!(
            wrong_line(&error),
            "unexpected argument '--quit' found; a similar argument exists: '--quiet'; see rocshim run --help"
        );
    }

    #[test]
    fn a_wrong_option_is_one_sentence() {
        let error = parsed(&["rocshim", "summary", "--jsn", "x"]).err().expect("an error").to_string();
        assert_eq!(
            wrong_line(&error),
            "unexpected argument '--jsn' found; a similar argument exists: '--json'; see rocshim summary --help"
        );
        let error = parsed(&["rocshim", "summary"]).err().expect("an error").to_string();
        assert_eq!(
            wrong_line(&error),
            "the following required arguments were not provided: <TRACE>...; see rocshim summary --help"
        );
    }
}
