//! `rocshim summary`: the tables of one or more traces, or the problems in them as lines for benchmark programs.

use super::phases::phases_of;
use crate::args;
use anyhow::{Result, anyhow};
use rocshim_analysis::{Analysis, Phases, Replay, Replays, Scope, Session, Spine, Summary, SummaryBuilder};
use rocshim_reader as reader;
use rocshim_reader::TraceFile;
use rocshim_report as report;
use std::{path::Path, process::ExitCode};

pub(crate) fn summary(args: &args::Summary) -> Result<ExitCode> {
    let traces = reader::find_traces(&args.traces)?;
    if args.replay {
        let replay = replay_of(&traces)?;
        match args.forms.json {
            true => report::print_json(&replay)?,
            false => report::print(&report::replay(&replay))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let session = match &args.phase {
        None => Session::default(),
        Some(phase) => Session::scoped(scope(&phases_of(&traces, Vec::new(), false)?, phase)?),
    };
    let summary = summary_by(session, SummaryBuilder::default(), &traces)?;
    super::show(&args.forms, &summary, |style| report::summary(&summary, style))?;
    Ok(ExitCode::SUCCESS)
}

/// The scope of the phases of this name.
pub(super) fn scope(phases: &Phases, name: &str) -> Result<Scope> {
    phases.scope(name).ok_or_else(|| match phases.names().as_slice() {
        [] => anyhow!("nothing was launched: there are no phases"),
        names => anyhow!("there is no phase `{name}`; there are: {}", names.join(", ")),
    })
}

/// Reads all files to one summary.
pub(super) fn summary_of(traces: &[TraceFile]) -> Result<Summary> {
    summary_by(Session::default(), SummaryBuilder::default(), traces)
}

/// Reads what is in the scope of `session` of all files to one summary, which `builder` makes.
pub(super) fn summary_by(
    session: Session,
    mut builder: SummaryBuilder,
    traces: &[TraceFile],
) -> Result<Summary> {
    let session = read_all(traces, session, vec![&mut builder])?;
    Ok(builder.finish(&session))
}

fn replay_of(traces: &[TraceFile]) -> Result<Replay> {
    let mut replays = Replays::default();
    let session = read_all(traces, Session::default(), vec![&mut replays])?;
    Ok(replays.finish(&session))
}

/// Reads all files once, for all `analyses`.
pub(super) fn read_all(
    traces: &[TraceFile],
    session: Session,
    analyses: Vec<&mut dyn Analysis>,
) -> Result<Session> {
    let mut spine = Spine::new(session, analyses);
    let read = |path: &Path| {
        spine.begin_file(path.display().to_string());
        reader::read_trace(path, &mut spine).map(|reading| spine.end_file(&reading))
    };
    read_each(traces, read)?.into_iter().for_each(|why| spine.pass_over(why));
    Ok(spine.finish())
}

/// Reads all files. One that was named must be readable; one that a folder held is passed over, as long as another one can
/// be read: gives why, a sentence each.
pub(super) fn read_each(
    traces: &[TraceFile],
    mut read: impl FnMut(&Path) -> Result<()>,
) -> Result<Vec<String>> {
    reader::check_once(traces)?;
    let (mut unread, mut first) = (Vec::new(), None);
    for trace in traces {
        match read(&trace.path) {
            Ok(()) => {}
            Err(error) if trace.named => return Err(error),
            Err(error) => {
                unread.push(rocshim_reader::format_error(&error));
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if unread.len() == traces.len() => Err(error),
        _ => Ok(unread),
    }
}
