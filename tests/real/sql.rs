//! A dataset queried with DuckDB, which is fetched: the queries of samples/sql give the numbers of
//! the commands.

use super::export::tool;
use crate::cli::fleet::generated;
use rocshim_tests::{Outcome, Traced, artifacts::root};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// `rocshim sql` with DuckDB.
fn sql(dataset: &Path, query: &str) -> Outcome {
    let query = match query.contains(' ') {
        true => query.to_owned(),
        false => root().join("samples/sql").join(query).with_extension("sql").display().to_string(),
    };
    let sql = Traced::rocshim(["sql", "--json"]).env("PYTHONPATH", tool("sql"));
    sql.env("PYTHONDONTWRITEBYTECODE", "1").arg(dataset).arg(query).run()
}

fn rows(dataset: &Path, query: &str) -> Vec<Value> {
    serde_json::from_str(&sql(dataset, query).ok().stdout).unwrap()
}

/// What a command prints of traces with --json.
fn said(command: &[&str], traces: &[PathBuf]) -> Value {
    let ran = Traced::rocshim(command.iter().copied()).arg("--json").args(traces).run().ok();
    serde_json::from_str(&ran.stdout).unwrap()
}

fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}"))
}

fn add(traces: &[PathBuf], dataset: &Path, run: &str) {
    let export = Traced::rocshim(["export", "--to", "dataset", "--run", run, "-o"]);
    export.arg(dataset).args(traces).run().ok();
}

#[test]
fn the_queries_give_the_numbers_of_the_commands() {
    let scratch = tempfile::tempdir().unwrap();
    for name in ["demo.ndjson", "gfx900.ndjson", "ranks"] {
        let (_ran, generated) = generated("--gpu-time --slow 3:1.3 --kernels 5 --steps 9 --launches 4");
        let traces = match name {
            "ranks" => vec![generated],
            name => vec![root().join("samples/traces").join(name)],
        };
        let dataset = scratch.path().join(name);
        add(&traces, &dataset, "one");
        let summary = said(&["summary"], &traces);
        let by_kernel = |rows: &[Value], name: &str| -> BTreeMap<String, (u64, u64)> {
            let row = |row: &Value| {
                let key = row[name].as_str().expect("a name").to_owned();
                (key, (number(row, "launches"), number(row, "total_ns")))
            };
            rows.iter().map(row).collect()
        };
        let kernels = by_kernel(&rows(&dataset, "kernels"), "kernel_full");
        let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (kernel, (launches, total)) in summary["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|row| by_kernel(std::slice::from_ref(row), "name"))
        {
            let sum = expected.entry(kernel).or_default();
            *sum = (sum.0 + launches, sum.1 + total);
        }
        assert_eq!(kernels, expected, "{name}");
        let gemms = |rows: &[Value]| rows.iter().map(|row| number(row, "calls")).sum::<u64>();
        assert_eq!(gemms(&rows(&dataset, "gemms")), gemms(summary["gemms"].as_array().unwrap()));
        let phases = said(&["phases", "--passes"], &traces);
        let passes: u64 = rows(&dataset, "phases").iter().map(|row| number(row, "passes")).sum();
        assert_eq!(passes, phases["passes"].as_array().unwrap().len() as u64, "{name}");
        let ranks = said(&["ranks"], &traces);
        let times = |row: &Value| ["rank", "steps", "own_ns", "in_ns"].map(|name| number(row, name));
        let mut expected: Vec<_> = ranks["ranks"].as_array().unwrap().iter().map(times).collect();
        let mut by_sql: Vec<_> = rows(&dataset, "ranks").iter().map(times).collect();
        expected.sort_unstable();
        by_sql.sort_unstable();
        assert_eq!(by_sql, expected, "{name}");
        let different = rows(&dataset, "differences");
        let different: Vec<_> =
            different.iter().map(|row| (number(row, "rank"), number(row, "launched_by"))).collect();
        assert_eq!(different, if name == "ranks" { vec![(5, 1)] } else { vec![] });
    }
}

#[test]
fn what_is_added_leaves_the_rest_as_it_is_and_a_damaged_file_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let dataset = scratch.path().join("data");
    let sample = |name: &str| vec![root().join("samples/traces").join(name)];
    add(&sample("gfx900.ndjson"), &dataset, "old");
    let files = |folder: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        let listed = Traced::command(Path::new("/usr/bin/find")).arg(folder).args(["-type", "f"]).run().ok();
        listed.stdout.lines().map(|path| (path.into(), fs::read(path).unwrap())).collect()
    };
    let before = files(&dataset);
    assert_eq!(before.len(), 7, "a file in each table, and the mark: {:?}", before.keys());
    add(&sample("gfx942.ndjson"), &dataset, "new");
    let after = files(&dataset);
    assert_eq!(after.len(), 13);
    assert!(before.iter().all(|(path, bytes)| after[path] == *bytes));
    add(&sample("gfx942.ndjson"), &dataset, "new");
    assert_eq!(files(&dataset).keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "added again");
    assert!(rows(&dataset, "compare").iter().any(|row| row["first_run"] == "old"));
    let launches = "SELECT run, COUNT(*) AS n FROM launches GROUP BY run ORDER BY run";
    assert_eq!(rows(&dataset, launches).len(), 2);
    let damaged = after.keys().find(|path| path.display().to_string().contains("launches/run=new")).unwrap();
    fs::write(damaged, &after[damaged][..100]).unwrap();
    let ran = sql(&dataset, launches).ok();
    assert!(ran.stderr.contains("1 of 2 files of launches are damaged"), "{}", ran.stderr);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&ran.stdout).unwrap().len(), 1, "the rest is answered");
    let wrong = sql(&dataset, "SELECT nothing FROM launches");
    assert_eq!(wrong.code, Some(1));
    assert!(
        wrong.stderr.contains("the query failed: ") && wrong.stderr.contains("nothing"),
        "{}",
        wrong.stderr
    );
}
