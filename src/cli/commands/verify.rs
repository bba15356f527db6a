//! `rocshim verify`: recounts every thread's events.

use crate::{
    analysis::{Verdict, Verified, Verifier},
    args, reader, report,
};
use anyhow::Result;
use std::{collections::BTreeMap, process::ExitCode};

pub(crate) fn verify(args: &args::Verify) -> Result<ExitCode> {
    let traces = reader::find_traces(&args.traces)?;
    let verified: Vec<Verified> = traces.iter().map(|trace| one(&trace.path)).collect();
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
        Err(error) => Verified {
            trace: name,
            verdict: Verdict::Wrong,
            threads: 0,
            produced: 0,
            written: 0,
            lost: 0,
            reasons: BTreeMap::new(),
            in_flight: 0,
            wrong: vec![crate::sentence::sentence(&error)],
        },
    }
}
