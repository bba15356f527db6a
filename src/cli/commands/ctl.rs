//! `rocshim ctl`: controls a recording process: status, stop, start, flush, snapshot.

use crate::{
    args::{self, Switch, Verb},
    doctor,
};
use anyhow::{Context, Result, anyhow, bail};
use rocshim_analysis::units::{bytes, counted, time};
use rocshim_drain::live::{Absent, CollectorStats, Live, Request, Silence};
use rocshim_report as report;
use rocshim_report::{State, Status};
use rocshim_trace::{Record, parse_line};
use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(crate) fn ctl(args: &args::Ctl) -> Result<ExitCode> {
    if args.out.is_some() && args.verb != Verb::Snapshot {
        bail!("-o is for a snapshot: see rocshim ctl --help");
    }
    if args.state.is_some() != (args.verb == Verb::GpuTime) {
        bail!("gpu-time is switched on or off, and nothing else is: see rocshim ctl --help");
    }
    let Some(pid) = args.pid else { return list(args.json) };
    let live = Live::find(pid).map_err(|absent| anyhow!("{}", why(pid, &absent)))?;
    match args.verb {
        Verb::Status => status(&live, args)?,
        Verb::Stop | Verb::Start => turn(&live, args)?,
        Verb::GpuTime => gpu_time(&live, args)?,
        Verb::Flush => flush(&live, args)?,
        Verb::Snapshot => snapshot(&live, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn send(live: &Live, request: Request, args: &args::Ctl) -> Result<CollectorStats> {
    live.send(request, patience(args)).map_err(|silence| anyhow!("{}", silent(live, silence, args.wait)))
}

fn patience(args: &args::Ctl) -> Duration {
    Duration::from_secs(args.wait.into())
}

fn status(live: &Live, args: &args::Ctl) -> Result<()> {
    // A process that does not reply at once is listed with its last known state.
    let (account, silence) = match live.send(Request::Stats, patience(args).min(Duration::from_secs(1))) {
        Ok(account) => (Some(account), None),
        Err(silence @ Silence::Ended) => bail!("{}", silent(live, silence, args.wait)),
        Err(silence) => (live.account(), Some(silence)),
    };
    let status = status_of(live, account, silence)?;
    if args.json { report::print_json(&status) } else { report::print(&report::status(&status)) }
}

fn status_of(live: &Live, account: Option<CollectorStats>, silence: Option<Silence>) -> Result<Status> {
    let account = account.unwrap_or_default();
    let rings = live.rings().context("cannot read the ring files")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let since = if account.since == 0 { live.began_unix_ns() } else { live.unix_ns(account.since) };
    let fullest = rings.iter().max_by(|a, b| (a.filled * b.slots).cmp(&(b.filled * a.slots)));
    let lost = Live::loss_reasons().iter().zip(account.lost).filter(|(_, lost)| *lost != 0);
    Ok(Status {
        pid: live.pid,
        exe: live.header.exe.clone(),
        argv: live.header.argv.clone(),
        state: if account.stopped { State::Stopped } else { State::Recording },
        for_ns: now.saturating_sub(since),
        trouble: silence.map(|silence| what_silences(silence).into()).or_else(|| {
            account
                .failing
                .then(|| "its trace cannot be written: events wait in the rings, then are lost".into())
        }),
        trace: live.file().display().to_string(),
        bytes: live.written_bytes(),
        flight_recorder: live.is_flight_recorder(),
        threads: account.threads,
        threads_ended: account.ended,
        calls: rings.iter().map(|ring| ring.produced).sum(),
        written: account.written,
        lost: lost.map(|(reason, lost)| (reason.to_string(), lost)).collect(),
        ring_slots: rings.iter().map(|ring| ring.slots).max().unwrap_or(0),
        fullest_ring: fullest.map_or(0.0, |ring| ring.filled as f64 / ring.slots.max(1) as f64),
        fullest_thread: fullest.map(|ring| ring.tid),
        slots_in_use: rings.iter().map(|ring| ring.filled).sum(),
        memory: account.memory,
        reserved: account.reserved,
        collector_ns: account.collector_ns,
    })
}

fn turn(live: &Live, args: &args::Ctl) -> Result<()> {
    let before = live.account().is_some_and(|account| account.stopped);
    let request = if args.verb == Verb::Stop { Request::Stop } else { Request::Start };
    let stopped = send(live, request, args)?.stopped;
    let already = if stopped == before { " already" } else { "" };
    let pid = live.pid;
    report::print(&match stopped {
        true => format!("{pid}: stopped{already}; `rocshim ctl {pid} start` records again\n"),
        false => format!("{pid}: recording{already}, to {}\n", live.file().display()),
    })
}

fn gpu_time(live: &Live, args: &args::Ctl) -> Result<()> {
    let on = args.state == Some(Switch::On);
    send(live, if on { Request::GpuTimeOn } else { Request::GpuTimeOff }, args)?;
    let (pid, file) = (live.pid, live.file());
    report::print(&match on {
        true => format!("{pid}: the HIP runtime is asked for GPU times from here on: {}\n", file.display()),
        false => format!("{pid}: the HIP runtime is not asked for GPU times any more\n"),
    })
}

fn flush(live: &Live, args: &args::Ctl) -> Result<()> {
    let pid = live.pid;
    if live.is_flight_recorder() {
        bail!(
            "process {pid} is a flight recorder (ROCSHIM_FULL=overwrite), whose rings are written when it ends: `rocshim ctl {pid} snapshot` writes what they hold now"
        );
    }
    let account = send(live, Request::Flush, args)?;
    let file = live.file();
    let trace = file.display();
    if account.failing {
        bail!(
            "{trace} cannot be written (is the disk full?): what was recorded waits in the rings of process {pid}"
        );
    }
    File::open(&file).and_then(|file| file.sync_all()).with_context(|| format!("cannot sync {trace}"))?;
    let (events, size) = (counted(account.written, "event"), bytes(live.written_bytes()));
    report::print(&format!("{pid}: {events} on disk, {size}: {trace}\n"))
}

fn snapshot(live: &Live, args: &args::Ctl) -> Result<()> {
    let (path, mut file) = snapshot_file(live, args.out.as_deref())?;
    let written = if live.is_flight_recorder() {
        flight(live, args, &mut file)
    } else {
        send(live, Request::Flush, args)
            .and_then(|_| Ok((live.copy_trace(&mut file)?, part_of(&path)?)))
            .map(|(length, part)| format!("{} of {part} up to now", bytes(length)))
    };
    let what = match written {
        Ok(what) => what,
        Err(error) => {
            let _ = std::fs::remove_file(&path);
            return Err(error.context(format!("no snapshot of process {}", live.pid)));
        }
    };
    report::print(&format!("{}: {what}: {}\n", live.pid, path.display()))
}

/// Describes a copy of a trace, by its header.
fn part_of(copy: &Path) -> Result<String> {
    let mut line = Vec::new();
    BufReader::new(File::open(copy)?).read_until(b'\n', &mut line)?;
    Ok(match parse_line(&line) {
        Ok(Record::Header(header)) if header.part() > 1 => format!("part {} of the trace", header.part()),
        _ => "the trace".into(),
    })
}

fn flight(live: &Live, args: &args::Ctl, file: &mut File) -> Result<String> {
    let snapshot = live.snapshot(patience(args))?;
    file.write_all(&snapshot.lines)?;
    file.sync_all()?;
    let (first, last) = snapshot.span.unwrap_or_default();
    let (events, threads) = (counted(snapshot.events, "event"), counted(snapshot.threads, "thread"));
    let before = counted(snapshot.lost, "event");
    Ok(format!("the last {events} of {threads}, {}, after {before} that are not kept", time(last - first)))
}

/// Creates the file of a snapshot: the requested one, or the next in the folder `snapshots` beside
/// the trace. Not beside the trace itself, where a reader of the folder would read everything
/// twice.
fn snapshot_file(live: &Live, asked: Option<&Path>) -> Result<(PathBuf, File)> {
    let create =
        |path: &Path| OpenOptions::new().write(true).read(true).create_new(true).mode(0o600).open(path);
    if let Some(path) = asked {
        let file = create(path).with_context(|| format!("cannot make {}", path.display()))?;
        return Ok((path.to_path_buf(), file));
    }
    let folder = live.trace.with_file_name("snapshots");
    let cannot = || format!("cannot make a snapshot in {}, choose a file with -o FILE", folder.display());
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).with_context(cannot)?;
    let name = live.trace.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.split(".ndjson").next().unwrap_or_default();
    for number in 1.. {
        let path = folder.join(format!("{name}-{number}.ndjson"));
        match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (path, file)).with_context(cannot),
        }
    }
    unreachable!("the loop returns")
}

