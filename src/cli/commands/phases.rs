//! `rocshim phases`: prints what each phase of inference or training launched.

use super::summary::{read_all, scope};
use crate::args;
use anyhow::Result;
use rocshim_analysis::{Phases, PhasesBuilder, Session, SummaryBuilder};
use rocshim_reader as reader;
use rocshim_reader::{Label, TraceFile};
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn phases(args: &args::Phases) -> Result<ExitCode> {
    let traces = reader::find_traces(&args.traces)?;
    let labels = match &args.labels {
        Some(path) => reader::read_labels(path)?,
        None => Vec::new(),
    };
    let mut phases = phases_of(&traces, labels, args.passes)?;
    if let Some(name) = &args.phase {
        scope(&phases, name)?;
        phases.retain(name);
    }
    super::show(&args.forms, &phases, |style| report::phases(&phases, style))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads all files into phases, with the user's labels; with every pass if `all_passes`.
pub(super) fn phases_of(traces: &[TraceFile], labels: Vec<Label>, all_passes: bool) -> Result<Phases> {
    let (mut phases, mut summary) = (PhasesBuilder::new(labels), SummaryBuilder::default());
    let session = read_all(traces, Session::default(), vec![&mut phases, &mut summary])?;
    Ok(phases.finish(&session, &summary.finish(&session), all_passes))
}
