//! `rocshim recover`: finishes the files of processes that were killed, on disk.

use crate::{args, reader, report};
use anyhow::{Context, Result};
use std::process::ExitCode;

pub(crate) fn recover(args: &args::Recover) -> Result<ExitCode> {
    let mut lines = Vec::new();
    for trace in reader::find_traces(&args.traces)? {
        let name = trace.path.display();
        let recovered =
            rocshim_drain::recover(&trace.path).with_context(|| format!("cannot recover {name}"))?;
        lines.push((name.to_string(), recovered));
    }
    report::print(&report::recovered(&lines))?;
    Ok(ExitCode::SUCCESS)
}
