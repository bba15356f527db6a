//! `rocshim doctor`: checks what will and will not be seen, before running.

use crate::{args, doctor};
use anyhow::Result;
use rocshim_report as report;
use rocshim_report::{Finding, Level};
use std::{io, path::Path, process::ExitCode};

pub(crate) fn doctor(args: &args::Doctor) -> Result<ExitCode> {
    if let Some(list) = &args.probe {
        report::print(&doctor::probe(list))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut findings = Vec::new();
    let shim = doctor::shim(args.shim.as_deref(), &mut findings);
    doctor::machine(args.out.as_deref(), shim.as_ref(), &mut findings);
    match args.target.as_slice() {
        [] => doctor::any_program(shim.as_ref(), &mut findings),
        [one] if pid(one).is_some() => doctor::process(pid(one).unwrap_or(0), shim.as_ref(), &mut findings),
        line => doctor::program(line, shim.as_ref(), &mut findings),
    }
    print(&findings, args.json)
}

/// Prints findings; the exit code is a failure if one is.
pub(super) fn print(findings: &[Finding], as_json: bool) -> Result<ExitCode> {
    match as_json {
        true => report::print_json(&json(findings))?,
        false => report::print(&report::findings(findings, report::width_of(io::stdout())))?,
    }
    let failed = findings.iter().any(|finding| finding.level == Level::Fail);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The findings, as `--json` prints them.
fn json(findings: &[Finding]) -> serde_json::Value {
    let level = |level| match level {
        Level::Ok => "ok",
        Level::Warn => "warn",
        Level::Fail => "fail",
    };
    let row = |finding: &Finding| {
        serde_json::json!({
            "level": level(finding.level),
            "subject": finding.subject,
            "what": finding.what,
            "next_step": finding.advice,
        })
    };
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok);
    serde_json::json!({
        "format": 1,
        "verdict": level(worst),
        "findings": findings.iter().map(row).collect::<Vec<_>>(),
    })
}

fn pid(target: &std::ffi::OsString) -> Option<u32> {
    Path::new(target).to_str()?.parse().ok()
}
