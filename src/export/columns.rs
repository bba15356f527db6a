//! Prints the exported tables and their columns, for `rocshim export --columns` and `rocshim help
//! tables`.

use rocshim_analysis::{COMMON, Column, ColumnKind, TABLES};
use std::fmt::Write;

/// Returns each table with its own columns, after the common ones and those of calls.
pub fn columns() -> String {
    let mut page = String::new();
    section(&mut page, "every table", "begins with", COMMON);
    if let Some(table) = TABLES.iter().find(|table| table.is_call) {
        let of_call = table.cells().count() - table.columns.len();
        section(&mut page, "every call", "has after those", table.cells().take(of_call));
    }
    for table in TABLES {
        let kind = if table.is_call { format!("{} (a call)", table.what) } else { table.what.into() };
        section(&mut page, table.name, &kind, table.columns);
    }
    page
}

fn section<'a>(page: &mut String, name: &str, what: &str, columns: impl IntoIterator<Item = &'a Column>) {
    let gap = if page.is_empty() { "" } else { "\n" };
    // A string takes everything.
    let _ = writeln!(page, "{gap}{name}: {what}");
    for column in columns {
        let kind = match column.kind {
            ColumnKind::Integer => "integer",
            ColumnKind::Flag => "flag",
            ColumnKind::Text => "text",
            ColumnKind::Address => "address",
        };
        let _ = writeln!(page, "  {:16} {kind:8} {}", column.name, column.what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_line() {
        let page = columns();
        assert!(
            page.starts_with("every table: begins with\n  host             text     the host's name\n"),
            "{page}"
        );
        assert!(
            page.contains("\ngemms: a matrix product (a call)\n  form             text     plain, "),
            "{page}"
        );
        assert!(page.contains("\npauses: a time in which recording was stopped\n\ngpu"), "{page}");
        let lines = page.lines().filter(|line| line.starts_with("  ")).count();
        assert_eq!(lines, COMMON.len() + 7 + TABLES.iter().map(|table| table.columns.len()).sum::<usize>());
    }
}
