//! `rocshim run`: a program under the shim, and a tally of what it did.

use crate::{
    args,
    launch::{self, Choice, Program, Trap},
};
use anyhow::Result;
use rocshim_reader as reader;
use rocshim_reader::TraceFile;
use rocshim_report as report;
use std::{
    collections::BTreeSet,
    env, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    thread,
    time::{Duration, Instant},
};

/// How long processes that are ending together with the program may take before they count as still running.
const GRACE: Duration = Duration::from_millis(500);

/// What HIP 7.2 must be started with to be asked for GPU times (see `hook/tracer` of the shim).
const NAMES_OF_GRAPHS: &str = "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING";

pub(crate) fn run(args: &args::Run) -> Result<ExitCode> {
    let shim = launch::find_shim(args.shim.as_deref())?;
    let preload = launch::preload_value(&shim, env::var_os("LD_PRELOAD").as_deref())?;
    let name = &args.program[0];
    let path = match launch::find_program(name) {
        Program::Found(path) => path,
        Program::NotExecutable(path) => {
            report::complain(&format!("{} cannot be executed", path.display()));
            return Ok(ExitCode::from(126));
        }
        Program::Missing => {
            report::complain(&format!("{}: command not found", name.to_string_lossy()));
            return Ok(ExitCode::from(127));
        }
    };
    let folder = launch::chosen_folder(args.out.as_deref())?;
    launch::prepare_folder(&folder)?;
    let before: BTreeSet<PathBuf> = reader::traces_in(&folder)?.into_iter().collect();
    let choice = Choice::new(args.only.as_deref(), args.skip.as_deref());
    let mut traps = launch::traps(&path, &args.program);
    traps.extend(choice.trap(&path));
    for trap in &traps {
        report::complain(&format!("{}: {}", trap.what, trap.advice));
    }
    let mut command = Command::new(&path);
    command.arg0(name).args(&args.program[1..]).env("LD_PRELOAD", preload).env("ROCSHIM_OUT", &folder);
    if args.gpu_time {
        command.env("ROCSHIM_GPU_TIME", "on");
        if std::env::var_os(NAMES_OF_GRAPHS).is_none() {
            command.env(NAMES_OF_GRAPHS, "0");
        }
    }
    command.envs(choice.variables());
    let ending = match launch::run_child(&mut command) {
        Ok(ending) => ending,
        Err(error) => {
            report::complain(&format!(
                "{} cannot be executed: {}",
                path.display(),
                rocshim_reader::format_error(&error)
            ));
            return Ok(ExitCode::from(126));
        }
    };
    // Whatever goes wrong from here on, the program's ending is what counts.
    if let Err(error) = tell(args, &folder, &before, &traps) {
        report::complain(&format!(
            "the program has ended, but its traces cannot be read: {}",
            rocshim_reader::format_error(&error)
        ));
    }
    Ok(ExitCode::from(ending.follow()))
}

/// Finishes the traces of this run and prints the tally.
fn tell(args: &args::Run, folder: &Path, before: &BTreeSet<PathBuf>, traps: &[Trap]) -> Result<()> {
    let traces: Vec<PathBuf> =
        reader::traces_in(folder)?.into_iter().filter(|path| !before.contains(path)).collect();
    let recovered = recover(&traces);
    if args.quiet {
        return Ok(());
    }
    if traces.is_empty() {
        report::say(&report::nothing_seen(
            &traps.iter().map(|trap| trap.what.clone()).collect::<Vec<_>>(),
            folder,
        ));
        return Ok(());
    }
    let files: Vec<TraceFile> = traces.into_iter().map(|path| TraceFile { path, named: false }).collect();
    let summary = super::summary::summary_of(&files)?;
    let style =
        report::Style { width: report::width_of(io::stderr()).or(Some(100)), ..report::Style::default() };
    report::say(&report::tally(&summary, folder, recovered, &style));
    Ok(())
}

/// Finishes the files of processes that have died; gives the number of events that this saved.
fn recover(traces: &[PathBuf]) -> u64 {
    let deadline = Instant::now() + GRACE;
    let mut recovered = 0;
    for trace in traces {
        while reader::writer_is_running(trace) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        match rocshim_drain::recover(trace) {
            Ok(events) => recovered += events.unwrap_or(0),
            Err(error) => report::complain(&format!("cannot recover {}: {error}", trace.display())),
        }
    }
    recovered
}
