//! `rocshim hooks`: lists the hooks, or what traces state about each.

use crate::{args, launch};
use anyhow::Result;
use rocshim_reader as reader;
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn hooks(args: &args::Hooks) -> Result<ExitCode> {
    if args.traces.is_empty() {
        list(args)?
    } else {
        table(args)?
    }
    Ok(ExitCode::SUCCESS)
}

fn list(args: &args::Hooks) -> Result<()> {
    let hooks = launch::hooks_of(&launch::find_shim(args.shim.as_deref())?)?;
    if args.json {
        return report::print_json(&hooks);
    }
    report::print(&report::hook_list(&hooks, args.signatures))
}

fn table(args: &args::Hooks) -> Result<()> {
    let functions = super::summary::summary_of(&reader::find_traces(&args.traces)?)?.functions;
    if args.json {
        return report::print_json(&functions);
    }
    report::print(&report::hook_table(&functions, args.all, &super::output_style(false, true)))
}
