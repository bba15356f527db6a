//! Runs the program once, and reads what it decided.

use super::Setup;
use crate::{
    args::Runs,
    launch::{self, Bounded, Ending, NotStarted, Recorded, Recording},
};
use anyhow::{Context, Result, bail};
use rocshim_analysis::{Decisions, Measure, Session, Spine, Summary, SummaryBuilder};
use rocshim_reader as reader;
use rocshim_report as report;
use std::{
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

/// Grace period for processes that end together with the program, before they count as still
/// running.
const GRACE: Duration = Duration::from_millis(500);
/// Time that a run may take beyond 10 times the longest run so far.
const ALLOWANCE: Duration = Duration::from_secs(60);

/// A run.
pub(crate) struct Ran {
    pub(crate) decisions: Decisions,
    pub(crate) measures: Vec<Measure>,
    /// How it ended: `exit 0`, `signal 11`, `ended after 60 s`.
    pub(crate) ending: String,
    /// True when some process recorded something.
    pub(crate) has_trace: bool,
}

/// Runs a program repeatedly.
pub(crate) struct Runner<'a> {
    recorded: Recorded,
    arguments: &'a [OsString],
    /// The folder of all runs: the requested one, or one that is removed.
    folder: PathBuf,
    scratch: Option<tempfile::TempDir>,
    timeout: Option<Duration>,
    longest: Option<Duration>,
    /// Exit code of the first run. A run with another one ended differently.
    usual: Option<u8>,
    quiet: bool,
    made: usize,
}

impl<'a> Runner<'a> {
    /// Prepares to run the program.
    ///
    /// # Errors
    /// When the shim or the folder cannot be used.
    pub(crate) fn new(args: &'a Runs) -> Result<Result<Runner<'a>, NotStarted>> {
        let how = Recording {
            shim: args.shim.as_deref(),
            only: args.only.as_deref(),
            skip: args.skip.as_deref(),
            gpu_time: args.gpu_time,
        };
        let (name, arguments) = args.program.split_first().context("there is no program to run")?;
        let recorded = match Recorded::find(name, &how)? {
            Ok(recorded) => recorded,
            Err(not_started) => return Ok(Err(not_started)),
        };
        for warning in recorded.preflight_warnings(&args.program) {
            report::print_error(&format!("{}: {}", warning.what, warning.advice));
        }
        let scratch = match &args.out {
            Some(_) => None,
            None => Some(tempfile::tempdir().context("cannot create a folder for the traces; give -o DIR")?),
        };
        let folder = match &scratch {
            Some(scratch) => scratch.path().to_path_buf(),
            None => launch::chosen_folder(args.out.as_deref())?,
        };
        launch::prepare_folder(&folder)?;
        Ok(Ok(Runner {
            recorded,
            arguments,
            folder,
            scratch,
            timeout: args.timeout.map(Duration::from_secs),
            longest: None,
            usual: None,
            quiet: args.quiet,
            made: 0,
        }))
    }

    /// Returns a folder for files that runs need, which exists as long as the traces.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets the number of the next run, after those of an earlier bisection.
    pub(crate) fn continue_from(&mut self, made: usize, usual: Option<u8>) {
        (self.made, self.usual) = (made, usual);
    }

    /// Exit code of the first run that exited.
    pub(crate) fn usual(&self) -> Option<u8> {
        self.usual
    }

    /// Runs the program once. `what` describes the run in the line that is printed.
    ///
    /// # Errors
    /// When the program cannot be started, its traces cannot be read, or rocshim is interrupted.
    pub(crate) fn run(&mut self, setup: &Setup, what: &str) -> Result<Ran> {
        self.made += 1;
        let folder = self.folder.join(format!("run-{:03}", self.made));
        launch::prepare_folder(&folder)?;
        let mut command = self.recorded.command(&setup.arguments(self.arguments), &folder);
        setup.apply(&mut command);
        command.stdin(Stdio::null());
        match self.scratch {
            Some(_) => command.stdout(Stdio::null()).stderr(Stdio::null()),
            None => {
                let file = |name| File::create(folder.join(name)).context("cannot keep the program's output");
                command.stdout(file("stdout")?).stderr(file("stderr")?)
            }
        };
        let limit = self.timeout.or(self.longest.map(|longest| 10 * longest + ALLOWANCE));
        let run = launch::run_bounded(&mut command, limit)
            .with_context(|| format!("{} cannot be executed", self.recorded.path.display()))?;
        if run.interrupted.is_some() {
            bail!("interrupted in run {}", self.made);
        }
        let ran = self.read(&folder, run)?;
        if self.scratch.is_some() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        if !self.quiet {
            let seconds = run.wall.as_secs_f64();
            report::print_status(&format!("run {}: {what}: {seconds:.2} s, {}\n", self.made, ran.ending));
        }
        Ok(ran)
    }

    fn read(&mut self, folder: &Path, run: Bounded) -> Result<Ran> {
        let traces = reader::traces_in(folder)?;
        finish(&traces);
        let summary = summary_of(&traces)?;
        let mut measures = vec![Measure { name: "wall".into(), ns: nanoseconds(run.wall) }];
        let launches = summary.kernels.iter().map(|row| row.total_ns).sum();
        measures.push(Measure { name: "launch calls (host)".into(), ns: launches });
        if let Some(gpu) = &summary.gpu {
            measures.push(Measure { name: "GPU busy".into(), ns: gpu.busy_ns });
        }
        let mut decisions = Decisions::of(summary);
        if let Some(why) = self.limit(run) {
            decisions.limit_all(&why);
        } else if traces.is_empty() {
            decisions.limit_all(
                "a run recorded nothing: no hooked function was called, or the shim was not loaded",
            );
        }
        if !run.timed_out {
            self.longest = self.longest.max(Some(run.wall));
        }
        let ending = match run.ending {
            _ if run.timed_out => format!("ended after {:.0} s", run.wall.as_secs_f64()),
            Ending::Exit(code) => format!("exit {code}"),
            Ending::Signal(signal) => format!("signal {signal}"),
        };
        Ok(Ran { decisions, measures, ending, has_trace: !traces.is_empty() })
    }

    /// Returns why the run does not show every decision of the program.
    fn limit(&mut self, run: Bounded) -> Option<String> {
        match run.ending {
            _ if run.timed_out => {
                Some(format!("a run was ended after {:.0} s: it took too long", run.wall.as_secs_f64()))
            }
            Ending::Signal(signal) => Some(format!("a run died by signal {signal}")),
            Ending::Exit(code) => {
                let usual = *self.usual.get_or_insert(code);
                (code != usual).then(|| format!("a run exited with code {code}, the first one with {usual}"))
            }
        }
    }
}

/// Finishes the traces of killed processes.
fn finish(traces: &[PathBuf]) {
    let deadline = Instant::now() + GRACE;
    for trace in traces {
        while reader::writer_is_running(trace) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        if let Err(error) = rocshim_drain::recover(trace) {
            report::print_error(&format!("cannot recover {}: {error}", trace.display()));
        }
    }
}

/// Reads all traces of a run into one summary.
fn summary_of(traces: &[PathBuf]) -> Result<Summary> {
    let mut builder = SummaryBuilder::default();
    let mut spine = Spine::new(Session::default(), vec![&mut builder]);
    for trace in traces {
        spine.begin_file(trace.display().to_string());
        let reading = reader::read_trace(trace, &mut spine)?;
        spine.end_file(&reading);
    }
    let session = spine.finish();
    Ok(builder.finish(&session))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
