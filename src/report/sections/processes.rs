//! The processes: who they were and how their traces end.

use super::section;
use crate::{
    names::fit_path,
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, counted, time};
use rocshim_analysis::{ProcessRow, Summary};

pub(crate) fn processes(summary: &Summary, style: &Style) -> Option<String> {
    if summary.processes.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("pid"),
        Column::Right("events"),
        Column::Right("launches"),
        Column::Right("lost"),
        Column::Missable("span"),
        Column::Left("end"),
        Column::Left("program"),
    ]);
    for row in &summary.processes {
        let width = style.width.map_or(usize::MAX, |width| width.saturating_sub(6));
        let mut under = match row.parts {
            1 => vec![fit_path(&row.trace, width)],
            parts => vec![format!(
                "{} and {}",
                fit_path(&row.trace, width.saturating_sub(17)),
                counted(parts - 1, "more part")
            )],
        };
        under.extend(row.notes.iter().map(|note| format!("note: {note}")));
        if row.late > 0 {
            under.push(format!("note: {} came after recording had ended", counted(row.late, "call")));
        }
        let cells = vec![
            row.pid.to_string(),
            count(row.events),
            count(row.launches),
            count(row.lost),
            time(row.last_ns.saturating_sub(row.first_ns)),
            row.end.clone(),
            program(row),
        ];
        table.row_with(cells, under);
    }
    section("Processes", &table, style, &meanings(&summary.processes))
}

fn program(row: &ProcessRow) -> String {
    if row.argv.is_empty() { row.exe.clone() } else { row.argv.join(" ") }
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
