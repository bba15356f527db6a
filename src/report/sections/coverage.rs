//! What was there and what was used of it: code objects, and the hooked libraries.

use super::section;
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::{bytes, count, counted};
use rocshim_analysis::{CodeObjectRow, Evidence, LibraryRow, Summary};
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
    let mut table = Table::new(&[
        Column::Right("launches"),
        Column::Right("kernels"),
        Column::Missable("size"),
        Column::Left("target"),
        Column::Left("object"),
    ]);
    for row in used {
        let size = row.bytes.map_or_else(|| "-".into(), bytes);
        table.row(vec![count(row.launches), count(row.kernels), size, targets(row), place(row)]);
    }
    section(&title, &table, style, &never_dispatched(&unused))
}

/// `libggml-hip.so bundle 30 at 0x1f000`: the file's name, because its folder is in the library
/// list.
pub fn place(row: &CodeObjectRow) -> String {
    let mut text = match (row.path.as_ref().or(row.file.as_ref()), &row.xxh3) {
        (Some(path), _) => file_name(path).to_string(),
        (None, Some(hash)) => format!("from memory, {hash}"),
        (None, None) => "from memory".to_string(),
    };
    if let Some(ordinal) = row.ordinal {
        text.push_str(&format!(" bundle {ordinal}"));
    }
    if let Some(offset) = row.offset {
        text.push_str(&format!(" at {offset:#x}"));
    }
    text
}

/// The targets (gfx1100, …) of a code object whose kernels ran, and how many more it holds.
pub fn targets(row: &CodeObjectRow) -> String {
    if !row.ran.is_empty() {
        let ran = row.ran.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let others = row.targets.iter().filter(|target| !row.ran.contains(*target)).count();
        return if others == 0 { ran } else { format!("{ran} +{others}") };
    }
    match row.targets.as_slice() {
        [] => "-".into(),
        [one] => one.clone(),
        [first, others @ ..] => format!("{first} +{}", others.len()),
    }
}

/// One line for each file that holds objects of which no kernel was launched.
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
    let mut table = Table::new(&[
        Column::Left("library"),
        Column::Right("calls"),
        Column::Left("evidence"),
        Column::Text("why"),
    ]);
    let (absent, present): (Vec<_>, Vec<_>) = summary.libraries.iter().partition(|row| is_absent(row));
    let name = |row: &LibraryRow| row.library.trim_end_matches(".so").to_string();
    for row in present {
        table.row_with(
            vec![name(row), count(row.calls), row.evidence.to_string(), row.why.clone()],
            if style.full_names { row.paths.iter().cloned().collect() } else { Vec::new() },
        );
    }
    let mut remarks = Vec::new();
    if let Some(first) = absent.first() {
        let names: Vec<String> = absent.iter().map(|row| name(row)).collect();
        remarks.push(format!("{}, {}: {}", first.evidence, first.why, names.join(", ")));
    }
    remarks.push("`rocshim hooks TRACE` lists every function".to_string());
    let title =
        format!("Coverage: was it called? ({} hooked)", counted(summary.functions.len() as u64, "function"));
    section(&title, &table, style, &remarks)
}

/// True for a library that was not there, for certain: all of these fit one line.
fn is_absent(row: &LibraryRow) -> bool {
    row.loaded_in == 0 && row.calls == 0 && row.evidence == Evidence::ConfirmedAbsent
}
