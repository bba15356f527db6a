//! Graphs that were launched, copies, and calls that wait.

use super::section;
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::{bytes, count, time};
use rocshim_analysis::{CopyRow, Evidence, GraphRow, Summary, SyncRow};

pub(crate) fn graphs(summary: &Summary, style: &Style) -> Option<String> {
    if summary.graphs.is_empty() {
        return None;
    }
    let failed = summary.graphs.iter().any(|row| row.failed > 0);
    let mut columns = vec![Column::Right("launches")];
    columns.extend(failed.then_some(Column::Right("failed")));
    columns.extend([
        Column::Right("total"),
        Column::Missable("mean"),
        Column::Right("kernels"),
        Column::Left("evidence"),
        Column::Left("graph"),
    ]);
    let mut table = Table::new(&columns);
    for row in &summary.graphs {
        let mut cells = vec![count(row.launches)];
        cells.extend(failed.then(|| count(row.failed)));
        let kernels = if row.evidence == Evidence::Limited { "?".into() } else { count(row.kernels) };
        cells.extend([
            time(row.total_ns),
            time(row.total_ns / row.launches.max(1)),
            kernels,
            row.evidence.to_string(),
            graph(row, summary.processes.len() > 1),
        ]);
        table.row_with(cells, row.why.iter().cloned().collect());
    }
    let remark = "each launch of a graph executes each of its kernels once".to_string();
    section("Graphs (host time of the launches)", &table, style, &[remark])
}

/// `#31 from capture #12, 2 memcpy`.
fn graph(row: &GraphRow, with_pid: bool) -> String {
    let mut text = match (row.graph, row.capture) {
        (None, _) => "unknown".to_string(),
        (Some(id), Some(capture)) => format!("#{id} from capture #{capture}"),
        (Some(id), None) => format!("#{id}"),
    };
    if with_pid {
        text.push_str(&format!(" of process {}", row.pid));
    }
    row.others.iter().for_each(|(kind, number)| text.push_str(&format!(", {} {kind}", count(*number))));
    text
}

pub(crate) fn copies(summary: &Summary, style: &Style) -> Option<String> {
    if summary.copies.is_empty() {
        return None;
    }
    let rows = &summary.copies;
    let (failed, captured) =
        (rows.iter().any(|row| row.counts.failed > 0), rows.iter().any(|row| row.counts.captured > 0));
    let mut table = Table::new(&columns(failed, captured, &[Column::Right("size"), Column::Left("what")]));
    for row in rows {
        let size = if row.unmeasured > 0 { format!("{}+", bytes(row.bytes)) } else { bytes(row.bytes) };
        let mut cells = counts(&row.counts, failed, captured);
        cells.extend([size, copy(row)]);
        table.row(cells);
    }
    section("Copies (host time of the calls)", &table, style, &[])
}

fn copy(row: &CopyRow) -> String {
    let what = match &row.kind {
        Some(kind) => format!("{} {kind}", row.action),
        None => row.action.to_string(),
    };
    if row.is_async { format!("{what}, async") } else { what }
}

pub(crate) fn syncs(summary: &Summary, style: &Style) -> Option<String> {
    if summary.syncs.is_empty() {
        return None;
    }
    let rows = &summary.syncs;
    let (failed, captured) =
        (rows.iter().any(|row| row.counts.failed > 0), rows.iter().any(|row| row.counts.captured > 0));
    let mut table = Table::new(&columns(failed, captured, &[Column::Right("longest"), Column::Left("what")]));
    for row in rows {
        let mut cells = counts(&row.counts, failed, captured);
        cells.extend([time(row.max_ns), sync(row).to_string()]);
        table.row(cells);
    }
    section("Waiting and ordering (host time of the calls)", &table, style, &[])
}

fn sync(row: &SyncRow) -> &str {
    match row.action.as_str() {
        "device" => "the host waits for the device",
        "stream" => "the host waits for a stream",
        "event" => "the host waits for an event",
        "wait_event" => "a stream is to wait for an event",
        "record_event" => "an event is recorded",
        other => other,
    }
}

/// Columns of calls, with `last` behind them.
fn columns(failed: bool, captured: bool, last: &[Column]) -> Vec<Column> {
    let mut columns = vec![Column::Right("calls")];
    columns.extend(failed.then_some(Column::Right("failed")));
    columns.extend(captured.then_some(Column::Right("captured")));
    columns.extend([Column::Right("total"), Column::Missable("mean")]);
    columns.extend(last);
    columns
}

fn counts(counts: &rocshim_analysis::Counts, failed: bool, captured: bool) -> Vec<String> {
    let mut cells = vec![count(counts.calls)];
    cells.extend(failed.then(|| count(counts.failed)));
    cells.extend(captured.then(|| count(counts.captured)));
    cells.extend([time(counts.total_ns), time(counts.total_ns / counts.calls.max(1))]);
    cells
}
