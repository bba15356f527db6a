//! Renders calls as they are recorded, each as a line or a JSON object.

use rocshim_analysis::units;
use rocshim_analysis::{COMMON, Cell, ColumnKind, TableId, TraceChange, TrackProcess, TrackRow};
use rocshim_reader::End;
use rocshim_report::{names, slices};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Minimum width of a name in columns.
const LEAST_NAME: usize = 24;

/// Renders a row as a line of at most `width` columns: shortens a long name first, then cuts the
/// end.
pub fn line(row: &TrackRow, process: &TrackProcess, width: Option<usize>) -> String {
    let took = match row.dur {
        Some(dur) => units::time(dur),
        None => "no end".into(),
    };
    let who = match row.tid {
        Some(tid) => format!("{}/{tid}", process.pid),
        None => process.pid.to_string(),
    };
    let begin = format!("{} {took:>8} {who:<11} {:<14} ", units::clock(row.begin), whose(row));
    let asked = asked(row);
    let name = slices::name(row);
    let name = match width {
        Some(width) => {
            let others = begin.chars().count() + asked.chars().count() + 1;
            names::fit(&name, width.saturating_sub(others).max(LEAST_NAME))
        }
        None => name.to_string(),
    };
    let line = format!("{begin}{name} {asked}");
    let line = rocshim_report::visible(&line);
    match width.and_then(|width| line.char_indices().nth(width).and(line.char_indices().nth(width - 1))) {
        Some((end, _)) => line[..end].to_string() + "…",
        None => line.trim_end().to_string(),
    }
}

/// Returns what a row belongs to: a kernel's family, another call's library, or the table.
fn whose(row: &TrackRow) -> String {
    let word = |column| match row.cell(column) {
        Some(Cell::Word(word)) => Some(word.as_str()),
        _ => None,
    };
    match (word("family_of"), word("family"), word("library")) {
        (of @ Some(_), family @ Some(_), _) => names::family(of, family),
        (.., Some(library)) => library.trim_start_matches("lib").trim_end_matches(".so").into(),
        _ => row.table.name.into(),
    }
}

/// Columns that a line omits: shown elsewhere in it, part of its name, or long.
fn is_elsewhere(table: TableId, column: &str) -> bool {
    let of_table: &[&str] = match table {
        TableId::Launches => &[
            "kernel",
            "demangled",
            "family",
            "family_of",
            "source",
            "code_object",
            "bundle",
            "target",
            "args",
        ],
        TableId::Gemms => &["trans_a", "trans_b", "m", "n", "k", "a_type"],
        TableId::Copies => &["action", "kind"],
        TableId::Syncs | TableId::GraphCalls => &["action"],
        TableId::GraphLaunches => &["graph"],
        TableId::Ranges => &["text"],
        TableId::Losses => &["lost", "reason"],
        _ => &[],
    };
    ["function", "library"].contains(&column) || of_table.contains(&column)
}

/// Returns the main arguments of the call, such as `grid 64x2 block 32x4 stream 1`.
fn asked(row: &TrackRow) -> String {
    let mut words = Vec::new();
    let integer = |column: &str| match row.cell(column) {
        Some(Cell::Integer(value)) => *value as u32,
        _ => 0,
    };
    if row.table.id == TableId::Launches {
        for [what, x, y, z] in
            [["grid", "grid_x", "grid_y", "grid_z"], ["block", "block_x", "block_y", "block_z"]]
        {
            words.push(format!("{what} {}", units::dims([integer(x), integer(y), integer(z)])));
        }
    }
    for (column, cell) in slices::details(row) {
        let is_size = ["grid_", "block_"].iter().any(|size| column.name.starts_with(size));
        if is_size || column.kind == ColumnKind::Address || is_elsewhere(row.table.id, column.name) {
            continue;
        }
        match cell {
            // No LDS, no flags, no arguments cut off, as usual.
            Cell::Integer(0) if matches!(row.table.id, TableId::Launches | TableId::Syncs) => {}
            Cell::Integer(value) => words.push(format!("{} {value}", column.name)),
            Cell::Word(word) => words.push(format!("{} {word}", column.name)),
            Cell::Flag(_) => words.push(column.name.into()),
            Cell::Absent | Cell::Address(_) | Cell::Arguments(_) => {}
        }
    }
    words.join(" ")
}

/// Renders a row as a JSON object in one line: its table, then the non-empty columns in their
/// order.
pub fn object(row: &TrackRow, process: &TrackProcess) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&Object { row, process })?)
}

