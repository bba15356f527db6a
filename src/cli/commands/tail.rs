//! `rocshim tail`: prints each call as it is recorded.

use super::follow::follow;
use crate::args;
use anyhow::Result;
use rocshim_analysis::{Patterns, Tail, TraceChange, Wanted};
use rocshim_reader::Poll;
use rocshim_report as report;
use std::{
    io,
    process::ExitCode,
    thread::sleep,
    time::{Duration, Instant},
};

/// Interval between two reads while nothing arrives.
const PAUSE: Duration = Duration::from_millis(100);
/// Time of reading existing events after which a message says so.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) fn tail(args: &args::Tail) -> Result<ExitCode> {
    let (_, mut follower) = follow(&args.traces)?;
    let wanted = Wanted {
        kernels: Patterns::new(&args.kernels.kernel),
        families: Patterns::new(&args.kernels.family),
        libraries: Patterns::new(&args.library),
        processes: Patterns::new(&args.process),
    };
    let mut tail = Tail::new(wanted, args.lines, args.json);
    let mut reported = 0;
    let mut begun = Some(Instant::now());
    let mut has_caught_up = false;
    loop {
        let Poll { more, open } = follower.poll(&mut tail)?;
        for note in follower.notes().iter().skip(reported) {
            report::print_error(note);
        }
        reported = follower.notes().len();
        // The last lines are known once all were read; all lines can be written at once.
        if more && !has_caught_up && args.lines != usize::MAX {
            if begun.is_some_and(|begun| begun.elapsed() > PATIENCE) {
                report::print_error("reading what is there");
                begun = None;
            }
            continue;
        }
        if !has_caught_up && !more {
            tail.has_caught_up();
            has_caught_up = true;
        }
        write(&mut tail, args)?;
        if open == 0 && !more && follower.is_finite() {
            return Ok(ExitCode::SUCCESS);
        }
        if !more {
            sleep(PAUSE);
        }
    }
}

/// Writes what has arrived: first the processes that began, last those that ended.
fn write(tail: &mut Tail, args: &args::Tail) -> Result<()> {
    let (begun, ended): (Vec<_>, Vec<_>) =
        tail.take_changes().into_iter().partition(|(_, change)| *change == TraceChange::Begun);
    let print_changes = |tail: &Tail, all: Vec<(usize, TraceChange)>| {
        for (trace, change) in all {
            if let Some((process, path)) = tail.process(trace) {
                report::print_status(&rocshim_live::change(change, process, path));
            }
        }
    };
    print_changes(tail, begun);
    let width = report::width_of(io::stdout()).filter(|_| !args.full_names);
    let mut text = String::new();
    for (trace, row) in tail.take_rows() {
        let Some((process, _)) = tail.process(trace) else { continue };
        text += &match args.json {
            true => rocshim_live::object(&row, process)?,
            false => rocshim_live::line(&row, process, width),
        };
        text.push('\n');
    }
    if args.json {
        report::print_json_lines(&text)?
    } else {
        report::print(&text)?
    }
    print_changes(tail, ended);
    Ok(())
}
