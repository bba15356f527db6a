//! The commands: each opens what it needs, asks the analysis, and hands the numbers to the report.

mod ctl;
mod doctor;
mod hooks;
mod recover;
mod run;
mod summary;
mod variables;
mod verify;

use crate::{args::Command, report::Style};
use anyhow::Result;
use std::{io, process::ExitCode};

/// Does what was asked.
pub(crate) fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Summary(args) => summary::summary(&args),
        Command::Hooks(args) => hooks::hooks(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Ctl(args) => ctl::ctl(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Recover(args) => recover::recover(&args),
        Command::Variables(args) => variables::variables(&args),
    }
}

/// How tables are written to standard output: fitted to a terminal, in full into a file or pipe.
fn output_style(full_names: bool, all: bool) -> Style {
    let width = crate::report::width_of(io::stdout());
    Style { width: width.filter(|_| !full_names), full_names, rows: (width.is_some() && !all).then_some(20) }
}
