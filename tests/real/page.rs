//! The page of `rocshim report` in a real browser: no error, no request, the numbers of `--json`,
//! working controls, and no accessibility finding.

use rocshim_tests::{Traced, artifacts};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The folder of the browser driver.
fn tools() -> PathBuf {
    let output =
        Command::new(artifacts::root().join("scripts/test-tools")).arg("browser").output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a path").trim().into()
}

fn sample(name: &str) -> String {
    artifacts::root().join("samples/traces").join(name).to_str().expect("a path").to_owned()
}

/// The JSON output of a command.
#[track_caller]
fn json(words: &[&str]) -> Value {
    let printed = Traced::rocshim(words).run().ok().stdout;
    serde_json::from_str(&printed).expect("JSON")
}

/// Creates a page; returns its path.
#[track_caller]
fn page(folder: &Path, name: &str, words: &[&str]) -> String {
    let out = folder.join(name).to_str().expect("a path").to_owned();
    Traced::rocshim(["report", "-o", &out].iter().chain(words)).run().ok();
    out
}

/// The browser's findings on the pages.
fn open(folder: &TempDir, pages: &[&str]) -> Value {
    let profile = folder.path().join("profile");
    let mut node = Command::new("node");
    node.arg(artifacts::root().join("tests/real/page.mjs"))
        .arg(tools())
        .arg(profile)
        .arg("/usr/bin/chromium");
    let output = node.args(pages).output().expect("node runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A table of the page and an array of JSON have equal rows, in these fields.
#[track_caller]
fn assert_same(table: &Value, rows: &Value, fields: &[&str]) {
    let (table, rows) = (list(table), list(rows));
    assert!(!rows.is_empty(), "there is something to compare");
    assert_eq!(table.len(), rows.len(), "rows");
    for (cells, row) in table.iter().zip(rows) {
        for field in fields {
            let expected = match &row[*field] {
                Value::String(text) => text.replace('_', " "),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let shown = cells[*field].as_str().unwrap_or_else(|| panic!("no {field}")).replace('_', " ");
            assert_eq!(shown, expected, "{field} of {row}");
        }
    }
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(|one| one.as_str().expect("text").parse().expect("a number")).collect()
}

#[test]
fn the_page_is_whole_says_what_the_commands_say_and_works() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let trace = sample("demo.ndjson");
    // The program evaluated a prompt of 27 columns and 8 tokens.
    let answers = folder.path().join("answers.json");
    let answer =
        r#"{"model":"m","created_at":"x","response":"a","done":true,"prompt_eval_count":27,"eval_count":9}"#;
    std::fs::write(&answers, answer).expect("written");
    let answers = answers.to_str().expect("a path");
    let one = page(folder.path(), "one.html", &[&trace, "--responses", answers]);
    let (old, new) = (sample("gfx900.ndjson"), sample("gfx942.ndjson"));
    let two = page(folder.path(), "two.html", &["--compare", "--names", "old,new", &old, &new]);
    let found = open(&folder, &[&one, &two]);

    assert_eq!(list(&found["requests"]), [] as [Value; 0], "nothing is asked of the network");
    for page in list(&found["pages"]) {
        assert_eq!(
            list(&page["console"]).len(),
            1,
            "only the policy's report of what this test injects: {}",
            page["console"]
        );
        assert_eq!(page["ran"], false, "no script but the page's own");
        assert_eq!(page["overflow"], 0, "no scrolling to the side on a phone");
        for theme in [&page["lightAxe"], &page["controls"]["darkAxe"]] {
            let bad: Vec<&Value> = list(theme)
                .iter()
                .filter(|one| one["impact"] == "serious" || one["impact"] == "critical")
                .collect();
            assert!(bad.is_empty(), "{bad:?}");
        }
        let sections = list(&page["print"]["sections"]);
        assert!(sections.len() >= 8 && sections.iter().all(|section| section[1] == true), "{sections:?}");
        assert!(page["print"]["bytes"].as_u64() > Some(50_000), "a document");
        for figure in list(&page["figures"]) {
            assert!(figure["marks"].as_u64() > Some(0), "{figure} is drawn");
            assert!(figure["data"].as_u64() > Some(0), "{figure} has its data");
            assert!(
                figure["words"].as_str().is_some_and(|words| words.len() > 20),
                "{figure} is described in words"
            );
        }
    }
    numbers_are_those_of_the_commands(&found["pages"][0]["tables"], &trace, answers);
    sides_are_those_of_compare(&found["pages"][1]["tables"], &old, &new);
    controls_work(&found["pages"][0]["controls"]);
}

fn numbers_are_those_of_the_commands(tables: &Value, trace: &str, answers: &str) {
    let summary = json(&["summary", "--json", trace]);
    assert_same(
        &tables["kernels"],
        &summary["kernels"],
        &["name", "launches", "by_graphs", "captured", "failed", "total_ns", "first_ns", "last_ns"],
    );
    assert_same(
        &tables["families"],
        &summary["families"],
        &["evidence", "kernels", "launches", "failed", "total_ns"],
    );
    assert_same(
        &tables["gemms"],
        &summary["gemms"],
        &["m", "n", "k", "batch", "calls", "failed", "total_ns", "evidence"],
    );
    assert_same(
        &tables["convolutions"],
        &summary["convolutions"],
        &["calls", "failed", "total_ns", "evidence"],
    );
    assert_same(
        &tables["libraries"],
        &summary["libraries"],
        &["calls", "functions", "functions_called", "loaded_in", "evidence", "why"],
    );
    assert_same(&tables["fallback"], &summary["fallback"]["kernels"], &["kernel", "launches", "evidence"]);
    assert_same(&tables["processes"], &summary["processes"], &["pid", "launches", "events", "lost"]);
    assert_same(
        &tables["threads"],
        &summary["threads"],
        &["tid", "events", "calls", "in_calls_ns", "longest_gap_ns"],
    );
    let (used, idle): (Vec<Value>, Vec<Value>) =
        list(&summary["code_objects"]).iter().cloned().partition(|row| row["launches"] != 0);
    assert_same(&tables["code_objects"], &Value::Array(used), &["launches", "kernels", "evidence"]);
    assert_same(&tables["idle_objects"], &Value::Array(idle), &["launches", "kernels", "evidence"]);

    let phases = json(&["phases", "--passes", "--json", trace]);
    let fields = [
        "begin_ns",
        "pid",
        "request",
        "evidence",
        "passes",
        "tokens",
        "launches",
        "host_ns",
        "wait_ns",
        "between_ns",
    ];
    assert_same(&tables["phases"], &phases["phases"], &fields);
    assert_same(&tables["kinds"], &phases["kinds"], &fields);
    let bars = list(&tables["bars"]).iter();
    let steps: Vec<Value> = bars.filter(|bar| bar["level"] == "step").cloned().collect();
    assert_same(&Value::Array(steps), &phases["passes"], &["begin_ns", "end_ns", "evidence"]);

    let proxy = json(&["proxy", "--json", trace, "--responses", answers]);
    let request = &proxy["requests"][0];
    let shown = &tables["requests"][0];
    assert_eq!(list(&tables["requests"]).len(), 1);
    assert_eq!(shown["prompt.said"], request["prompt"]["said"]);
    assert_eq!(shown["prompt.observed"], request["prompt"]["observed"]);
    assert_eq!(shown["prompt.verdict"], request["prompt"]["verdict"]);
    assert_eq!(shown["path.verdict"], request["path"]["verdict"]);
    assert_eq!(shown["generated.verdict"], request["generated"]["verdict"]);
    assert_eq!(shown["prompt.why"], request["prompt"]["why"]);
}

fn sides_are_those_of_compare(tables: &Value, old: &str, new: &str) {
    let compared = json(&["compare", "--json", "--names", "old,new", old, new]);
    assert_same(
        &tables["sides"],
        &compared["sides"],
        &["launches", "kernels", "gemms", "convolutions", "fallback_launches", "failed", "lost", "total_ns"],
    );
    let of = |rows: &Value, what: &str| -> Vec<[String; 2]> {
        let cell = |row: &Value, side: &str| match &row["sides"][side][what] {
            Value::Null => String::new(),
            number => number.to_string(),
        };
        list(rows).iter().map(|row| ["old", "new"].map(|side| cell(row, side))).collect()
    };
    for (table, array, what) in [
        ("compared_kernels", "kernels", "launches"),
        ("compared_families", "families", "launches"),
        ("compared_gemms", "gemms", "calls"),
        ("compared_convolutions", "convolutions", "calls"),
    ] {
        let shown: Vec<[String; 2]> = list(&tables[table])
            .iter()
            .map(|row| {
                ["old", "new"].map(|side| {
                    let key = format!("sides.{side}.{what}");
                    row[&key].as_str().unwrap_or_else(|| panic!("no {key}")).to_owned()
                })
            })
            .collect();
        assert_eq!(shown, of(&compared[array], what), "{table}");
    }
}

fn controls_work(found: &Value) {
    let down = numbers(&found["down"]);
    let mut sorted = down.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(down, sorted, "the first click: most first");
    sorted.reverse();
    assert_eq!(numbers(&found["up"]), sorted, "the second: fewest first");
    assert_eq!(found["sorted"], "ascending");
    let kernels = list(&found["filtered"]);
    assert!(!kernels.is_empty() && kernels.len() < down.len(), "{kernels:?}");
    assert!(
        kernels.iter().all(|name| name.as_str().is_some_and(|name| name.contains("mul_mat"))),
        "{kernels:?}"
    );
    assert_eq!(found["rows_shown"], format!("{} of {} rows", kernels.len(), down.len()));
    assert_eq!(found["details"], serde_json::json!([false, true]), "full names on demand");
    let range =
        |name: &str| -> [f64; 2] { [0, 1].map(|at| found["zoom"][name][at].as_f64().expect("a number")) };
    let ([from, to], [near_from, near_to], [later_from, _]) = (range("whole"), range("near"), range("later"));
    assert!(from < near_from && near_to < to && near_from < later_from, "{}", found["zoom"]);
    assert_eq!(range("again"), [from, to], "the whole run again");
    assert_ne!(found["colours"][0], found["colours"][1], "the map's colours mean something else");
    assert_eq!(found["theme"][0], found["theme"][2], "light, dark, light");
    assert_ne!(found["theme"][0], found["theme"][1]);
}
