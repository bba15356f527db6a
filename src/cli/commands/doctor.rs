//! `rocshim doctor`: what will and will not be seen, before running.

use crate::{args, doctor};
use anyhow::Result;
use rocshim_report as report;
use rocshim_report::Level;
use std::{io, path::Path, process::ExitCode};

pub(crate) fn doctor(args: &args::Doctor) -> Result<ExitCode> {
    let mut findings = Vec::new();
    let shim = doctor::shim(args.shim.as_deref(), &mut findings);
    doctor::machine(args.out.as_deref(), shim.as_ref(), &mut findings);
    match args.target.as_slice() {
        [] => {}
        [one] if pid(one).is_some() => doctor::process(pid(one).unwrap_or(0), shim.as_ref(), &mut findings),
        line => doctor::program(line, shim.as_ref(), &mut findings),
    }
    report::print(&report::findings(&findings, report::width_of(io::stdout())))?;
    let failed = findings.iter().any(|finding| finding.level == Level::Fail);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn pid(target: &std::ffi::OsString) -> Option<u32> {
    Path::new(target).to_str()?.parse().ok()
}
