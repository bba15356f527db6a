//! `rocshim recover`: finishes the traces of killed processes, and finds unfinished ones.

use crate::args;
use anyhow::{Context, Result, bail};
use rocshim_drain::Stale;
use rocshim_reader as reader;
use rocshim_reader::End;
use rocshim_report as report;
use rocshim_report::{Recovered, Recovery, StaleLine};
use rocshim_trace::Record;
use std::{path::Path, process::ExitCode};

pub(crate) fn recover(args: &args::Recover) -> Result<ExitCode> {
    if args.traces.is_empty() && !args.finish_all && !args.discard {
        let found: Vec<StaleLine> = rocshim_drain::stale().iter().map(line).collect();
        if args.json {
            report::print_json(&found)?;
        } else {
            report::print(&report::stale(&found, super::output_style(false, false).rows))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut files = Vec::new();
    let mut add = |trace: &Path, outcome: Result<Recovery>| {
        let outcome =
            outcome.unwrap_or_else(|error| Recovery::Failed { why: rocshim_reader::format_error(&error) });
        files.push(Recovered { trace: reader::name_of(trace), outcome });
    };
    if args.traces.is_empty() {
        for left in rocshim_drain::stale() {
            match (left.is_deleted, args.finish_all, args.discard) {
                (false, true, _) => add(&left.trace, finish(&left.trace)),
                (true, _, true) => add(&left.trace, discard(&left)),
                _ => {}
            }
        }
    } else {
        reader::find_traces(&args.traces)?.iter().for_each(|trace| add(&trace.path, finish(&trace.path)));
    }
    if args.json {
        report::print_json(&files)?;
    } else {
        report::print(&report::recovered(&files))?;
    }
    let failed = files.iter().any(|file| matches!(file.outcome, Recovery::Failed { .. }));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn line(left: &Stale) -> StaleLine {
    let files = left.rings.read_dir().into_iter().flatten().flatten();
    let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let shown = |path: &Path| path.display().to_string();
    StaleLine { trace: shown(&left.trace), rings: shown(&left.rings), bytes, is_deleted: left.is_deleted }
}

fn discard(left: &Stale) -> Result<Recovery> {
    left.discard().context("cannot be removed")?;
    Ok(Recovery::Discarded)
}

fn finish(trace: &Path) -> Result<Recovery> {
    if Path::new(&reader::name_of(trace)) != trace {
        bail!("is a copy, which cannot be finished: name the file that the process wrote");
    }
    let recovered = rocshim_drain::recover(trace).context("cannot be finished")?;
    if let Some(events) = recovered {
        return Ok(Recovery::Finished { events });
    }
    Ok(match reader::read_trace(trace, &mut NoRecords)?.end {
        End::Footer | End::Rotated | End::Leftover => Recovery::Whole,
        End::Running => Recovery::Running,
        End::Cut => Recovery::Lost,
    })
}

/// Reads no records: only how the file ends is needed.
struct NoRecords;

impl reader::RecordVisitor for NoRecords {
    fn visit(&mut self, _record: &Record) {}

    fn wants_arguments(&self, _kernel: Option<u32>) -> bool {
        false
    }
}
