//! Renders the results of analyses as text, Markdown, CSV and JSON; one module for each page.
//!
//! Layers, lowest first: `names` (kernel names to a width), `colour`, `visible` (control characters
//! shown), `table` (rows to aligned lines), `wrap` (prepared text to a width), `label` (kernels by
//! names that differ), `markdown` (the same in Markdown), `section` (a described table with its
//! rows, a title, remarks); `sections` and `summary`, `hooks`, `tally`, `findings`, `lists`,
//! `phases`, `proxy`, `ranks`, `compare`, `trying`, `replay`, `ctl`, `rules`, `why` (one page
//! each); `tables` (what help says of them); `csv` (one table of any page's JSON form); `place` (a
//! file or folder that gets its name when it is whole), `slices` (what a row of a timeline says of
//! itself).

#![forbid(unsafe_code)]

mod colour;
mod compare;
mod csv;
mod ctl;
mod findings;
mod hooks;
mod label;
mod lists;
mod markdown;
pub mod names;
mod phases;
mod place;
mod proxy;
mod ranks;
mod replay;
mod rules;
mod section;
mod sections;
pub mod slices;
mod summary;
mod table;
mod tables;
mod tally;
mod trying;
mod visible;
mod why;
mod wrap;

pub use compare::{compare, failed_conditions, observed};
pub use ctl::{State, Status, live_list, status};
pub use findings::{Finding, Level, findings};
pub use hooks::{HookLine, hook_list, hook_table};
pub use lists::{Recovered, Recovery, StaleLine, VariableLine, recovered, stale, variables, verified};
pub use phases::phases;
pub use place::{FilePlace, FolderPlace};
pub use proxy::{NO_TIMES as NO_PROXY_TIMES, proxy, proxy_tally};
pub use ranks::ranks;
pub use replay::replay;
pub use rules::evidence_rules;
pub use sections::{MISSING_GPU_TIMES, gpu_remarks};
pub use summary::summary;
pub use table::{Form, Style};
pub use tables::tables;
pub use tally::{nothing_seen, tally, unrecorded};
pub use trying::{bisection, trial};
pub use visible::visible;
pub use why::{steering_variables, why};
pub use wrap::wrapped;

use visible::{visible_json, visible_lines};

use rustix::termios::tcgetwinsize;
use std::{
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
};

/// Prints a sentence to standard error, after `rocshim: `.
pub fn print_error(sentence: &str) {
    let _ = writeln!(io::stderr(), "rocshim: {}", visible(sentence));
}

/// Prints text to standard error, so that a program's output on standard output is not disturbed.
pub fn print_status(text: &str) {
    let _ = io::stderr().write_all(visible_lines(text).as_bytes());
}

/// Prints text to standard output: escapes control characters, and converts colours to terminal
/// sequences.
pub fn print(text: &str) -> anyhow::Result<()> {
    write(&colour::for_terminal(&visible_lines(text)))
}

/// Prints a value as JSON to standard output.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write(&visible_json(&text))
}

/// Prints JSON lines to standard output.
pub fn print_json_lines(lines: &str) -> anyhow::Result<()> {
    write(&visible_json(lines))
}

/// Prints one table of a value's JSON form as CSV to standard output; unescaped into a file or a
/// pipe.
pub fn print_csv(value: &impl serde::Serialize, table: &str) -> anyhow::Result<()> {
    let text = csv::csv(value, table)?;
    if text.is_empty() {
        print_error(&format!("the table `{table}` has no rows"));
    }
    if io::stdout().is_terminal() { print(&text) } else { write(&text) }
}

fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Returns the width of a terminal, in columns; `None` if `stream` is not a terminal. The variable
/// `COLUMNS` overrides both.
pub fn width_of(stream: impl AsFd + IsTerminal) -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || tcgetwinsize(&stream).ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
    asked.or_else(|| stream.is_terminal().then(own).flatten())
}
