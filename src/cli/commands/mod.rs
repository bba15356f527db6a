//! The commands: each opens its input, runs an analysis and prints a page of `report`.

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
#[cfg(feature = "views")]
mod listen;
mod ollama;
mod phases;
mod proxy;
mod ranks;
mod recover;
#[cfg(feature = "views")]
mod report_page;
mod run;
mod sql;
mod summary;
#[cfg(feature = "views")]
mod tail;
#[cfg(feature = "views")]
mod top;
mod trying;
mod variables;
mod verify;
mod why;

use crate::args::{Command, Forms, When};
use anyhow::Result;
use rocshim_report as report;
use rocshim_report::{Form, Style};
use serde::Serialize;
use std::{
    io::{self, IsTerminal},
    process::ExitCode,
    sync::OnceLock,
};

/// When to colour text: set once, before anything is printed.
static COLOUR: OnceLock<When> = OnceLock::new();

/// Executes the command.
pub(crate) fn execute(command: Command, colour: When) -> Result<ExitCode> {
    COLOUR.get_or_init(|| colour);
    match command {
        Command::Run(args) => run::run(&args),
        Command::Summary(args) => summary::summary(&args),
        Command::Phases(args) => phases::phases(&args),
        Command::Proxy(args) => proxy::proxy(&args),
        Command::Ranks(args) => ranks::ranks(&args),
        Command::Why(args) => why::why(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Try(args) => trying::try_change(&args),
        Command::Bisect(args) => bisect::bisect(&args),
        #[cfg(feature = "views")]
        Command::Report(args) => report_page::report(&args),
        #[cfg(feature = "views")]
        Command::Export(args) => export::export(&args),
        Command::Sql(args) => sql::sql(&args),
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
        Command::Help(args) => help::help(&args),
        #[cfg(not(feature = "views"))]
        Command::Report(_) | Command::Export(_) | Command::Tail(_) | Command::Top(_) => anyhow::bail!(
            "this rocshim was built without report, export, tail and top; `cargo build --release` builds all"
        ),
    }
}

/// Returns true when text on standard output is coloured.
fn has_colour() -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match COLOUR.get() {
        Some(When::Always) => true,
        Some(When::Never) => false,
        Some(When::Auto) | None => {
            io::stdout().is_terminal()
                && set("NO_COLOR").is_none()
                && set("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Returns how tables are written to standard output: fitted to a terminal, in full into a file or
/// pipe.
fn output_style(full_names: bool, all: bool) -> Style {
    let width = report::width_of(io::stdout());
    Style {
        form: Form::Text,
        colour: has_colour(),
        width: width.filter(|_| !full_names),
        full_names,
        rows: (width.is_some() && !all).then_some(20),
        all,
    }
}

/// Prints `value` in the chosen format; `page` renders text and Markdown.
fn show(forms: &Forms, value: &impl Serialize, page: impl FnOnce(&Style) -> String) -> Result<()> {
    if let Some(table) = &forms.csv {
        return report::print_csv(value, table);
    }
    if forms.json {
        return report::print_json(value);
    }
    let style = match forms.md {
        true => Style { form: Form::Markdown, full_names: true, all: forms.all, ..Style::default() },
        false => output_style(forms.full_names, forms.all),
    };
    report::print(&page(&style))
}
