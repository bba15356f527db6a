//! The sections of the summary: each takes the summary and gives its text, or nothing where there is nothing to show.

mod calls;
mod coverage;
mod kernels;
mod processes;
mod troubles;

pub(crate) use calls::{convolutions, gemms, modules};
pub(crate) use coverage::{code_objects, libraries};
pub(crate) use kernels::{kernels, label};
pub(crate) use processes::processes;
pub(crate) use troubles::{failures, in_flight, losses};

use super::table::{Style, Table};

/// A title, a table, and remarks under it.
fn section(title: &str, table: &Table, style: &Style, remarks: &[String]) -> Option<String> {
    let mut text = format!("{title}\n{}", table.text(style));
    for remark in remarks {
        text.push_str(&format!("  {remark}\n"));
    }
    Some(text)
}
