//! What went wrong: failed calls, lost events, calls that never returned.

use super::section;
use crate::{
    names::function,
    table::{Column, Style, Table},
};
use rocshim_analysis::Summary;
use rocshim_analysis::units::{count, time};

pub(crate) fn failures(summary: &Summary, style: &Style) -> Option<String> {
    if summary.failures.is_empty() {
        return None;
    }
    let mut table = Table::new(&[Column::Right("calls"), Column::Left("function"), Column::Left("returned")]);
    for row in &summary.failures {
        let returned = match (row.status, row.name) {
            (Some(status), Some(name)) => format!("{status} {name}"),
            (Some(status), None) => status.to_string(),
            (None, _) => "nothing: a C++ exception left it".into(),
        };
        table.row(vec![count(row.calls), function(&row.function), returned]);
    }
    section("Failed calls", &table, style, &[])
}

pub(crate) fn losses(summary: &Summary, style: &Style) -> Option<String> {
    if summary.losses.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("lost"),
        Column::Right("gaps"),
        Column::Right("pid"),
        Column::Right("thread"),
        Column::Right("from"),
        Column::Right("to"),
        Column::Left("reason"),
    ]);
    for row in &summary.losses {
        table.row(vec![
            count(row.lost),
            count(row.gaps),
            row.pid.to_string(),
            row.tid.to_string(),
            time(row.first_ns),
            time(row.last_ns),
            row.reason.to_string(),
        ]);
    }
    let remark = "limited: every count above may be short by lost events".to_string();
    section("Lost events", &table, style, &[remark])
}

pub(crate) fn in_flight(summary: &Summary, style: &Style) -> Option<String> {
    if summary.in_flight.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("pid"),
        Column::Right("thread"),
        Column::Right("since"),
        Column::Left("function"),
        Column::Left("what"),
    ]);
    for row in &summary.in_flight {
        let inside = if row.nested { " (inside another call)" } else { "" };
        table.row(vec![
            row.pid.to_string(),
            row.tid.to_string(),
            time(row.t_ns),
            function(&row.function),
            format!("{}{inside}", row.what),
        ]);
    }
    section("In flight when the process died", &table, style, &[])
}
