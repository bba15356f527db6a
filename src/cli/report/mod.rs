//! Numbers in, text out: one file for each thing that is shown.
//!
//! Floors, lowest first: `names` (kernel names to a width), `colour`, `table` (rows to aligned lines), `markdown` (the same in
//! Markdown), `section` (a title, a table, remarks), then the pages: `summary` and its `sections`, `hooks`, `tally`, `findings`,
//! `lists`, `phases`, `proxy`, `compare`, `replay`, `ctl`. `csv` writes one table of any page's JSON form; `page` is all of it as one HTML file. `top` draws the screen of a
//! terminal, `tail` writes a line for each call. `export` stands beside them:
//! timelines in the forms of other programs.

mod colour;
mod compare;
mod csv;
mod ctl;
mod export;
mod findings;
mod hooks;
mod lists;
mod markdown;
mod names;
mod page;
mod phases;
mod proxy;
mod replay;
mod section;
mod sections;
mod summary;
mod table;
mod tail;
mod tally;
mod top;

pub(crate) use compare::{compare, failed_conditions, observed};
pub(crate) use ctl::{State, Status, live_list, status};
pub(crate) use export::{Chrome, Csv, Exporter, FilePlace, FolderPlace, Parquet, Perfetto, columns};
pub(crate) use findings::findings;
pub(crate) use hooks::{hook_list, hook_table};
pub(crate) use lists::{Recovery, StaleLine, recovered, stale, variables, verified};
pub(crate) use page::{Shown, page};
pub(crate) use phases::phases;
pub(crate) use proxy::proxy;
pub(crate) use replay::replay;
pub(crate) use summary::summary;
pub(crate) use table::{Form, Style};
pub(crate) use tail::{line, news, object};
pub(crate) use tally::{nothing_seen, tally};
pub(crate) use top::{Screen, Tab, draw, length};

use rustix::termios::tcgetwinsize;
use std::{
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
};

/// One sentence to standard error, under our name.
pub(crate) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "rocshim: {sentence}");
}

/// Text to standard error, where nothing of the program's own output can be disturbed.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Text to standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// A value as JSON to standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print(&text)
}

/// One table of a value's JSON form as CSV to standard output.
pub(crate) fn print_csv(value: &impl serde::Serialize, table: &str) -> anyhow::Result<()> {
    let text = csv::csv(value, table)?;
    if text.is_empty() {
        complain(&format!("the table `{table}` has no rows"));
    }
    print(&text)
}

/// The width of the terminal that `stream` is; `None` where it is none. `COLUMNS` overrules.
pub(crate) fn width_of(stream: impl AsFd + IsTerminal) -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || tcgetwinsize(&stream).ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
    asked.or_else(|| stream.is_terminal().then(own).flatten())
}
