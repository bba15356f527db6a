//! The sections of coverage: code objects loaded and dispatched from, and calls of the hooked
//! libraries.

use crate::{section::Part, table::Style};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{CODE_OBJECTS, CodeObjectRow, LIBRARIES, LibraryRow, Summary};
use rocshim_trace::file_name;
use std::collections::BTreeMap;

pub(crate) fn code_objects(summary: &Summary, style: &Style) -> Option<String> {
    let (used, unused): (Vec<_>, Vec<_>) = summary.code_objects.iter().partition(|row| row.launches > 0);
    if summary.code_objects.is_empty() {
        return None;
    }
    let title = format!(
        "Code objects: {} dispatched from, of {} loaded",
        count(used.len() as u64),
        count(summary.code_objects.len() as u64)
    );
    let part = Part::new(&CODE_OBJECTS, used).titled(title);
    Some(part.remarks(never_dispatched(&unused)).even_empty(style))
}

/// Returns a line for each file with code objects that no kernel was launched from.
fn never_dispatched(unused: &[&CodeObjectRow]) -> Vec<String> {
    let mut files: BTreeMap<&str, u64> = BTreeMap::new();
    for row in unused {
        let file = row.path.as_deref().map_or("memory", file_name);
        *files.entry(file).or_default() += 1;
    }
    let Some(first) = unused.first() else { return Vec::new() };
    let places: Vec<String> =
        files.iter().map(|(file, number)| format!("{} of {file}", count(*number))).collect();
    let why = first.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    vec![format!("not dispatched from, {}{why}: {}", first.evidence, places.join(", "))]
}

pub(crate) fn libraries(summary: &Summary, style: &Style) -> Option<String> {
    if summary.libraries.is_empty() {
        return None;
    }
    let (absent, present): (Vec<_>, Vec<_>) = summary.libraries.iter().partition(|row| is_absent(row));
    let all_absent = absent.first().map(|first| {
        let names: Vec<&str> = absent.iter().map(|row| row.library.trim_end_matches(".so")).collect();
        format!("{}, {}: {}", first.evidence, first.why, names.join(", "))
    });
    let functions = counted(summary.functions.len() as u64, "function");
    let part = Part::new(&LIBRARIES, present)
        .titled(format!("Coverage: was it called? ({functions} hooked)"))
        .under(|row| if style.full_names { row.paths.iter().cloned().collect() } else { Vec::new() })
        .remarks(all_absent)
        .remark("`rocshim hooks TRACE` lists every function");
    Some(part.even_empty(style))
}

/// Returns true for a library that was certainly not loaded: all of these share one line.
fn is_absent(row: &LibraryRow) -> bool {
    row.loaded_in == 0 && row.calls == 0 && row.evidence.is_confirmed_absent()
}
