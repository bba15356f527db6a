//! `rocshim tail`: each call as it comes.

use super::follow::follow;
use crate::args;
use anyhow::Result;
use rocshim_analysis::{News, Patterns, Tail, Wanted};
use rocshim_reader::Look;
use rocshim_report as report;
use std::{
    io,
    process::ExitCode,
    thread::sleep,
    time::{Duration, Instant},
};

/// Between two looks where nothing has come.
const PAUSE: Duration = Duration::from_millis(100);
/// For so long what is there is read before anything is said about it.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) fn tail(args: &args::Tail) -> Result<ExitCode> {
    let (_, mut follower) = follow(&args.traces)?;
    let wanted = Wanted {
        kernels: Patterns::new(&args.kernel),
        families: Patterns::new(&args.family),
        libraries: Patterns::new(&args.library),
        processes: Patterns::new(&args.process),
    };
    let mut tail = Tail::new(wanted, args.lines, args.json);
    let mut told = 0;
    let mut begun = Some(Instant::now());
    let mut has_caught_up = false;
    loop {
        let Look { more, open } = follower.look(&mut tail)?;
        for note in follower.notes().iter().skip(told) {
            report::complain(note);
        }
        told = follower.notes().len();
        // The last lines are known when all were read; all lines can be written at once.
        if more && !has_caught_up && args.lines != usize::MAX {
            if begun.is_some_and(|begun| begun.elapsed() > PATIENCE) {
                report::complain("reading what is there");
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

/// Writes what has come: first what became of traces that were not there before, last of those that are gone.
fn write(tail: &mut Tail, args: &args::Tail) -> Result<()> {
    let (begun, ended): (Vec<_>, Vec<_>) =
        tail.take_news().into_iter().partition(|(_, news)| *news == News::Begun);
    let tell = |tail: &Tail, all: Vec<(usize, News)>| {
        for (trace, news) in all {
            if let Some((process, path)) = tail.process(trace) {
                report::say(&rocshim_live::news(news, process, path));
            }
        }
    };
    tell(tail, begun);
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
    report::print(&text)?;
    tell(tail, ended);
    Ok(())
}