struct Object<'a> {
    row: &'a TrackRow,
    process: &'a TrackProcess,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Object { row, process } = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("table", row.table.name)?;
        let numbers = [Some(process.pid.into()), row.tid.map(u64::from), Some(row.begin), row.dur];
        let [host, rest @ ..] = COMMON else { return map.end() };
        map.serialize_entry(host.name, &process.host)?;
        for (column, value) in rest.iter().zip(numbers) {
            if let Some(value) = value {
                map.serialize_entry(column.name, &value)?;
            }
        }
        for (column, cell) in row.table.cells().zip(&row.cells) {
            if !matches!(cell, Cell::Absent) {
                map.serialize_entry(column.name, &slices::Value(cell))?;
            }
        }
        map.end()
    }
}

/// Reports what became of a trace, for standard error.
pub fn change(change: TraceChange, process: &TrackProcess, path: &str) -> String {
    let what = match change {
        TraceChange::Begun => "is followed",
        TraceChange::Ended(End::Leftover) => "was killed; what it left in its rings was read",
        TraceChange::Ended(_) => "has ended",
        TraceChange::Silent => "has no end in its trace, and is not seen running here",
    };
    format!("{} ({} on {}, {path}) {what}\n", process.name(), process.pid, process.host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::tracked;

    fn lines(width: Option<usize>) -> Vec<String> {
        let (rows, processes) = tracked::rows();
        let calls = rows.iter().filter(|row| !row.table.is_complete_at_end());
        calls.map(|row| line(row, &processes[row.process], width)).collect()
    }

    #[test]
    fn a_line_says_when_how_long_who_what_and_how() {
        let lines = lines(None);
        assert_eq!(
            lines,
            [
                "01:46:40.000000     2 ns 7/7         roctx64        roctxRangePushA action push text step \"1\" level 0",
                "01:46:40.000000     5 ns 7/7         ggml: mmvq     mul_mat_vec_q<q4_0, 1> grid 4x2 block 32 stream 0",
                "01:46:40.000000    50 ns 7/7         rocblas        rocblas_gemm_ex TN 4x5x6 f16_r error rocblas_status_memory_error \
                 form plain batch 1 b_type f16_r c_type f16_r d_type f16_r compute f32_r algo standard",
                "01:46:40.000000    10 ns 7/7         amdhip64       hipMemcpyAsync d2h bytes 64 stream 3 async",
                "01:46:40.000000   188 ns 7/7         ranges         step \"1\" level 0",
                "01:46:40.000000     3 ns 7/7         roctx64        roctxRangePop action pop level 0",
                "01:46:40.000000    10 ns 7/7         amdhip64       hipGraphInstantiate graph 9 stream 0",
                "01:46:40.000000    10 ns 7/7         amdhip64       hipGraphLaunch graph 9 kernels 1 stream 0",
                "01:46:40.000000    10 ns 7/7         amdhip64       hipGraphLaunch graph 9 kernels 1 stream 0",
                "01:46:40.000000    20 ns 7/7         losses         3 lost: ring_full",
                "01:46:40.000000   100 ns 7           pauses         recording stopped",
                "01:46:40.000000   no end 7/8         amdhip64       hipDeviceSynchronize stream 0",
                "01:46:40.000000     1 ns 7/7         amdhip64       unknown kernel 0xabc grid 1 block 64 stream 0",
            ]
        );
    }

    #[test]
    fn a_line_that_is_too_long_loses_its_end() {
        let wide = "01:46:40.000000     5 ns 7/7         ggml: mmvq     mul_mat_vec_q<q4_0, 1> grid 4x2 block 32 stream 0";
        assert_eq!(wide.len(), 101);
        assert_eq!(lines(Some(101))[1], wide);
        // The name keeps its minimum of 22 columns; the end is cut off.
        assert_eq!(lines(Some(80))[1], format!("{}…", &wide[..79]));
    }

    #[test]
    fn an_object_has_every_column_that_holds_something() {
        let (rows, processes) = tracked::rows();
        let launch = rows.iter().find(|row| row.table.id == TableId::Launches).expect("one");
        assert_eq!(
            object(launch, &processes[launch.process]).expect("JSON"),
            concat!(
                r#"{"table":"launches","host":"h","pid":7,"tid":7,"begin_ns":1000000000000000110,"dur_ns":5,"id":3,"parent":2,"#,
                r#""function":"hipLaunchKernel","library":"libamdhip64.so","status":0,"unwound":false,"kernel":"_Z1","#,
                r#""demangled":"void mul_mat_vec_q<(ggml_type)2, 1>(void const*)","family":"mmvq","family_of":"ggml","#,
                r#""source":"fat_binary","code_object":"/opt/libggml-hip.so","bundle":30,"target":"gfx1100","grid_x":4,"grid_y":2,"#,
                r#""grid_z":1,"block_x":32,"block_y":1,"block_z":1,"lds_bytes":0,"stream":"0","cooperative":false,"#,
                r#""args":{"x":"0x7f00","1":-3,"2":0.5,"3":"00ff"},"args_cut":0}"#
            )
        );
    }
}
