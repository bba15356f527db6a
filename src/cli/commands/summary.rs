//! `rocshim summary`: the tables of one or more traces.

use crate::{
    analysis::{Summary, SummaryBuilder},
    args, reader, report,
};
use anyhow::Result;
use std::process::ExitCode;

pub(crate) fn summary(args: &args::Summary) -> Result<ExitCode> {
    let summary = summary_of(&reader::find_traces(&args.traces)?)?;
    if args.json {
        report::print_json(&summary)?;
    } else {
        report::print(&report::summary(&summary, &super::output_style(args.full_names, args.all)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads all files. One that was named must be readable; one that a folder held is passed over with a note, as long
/// as another one can be read.
pub(super) fn summary_of(traces: &[reader::TraceFile]) -> Result<Summary> {
    let mut builder = SummaryBuilder::new();
    let mut read = 0;
    let mut unreadable = None;
    for trace in traces {
        builder.begin_file(trace.path.display().to_string());
        match reader::read_trace(&trace.path, &mut builder) {
            Ok(reading) => {
                builder.end_file(reading);
                read += 1;
            }
            Err(error) if trace.named => return Err(error),
            Err(error) => {
                builder.pass_over(crate::sentence::sentence(&error));
                unreadable.get_or_insert(error);
            }
        }
    }
    match unreadable {
        Some(error) if read == 0 => Err(error),
        _ => Ok(builder.finish()),
    }
}
