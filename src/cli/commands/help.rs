//! `rocshim help`: what stands behind words that the pages use.

use crate::args::Topic;
use anyhow::Result;
use rocshim_analysis::evidence_rules;
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn help(topic: Topic) -> Result<ExitCode> {
    match topic {
        Topic::Evidence => report::print(&report::evidence_rules(&evidence_rules()))?,
    }
    Ok(ExitCode::SUCCESS)
}
