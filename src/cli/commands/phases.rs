//! `rocshim phases`: what each phase of inference or training launched.

use super::summary::read_each;
use crate::args;
use anyhow::Result;
use rocshim_analysis::{Phases, PhasesBuilder};
use rocshim_reader as reader;
use rocshim_reader::TraceFile;
use rocshim_report as report;
use std::{path::Path, process::ExitCode};

pub(crate) fn phases(args: &args::Phases) -> Result<ExitCode> {
    let traces = reader::find_traces(&args.traces)?;
    let labels = match &args.labels {
        Some(path) => reader::read_labels(path)?,
        None => Vec::new(),
    };
    let phases = phases_of(&traces, PhasesBuilder::new(labels), args.steps)?;
    super::show(&args.forms, &phases, |style| report::phases(&phases, style))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads all files to phases; with every pass where `all_passes`.
pub(super) fn phases_of(
    traces: &[TraceFile],
    mut builder: PhasesBuilder,
    all_passes: bool,
) -> Result<Phases> {
    let read = |path: &Path| {
        builder.begin_file(path.display().to_string());
        reader::read_trace(path, &mut builder).map(|reading| builder.end_file(reading))
    };
    read_each(traces, read)?.into_iter().for_each(|why| builder.pass_over(why));
    Ok(builder.finish(all_passes))
}
