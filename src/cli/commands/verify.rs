//! `rocshim verify`: recounts every thread's events.

use crate::args;
use anyhow::Result;
use rocshim_analysis::{Verdict, Verified, Verifier, find_missing_parts};
use rocshim_reader as reader;
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn verify(args: &args::Verify) -> Result<ExitCode> {
    let traces = reader::find_traces(&args.traces)?;
    let mut verified: Vec<Verified> = traces.iter().map(|trace| one(&trace.path)).collect();
    // A part that is named itself is looked at by itself.
    if !traces.iter().any(|trace| trace.named) {
        find_missing_parts(&mut verified);
    }
    if args.json {
        report::print_json(&verified)?;
    } else {
        report::print(&report::verified(&verified))?;
    }
    let is_wrong = verified.iter().any(|one| one.verdict == Verdict::Wrong);
    Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn one(path: &std::path::Path) -> Verified {
    let (name, mut verifier) = (path.display().to_string(), Verifier::default());
    match reader::read_trace(path, &mut verifier) {
        Ok(reading) => verifier.finish(name, reading),
        Err(error) => {
            let wrong = vec![rocshim_reader::format_error(&error)];
            Verified { trace: name, wrong, ..Verified::default() }
        }
    }
}
