//! `rocshim variables`: lists the environment variables that the shim reads.

use crate::{args, launch};
use anyhow::Result;
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn variables(args: &args::Variables) -> Result<ExitCode> {
    let variables = launch::variables_of(&launch::find_shim(args.shim.as_deref())?)?;
    if args.json {
        report::print_json(&variables)?;
        return Ok(ExitCode::SUCCESS);
    }
    report::print(&report::variables(&variables, &super::output_style(false, true)))?;
    Ok(ExitCode::SUCCESS)
}
