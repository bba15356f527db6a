//! Short lists: the environment variables, and what was recovered.

use super::table::{Column, Style, Table};
use crate::launch::VariableLine;
use crate::units::counted;

/// The environment variables that the shim reads.
pub(crate) fn variables(variables: &[VariableLine], style: &Style) -> String {
    let mut table = Table::new(&[Column::Left("variable"), Column::Left("default"), Column::Text("meaning")]);
    for row in variables {
        table.row(vec![row.name.clone(), row.default.clone(), row.meaning.clone()]);
    }
    table.text(style)
}

/// What became of a file that was to be finished.
pub(crate) enum Recovery {
    /// So many events were added to it.
    Finished(u64),
    /// It has its end already.
    Whole,
    /// Its process still runs and will end it.
    Running,
    /// Its process and its ring files are gone.
    Lost,
    /// It could not be read or written, and why.
    Failed(String),
}

/// A line for each file.
pub(crate) fn recovered(files: &[(String, Recovery)]) -> String {
    let line = |(name, outcome): &(String, Recovery)| match outcome {
        Recovery::Finished(events) => format!("{name}: finished, {} recovered\n", counted(*events, "event")),
        Recovery::Whole => format!("{name}: whole already\n"),
        Recovery::Running => format!("{name}: its process still runs, nothing to do\n"),
        Recovery::Lost => format!("{name}: its ring files are gone, nothing more can be recovered\n"),
        Recovery::Failed(why) => format!("{name}: {why}\n"),
    };
    files.iter().map(line).collect()
}
