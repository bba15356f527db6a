//! The processes: who they were and how their traces end.

use crate::{names::fit_path, section::Part, table::Style};
use rocshim_analysis::units::counted;
use rocshim_analysis::{PROCESSES, ProcessRow, Summary};

pub(crate) fn processes(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&PROCESSES, &summary.processes)
        .under(|row| trace(row, style))
        .remarks(meanings(&summary.processes))
        .section(style)
}

/// The trace of a process, and what there is to say of it.
fn trace(row: &ProcessRow, style: &Style) -> Vec<String> {
    let width = style.width.map_or(usize::MAX, |width| width.saturating_sub(6));
    let mut lines = match row.parts {
        1 => vec![fit_path(&row.trace, width)],
        parts => {
            let trace = fit_path(&row.trace, width.saturating_sub(17));
            vec![format!("{trace} and {}", counted(parts - 1, "more part"))]
        }
    };
    lines.extend(row.notes.iter().map(|note| format!("note: {note}")));
    if row.late > 0 {
        lines.push(format!("note: {} came after recording had ended", counted(row.late, "call")));
    }
    lines
}

/// What the less obvious endings mean, where they occur.
fn meanings(rows: &[ProcessRow]) -> Vec<String> {
    let meaning = |end: &str| match end {
        "killed" => Some(
            "killed: what the process left in its rings is shown; `rocshim recover` writes it to the file",
        ),
        "recovered" => Some("recovered: the process died, and its file was finished from its rings"),
        "cut" => Some("cut: the process died and its rings are gone; what was not written yet is not known"),
        "rotated" => Some("rotated: the trace continues in a segment that was not read"),
        "running" => Some("running: this is what has been written so far"),
        "snapshot" => Some("snapshot: the process ran on; this is what there was then"),
        _ => None,
    };
    let mut remarks: Vec<String> = Vec::new();
    for remark in rows.iter().filter_map(|row| meaning(&row.end)) {
        if !remarks.iter().any(|known| known == remark) {
            remarks.push(remark.to_string());
        }
    }
    remarks
}
