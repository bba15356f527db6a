//! What was submitted to each stream.

use super::section;
use crate::table::{Column, Style, Table};
use rocshim_analysis::Summary;
use rocshim_analysis::units::{count, time};
use rocshim_trace::Hex;

/// Nothing for one stream: what was put on it is what the process did.
pub(crate) fn streams(summary: &Summary, style: &Style) -> Option<String> {
    if summary.streams.len() < 2 {
        return None;
    }
    let captured = summary.streams.iter().any(|row| row.captured > 0);
    let graphs = summary.streams.iter().any(|row| row.graph_launches > 0);
    let mut columns = vec![Column::Right("pid"), Column::Left("stream"), Column::Right("launches")];
    columns.extend(captured.then_some(Column::Right("captured")));
    columns.extend(graphs.then_some(Column::Right("graphs")));
    columns.extend([Column::Right("copies"), Column::Right("waits, events"), Column::Missable("span")]);
    let mut table = Table::new(&columns);
    for row in &summary.streams {
        let stream = name(row.handle);
        let mut cells = vec![row.pid.to_string(), stream, count(row.launches)];
        cells.extend(captured.then(|| count(row.captured)));
        cells.extend(graphs.then(|| count(row.graph_launches)));
        cells.extend([count(row.copies), count(row.syncs), time(row.last_ns.saturating_sub(row.first_ns))]);
        table.row(cells);
    }
    section("Streams (HIP calls, also those made inside library calls)", &table, style, &[])
}

/// Handles of implicit streams: `hipStreamLegacy` and `hipStreamPerThread` of hip_runtime_api.h.
fn name(handle: Option<Hex>) -> String {
    match handle {
        None => "default".into(),
        Some(Hex(1)) => "legacy default".into(),
        Some(Hex(2)) => "per thread".into(),
        Some(handle) => handle.to_string(),
    }
}
