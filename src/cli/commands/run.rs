//! `rocshim run`: runs a program under the shim, then prints a tally.

use crate::{
    args,
    launch::{self, PreflightWarning, Recorded, Recording},
};
use anyhow::Result;
use rocshim_drain::failure::{self, Failures};
use rocshim_reader as reader;
use rocshim_reader::TraceFile;
use rocshim_report as report;
use rocshim_trace::out_path::common_folder;
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

/// Grace period for processes that end together with the program, before they count as still
/// running.
const GRACE: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &args::Run) -> Result<ExitCode> {
    let how = Recording {
        shim: args.shim.as_deref(),
        only: args.only.as_deref(),
        skip: args.skip.as_deref(),
        gpu_time: args.gpu_time,
    };
    let recorded = match Recorded::find(&args.program[0], &how)? {
        Ok(recorded) => recorded,
        Err(not_started) => {
            report::print_error(&not_started.why);
            return Ok(ExitCode::from(not_started.code));
        }
    };
    let out = launch::chosen_path(args.out.as_deref())?;
    let folder = common_folder(&out);
    launch::prepare_folder(&folder)?;
    let before: BTreeSet<PathBuf> = reader::traces_below(&folder)?.into_iter().collect();
    let preflight_warnings = recorded.preflight_warnings(&args.program);
    for warning in &preflight_warnings {
        report::print_error(&format!("{}: {}", warning.what, warning.advice));
    }
    let mut command = recorded.command(&args.program[1..], &out);
    // If the system has no memory for it, failures to record are not reported.
    let failures = Failures::new().ok();
    if let Some(failures) = &failures {
        command.env(failure::VARIABLE, failures.name());
    }
    let ending = match launch::run_child(&mut command) {
        Ok(ending) => ending,
        Err(error) => {
            report::print_error(&format!(
                "{} cannot be executed: {}",
                recorded.path.display(),
                rocshim_reader::format_error(&error)
            ));
            return Ok(ExitCode::from(126));
        }
    };
    // Whatever fails from here on, the program's exit status is returned.
    let failed = failures.and_then(|failures| failures.seen());
    if let Some((processes, lack)) = failed {
        report::print_error(&report::unrecorded(processes, lack, &folder));
    }
    if let Err(error) = print_tally(args, &folder, &before, &preflight_warnings, failed.is_some()) {
        report::print_error(&format!(
            "the program has ended, but its traces cannot be read: {}",
            rocshim_reader::format_error(&error)
        ));
    }
    Ok(ExitCode::from(ending.follow()))
}

/// Finishes the traces of this run and prints the tally.
fn print_tally(
    args: &args::Run,
    folder: &Path,
    before: &BTreeSet<PathBuf>,
    preflight_warnings: &[PreflightWarning],
    has_failed: bool,
) -> Result<()> {
    let traces: Vec<PathBuf> =
        reader::traces_below(folder)?.into_iter().filter(|path| !before.contains(path)).collect();
    let recovered = recover(&traces);
    if args.quiet {
        return Ok(());
    }
    // The reason is printed already, and a report that nothing was called would be wrong.
    let is_empty = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() == 0);
    if has_failed && traces.iter().all(is_empty) {
        return Ok(());
    }
    if traces.is_empty() {
        report::print_status(&report::nothing_seen(
            &preflight_warnings.iter().map(|warning| warning.what.clone()).collect::<Vec<_>>(),
            folder,
        ));
        return Ok(());
    }
    let files: Vec<TraceFile> = traces.into_iter().map(|path| TraceFile { path, named: false }).collect();
    let summary = super::summary::summary_of(&files)?;
    let style =
        report::Style { width: report::width_of(io::stderr()).or(Some(100)), ..report::Style::default() };
    report::print_status(&report::tally(&summary, folder, recovered, &style));
    Ok(())
}

/// Finishes the files of processes that have died; returns the number of events saved by that.
fn recover(traces: &[PathBuf]) -> u64 {
    let deadline = Instant::now() + GRACE;
    let mut recovered = 0;
    for trace in traces {
        while reader::writer_is_running(trace) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        match rocshim_drain::recover(trace) {
            Ok(events) => recovered += events.unwrap_or(0),
            Err(error) => report::print_error(&format!("cannot recover {}: {error}", trace.display())),
        }
    }
    recovered
}
