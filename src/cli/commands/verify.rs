//! `rocshim verify`: recounts every thread's events.

use crate::args;
use anyhow::Result;
use rocshim_analysis::{Session, Spine, Verdict, Verifier, find_missing_parts};
use rocshim_reader as reader;
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn verify(args: &args::Verify) -> Result<ExitCode> {
    let deleted = reader::find_deleted(&args.traces);
    let traces = match reader::find_traces(&args.traces) {
        // The folders have no other.
        Err(_) if !deleted.is_empty() && args.traces.iter().all(|path| path.is_dir()) => Vec::new(),
        found => found?,
    };
    let mut verifier = Verifier::default();
    for trace in &traces {
        let mut spine = Spine::new(Session::default(), vec![&mut verifier]);
        spine.begin_file(reader::name_of(&trace.path));
        match reader::read_trace(&trace.path, &mut spine) {
            Ok(reading) => spine.end_file(&reading),
            Err(error) => verifier.pass_over(reader::format_error(&error)),
        }
    }
    deleted.iter().for_each(|trace| verifier.pass_over_deleted(reader::name_of(trace)));
    let mut verified = verifier.finish();
    // A segment that is named itself is verified alone.
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
