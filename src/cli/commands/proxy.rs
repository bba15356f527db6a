//! `rocshim proxy`: compares a server's reports with what was launched.

use super::phases::phases_of;
use crate::args;
use anyhow::{Result, bail};
use rocshim_analysis as analysis;
use rocshim_reader as reader;
use rocshim_reader::responses::read_responses;
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn proxy(args: &args::Proxy) -> Result<ExitCode> {
    let responses = read_responses(&args.responses)?;
    let traces = reader::find_traces(&args.traces)?;
    let phases = phases_of(&traces, Vec::new(), true)?;
    let proxy = analysis::proxy(phases, responses);
    if let Some(mismatch) = proxy.mismatch {
        bail!(mismatch);
    }
    super::show(&args.forms, &proxy, |style| report::proxy(&proxy, style))?;
    Ok(ExitCode::SUCCESS)
}
