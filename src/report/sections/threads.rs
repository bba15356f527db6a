//! The threads, and the time between their calls.

use super::section;
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::{count, percent, time};
use rocshim_analysis::{GapRow, Summary};

/// Nothing for one thread: what it did is what the process did.
pub(crate) fn threads(summary: &Summary, style: &Style) -> Option<String> {
    if summary.threads.len() < 2 {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("pid"),
        Column::Right("thread"),
        Column::Right("events"),
        Column::Right("calls"),
        Column::Right("in calls"),
        Column::Missable("span"),
        Column::Right("longest gap"),
    ]);
    for row in &summary.threads {
        table.row(vec![
            row.pid.to_string(),
            row.tid.to_string(),
            count(row.events),
            count(row.calls),
            time(row.in_calls_ns),
            time(row.last_ns.saturating_sub(row.first_ns)),
            time(row.longest_gap_ns),
        ]);
    }
    section("Threads (calls: made by the program itself; gap: between two calls)", &table, style, &[])
}

/// Nothing where there are none.
pub(crate) fn gaps(summary: &Summary, style: &Style) -> Option<String> {
    let all: u64 = summary.gaps.iter().map(|row| row.total_ns).sum();
    if summary.gaps.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("gaps"),
        Column::Right("together"),
        Column::Right("share"),
        Column::Left("length"),
    ]);
    for row in &summary.gaps {
        let share = row.total_ns as f64 / all.max(1) as f64;
        table.row(vec![count(row.gaps), time(row.total_ns), percent(share), length(row)]);
    }
    section(
        "Time between calls of a thread (the program's own work, and waiting outside HIP)",
        &table,
        style,
        &[],
    )
}

fn length(row: &GapRow) -> String {
    match row.below_ns {
        Some(below) if row.from_ns == 0 => format!("below {}", time(below)),
        Some(below) => format!("{} to {}", time(row.from_ns), time(below)),
        None => format!("{} and more", time(row.from_ns)),
    }
}
