//! `rocshim recover`: finishes the files of processes that were killed, on disk.

use crate::{
    args,
    reader::{self, End},
    report::{self, Recovery},
};
use anyhow::{Context, Result};
use rocshim_trace::Record;
use std::{path::Path, process::ExitCode};

pub(crate) fn recover(args: &args::Recover) -> Result<ExitCode> {
    let mut files = Vec::new();
    for trace in reader::find_traces(&args.traces)? {
        let outcome =
            finish(&trace.path).unwrap_or_else(|error| Recovery::Failed(crate::sentence::sentence(&error)));
        files.push((trace.path.display().to_string(), outcome));
    }
    report::print(&report::recovered(&files))?;
    let failed = files.iter().any(|(_, outcome)| matches!(outcome, Recovery::Failed(_)));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn finish(trace: &Path) -> Result<Recovery> {
    let recovered = rocshim_drain::recover(trace).context("cannot be finished")?;
    if let Some(events) = recovered {
        return Ok(Recovery::Finished(events));
    }
    Ok(match reader::read_trace(trace, &mut Nobody)?.end {
        End::Footer | End::Rotated | End::Leftover => Recovery::Whole,
        End::Running => Recovery::Running,
        End::Cut => Recovery::Lost,
    })
}

/// Only how a file ends is wanted.
struct Nobody;

impl reader::Taker for Nobody {
    fn take(&mut self, _record: Record) {}

    fn wants_arguments(&self, _kernel: Option<u32>) -> bool {
        false
    }
}
