//! `rocshim ranks`: which rank of a job the others wait for.

use super::summary::read_all;
use crate::args;
use anyhow::Result;
use rocshim_analysis::{RanksBuilder, Session};
use rocshim_reader as reader;
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn ranks(args: &args::Ranks) -> Result<ExitCode> {
    let traces = reader::find_traces(&args.traces)?;
    let mut builder = RanksBuilder::default();
    let session = read_all(&traces, Session::default(), vec![&mut builder])?;
    let mut ranks = builder.finish(args.steps);
    ranks.notes.extend(session.unread().iter().cloned());
    super::show(&args.forms, &ranks, |style| report::ranks(&ranks, style))?;
    Ok(ExitCode::SUCCESS)
}
