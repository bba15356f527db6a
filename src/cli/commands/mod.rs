//! The commands: each opens what it needs, asks the analysis, and hands the numbers to the report.

mod bisect;
mod compare;
mod ctl;
mod doctor;
#[cfg(feature = "views")]
mod export;
#[cfg(feature = "views")]
mod follow;
mod help;
mod hooks;
mod ollama;
mod phases;
mod proxy;
mod recover;
#[cfg(feature = "views")]
mod report_page;
mod run;
mod summary;
#[cfg(feature = "views")]
mod tail;
#[cfg(feature = "views")]
mod top;
mod trying;
mod variables;
mod verify;
mod why;

use crate::args::{Command, Forms};
use anyhow::Result;
use rocshim_report as report;
use rocshim_report::{Form, Style};
use serde::Serialize;
use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

/// Does what was asked.
pub(crate) fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Summary(args) => summary::summary(&args),
        Command::Phases(args) => phases::phases(&args),
        Command::Proxy(args) => proxy::proxy(&args),
        Command::Why(args) => why::why(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Try(args) => trying::try_change(&args),
        Command::Bisect(args) => bisect::bisect(&args),
        #[cfg(feature = "views")]
        Command::Report(args) => report_page::report(&args),
        #[cfg(feature = "views")]
        Command::Export(args) => export::export(&args),
        Command::Hooks(args) => hooks::hooks(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        #[cfg(feature = "views")]
        Command::Tail(args) => tail::tail(&args),
        #[cfg(feature = "views")]
        Command::Top(args) => top::top(&args),
        Command::Ctl(args) => ctl::ctl(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Recover(args) => recover::recover(&args),
        Command::Ollama(args) => ollama::ollama(&args),
        Command::Variables(args) => variables::variables(&args),
        Command::Help(args) => help::help(args.topic),
        #[cfg(not(feature = "views"))]
        Command::Report(_) | Command::Export(_) | Command::Tail(_) | Command::Top(_) => anyhow::bail!(
            "this rocshim was built without report, export, tail and top; `cargo build --release` builds all"
        ),
    }
}

/// How tables are written to standard output: fitted to a terminal, in full into a file or pipe.
fn output_style(full_names: bool, all: bool) -> Style {
    let width = report::width_of(io::stdout());
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
    Style {
        form: Form::Text,
        colour: io::stdout().is_terminal() && !is_plain,
        width: width.filter(|_| !full_names),
        full_names,
        rows: (width.is_some() && !all).then_some(20),
    }
}

/// Prints `value` in the form that was asked for; as text and as Markdown it is what `page` makes of it.
fn show(forms: &Forms, value: &impl Serialize, page: impl FnOnce(&Style) -> String) -> Result<()> {
    if let Some(table) = &forms.csv {
        return report::print_csv(value, table);
    }
    if forms.json {
        return report::print_json(value);
    }
    let style = match forms.md {
        true => Style { form: Form::Markdown, full_names: true, ..Style::default() },
        false => output_style(forms.full_names, forms.all),
    };
    report::print(&page(&style))
}