fn list(json: bool) -> Result<ExitCode> {
    let mut rows = Vec::new();
    let mut others = Vec::new();
    for pid in Live::all() {
        match Live::find(pid) {
            Ok(live) => rows.push(status_of(&live, live.account(), None)?),
            Err(Absent::NoProcess) => {}
            Err(absent) => others.push(why(pid, &absent)),
        }
    }
    if json {
        report::print_json(&rows)?;
    } else {
        report::print(&report::live_list(&rows, &others, &super::output_style(false, true)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns why a process cannot be controlled, and the next step, in a sentence.
fn why(pid: u32, absent: &Absent) -> String {
    let (what, advice) = doctor::why(pid, absent);
    format!("{what}: {advice}")
}

fn what_silences(silence: Silence) -> &'static str {
    match silence {
        Silence::Ended => "it has ended",
        Silence::Stopped => "it is stopped by a signal or a debugger: this is what it said last",
        Silence::NoCollector => "its collector thread is gone: what it records stays in the rings",
        Silence::Late => "it does not answer: this is what it said last",
        Silence::Sandboxed => {
            "it does not answer: if it has locked itself into its sandbox (seccomp), what it records stays in the rings"
        }
    }
}

/// Returns why there was no reply, and the next step.
fn silent(live: &Live, silence: Silence, wait: u32) -> String {
    let (pid, file) = (live.pid, live.file());
    let trace = file.display();
    match silence {
        Silence::Ended => format!("process {pid} has ended: `rocshim summary {trace}` reads what it left"),
        Silence::Stopped => format!(
            "process {pid} is stopped by a signal or a debugger and cannot answer: let it go on (`kill -CONT {pid}`) and ask again"
        ),
        Silence::NoCollector => format!(
            "process {pid} has no collector thread any more (it could not be started, or has failed): what is recorded stays in its rings, and `rocshim recover {trace}` writes it once the process has ended"
        ),
        Silence::Sandboxed => format!(
            "process {pid} has not answered within {wait} s, and is in a sandbox (seccomp): if it has locked itself in, nothing is written for it any more, and `rocshim recover {trace}` writes what its rings hold once it has ended"
        ),
        Silence::Late => {
            format!(
                "process {pid} has not answered within {wait} s: ask again, with a longer --wait if it is busy"
            )
        }
    }
}
