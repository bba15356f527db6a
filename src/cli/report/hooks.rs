//! The hooked functions: as the shim lists them, and as traces saw them.

use super::{
    table::{Column, Style, Table},
    units::count,
};
use crate::{analysis::FunctionRow, launch::HookLine};

/// The functions that a librocshim.so hooks, by library.
pub(crate) fn hook_list(hooks: &[HookLine], signatures: bool) -> String {
    let mut page = String::new();
    let mut library = "";
    for hook in hooks {
        if hook.library != library {
            library = &hook.library;
            let of = hooks.iter().filter(|other| other.library == library).count();
            page.push_str(if page.is_empty() { "" } else { "\n" });
            page.push_str(&format!("{library} ({of})\n"));
        }
        page.push_str(&format!("  {}\n", if signatures { &hook.signature } else { &hook.symbol }));
    }
    page
}

/// The functions as one or more traces saw them.
pub(crate) fn hook_table(functions: &[FunctionRow], style: &Style) -> String {
    let mut table = Table::new(&[
        Column::Left("function"),
        Column::Left("door"),
        Column::Left("state"),
        Column::Right("calls"),
        Column::Left("bound to"),
    ]);
    for row in functions {
        let mut bound = row.bound_to.iter().cloned().collect::<Vec<_>>().join(", ");
        if !row.why.is_empty() {
            bound = row.why.iter().cloned().collect::<Vec<_>>().join("; ");
        }
        let doors = row.doors.iter().cloned().collect::<Vec<_>>().join("+");
        table.row(vec![row.function.clone(), doors, row.state.clone(), calls(row), bound]);
    }
    let legend = "armed: exported, never called; bound: called, the real function was found; unbound: called, not found";
    format!("{}  {legend}\n", table.text(style))
}

/// `12`; `12+` where some process did not count its calls; `?` where none did.
fn calls(row: &FunctionRow) -> String {
    match (row.calls, row.uncounted) {
        (0, 1..) => "?".into(),
        (calls, 0) => count(calls),
        (calls, _) => format!("{}+", count(calls)),
    }
}
