//! Short lists: the environment variables, and what was recovered.

use super::{
    table::{Column, Style, Table},
    units::counted,
};
use crate::launch::VariableLine;

/// The environment variables that the shim reads.
pub(crate) fn variables(variables: &[VariableLine], style: &Style) -> String {
    let mut table = Table::new(&[Column::Left("variable"), Column::Left("default"), Column::Left("meaning")]);
    for row in variables {
        table.row(vec![row.name.clone(), row.default.clone(), row.meaning.clone()]);
    }
    table.text(&Style { width: None, ..*style })
}

/// What became of each file: events added, or nothing to do.
pub(crate) fn recovered(files: &[(String, Option<u64>)]) -> String {
    let line = |(name, events): &(String, Option<u64>)| match events {
        Some(events) => format!("{name}: finished, {} recovered\n", counted(*events, "event")),
        None => {
            format!("{name}: nothing to do (it is whole, or its process still runs, or its rings are gone)\n")
        }
    };
    files.iter().map(line).collect()
}
