//! `rocshim summary`: prints the tables of one or more traces, or the problems in them as command
//! lines of benchmark programs.

use super::phases::phases_of;
use crate::args;
use anyhow::{Result, anyhow};
use rocshim_analysis::{
    Analysis, Patterns, Phases, Replay, Replays, Scope, Session, Spine, Summary, SummaryBuilder,
};
use rocshim_reader as reader;
use rocshim_reader::TraceFile;
use rocshim_report as report;
use std::{cmp::Reverse, path::Path, process::ExitCode};

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
    let mut summary = match &args.phase {
        None => summary_of(&traces)?,
        Some(phase) => {
            let session = Session::scoped(scope(&phases_of(&traces, Vec::new(), false)?, phase)?);
            summary_by(session, SummaryBuilder::default(), &traces)?
        }
    };
    choose(&mut summary, args);
    super::show(&args.forms, &summary, |style| {
        let rows = args.top.or(style.rows);
        report::summary(&summary, &report::Style { rows, ..*style })
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Filters and sorts the kernels and families as requested.
fn choose(summary: &mut Summary, args: &args::Summary) {
    let (kernel, family) = (Patterns::new(&args.kernels.kernel), Patterns::new(&args.kernels.family));
    summary.keep_kernels(&kernel, &family);
    match args.sort {
        None => {}
        Some(args::Sort::Total) => {
            summary.kernels.sort_by_key(|row| Reverse(row.total_ns));
            summary.families.sort_by_key(|row| Reverse(row.total_ns));
        }
        Some(args::Sort::Launches) => {
            summary.kernels.sort_by_key(|row| Reverse(row.launches));
            summary.families.sort_by_key(|row| Reverse(row.launches));
        }
        Some(args::Sort::Mean) => {
            let mean = |total: u64, launches: u64| Reverse(total / launches.max(1));
            summary
                .kernels
                .sort_by_key(|row| mean(row.total_ns, row.launches + row.captured - row.by_graphs));
            summary
                .families
                .sort_by_key(|row| mean(row.total_ns, row.launches + row.captured - row.by_graphs));
        }
        Some(args::Sort::Name) => {
            summary.kernels.sort_by(|a, b| {
                a.demangled.as_ref().unwrap_or(&a.name).cmp(b.demangled.as_ref().unwrap_or(&b.name))
            });
            summary.families.sort_by_key(|row| (row.of, row.family));
        }
    }
}

/// Returns the scope of the phases with this name.
pub(super) fn scope(phases: &Phases, name: &str) -> Result<Scope> {
    phases.scope(name).ok_or_else(|| match phases.names().as_slice() {
        [] => anyhow!("nothing was launched: there are no phases"),
        names => anyhow!("there is no phase `{name}`; there are: {}", names.join(", ")),
    })
}

/// Reads all files into one summary.
pub(super) fn summary_of(traces: &[TraceFile]) -> Result<Summary> {
    summary_by(Session::default(), SummaryBuilder::default(), traces)
}

/// Reads what is in the scope of `session` of all files into one summary, built by `builder`.
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
        spine.begin_file(reader::name_of(path));
        reader::read_trace(path, &mut spine).map(|reading| spine.end_file(&reading))
    };
    read_each(traces, read)?.into_iter().for_each(|why| spine.pass_over(why));
    Ok(spine.finish())
}

/// Reads all files. A named file must be readable; one found in a folder is skipped if it is not,
/// unless none can be read. Returns why files were skipped, one sentence each.
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
