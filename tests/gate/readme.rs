//! The README says what is: its table of variables, its example lines and its commands are held against the real ones.

use rocshim_tests::{Traced, artifacts};
use rocshim_trace::{Record, parse_line};
use std::collections::BTreeSet;

fn readme() -> String {
    std::fs::read_to_string(artifacts::root().join("README.md")).expect("there is a README")
}

/// What lies between two lines of the README.
#[track_caller]
fn between<'a>(text: &'a str, first: &str, last: &str) -> &'a str {
    let (_, rest) = text.split_once(first).unwrap_or_else(|| panic!("no {first} in the README"));
    rest.split_once(last).unwrap_or_else(|| panic!("no {last} in the README")).0
}

#[test]
fn the_table_of_variables_is_the_shims_own() {
    let readme = readme();
    let table = between(&readme, "<!-- variables:", "<!-- end of variables -->");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let in_readme: Vec<Vec<String>> =
        rows.map(|row| row.split('|').map(|cell| cell.trim().replace('`', "")).collect()).collect();
    let shown = Traced::rocshim(["variables"]).env("COLUMNS", "10000").run().ok().stdout;
    let shown: Vec<&str> = shown.lines().filter(|line| line.trim_start().starts_with("ROCSHIM_")).collect();
    assert_eq!(in_readme.len(), shown.len(), "rows\n{shown:#?}");
    for (row, line) in in_readme.iter().zip(shown) {
        let words = |text: &str| text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ");
        let default = if row[2] == "unset" { "" } else { &row[2] };
        assert_eq!(words(&format!("{} {default} {}", row[1], row[3])), words(line));
    }
}

#[test]
fn there_is_an_example_line_of_every_record_type() {
    let readme = readme();
    let examples = between(&readme, "```json\n", "```");
    let mut types = BTreeSet::new();
    for line in examples.lines() {
        let record = parse_line(line.as_bytes()).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_ne!(record, Record::Unknown, "{line}");
        types.insert(serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].to_string());
    }
    // Every type that the schema knows.
    let schema: serde_json::Value = serde_json::from_str(rocshim_trace::SCHEMA).unwrap();
    let mut known = BTreeSet::new();
    collect_types(&schema, &mut known);
    assert!(!known.is_empty() && known == types, "in the schema {known:?}, in the README {types:?}");
}

/// Every `"type": {"const": …}` of a schema: the values of the key `type` of a line.
fn collect_types(schema: &serde_json::Value, into: &mut BTreeSet<String>) {
    if let Some(name) = schema.pointer("/properties/type/const") {
        into.insert(name.to_string());
    }
    match schema {
        serde_json::Value::Object(map) => map.values().for_each(|value| collect_types(value, into)),
        serde_json::Value::Array(list) => list.iter().for_each(|value| collect_types(value, into)),
        _ => {}
    }
}

#[test]
fn every_command_is_in_the_readme() {
    let help = Traced::rocshim(["--help"]).run().ok().stdout;
    let commands = between(&help, "Commands:", "Options:")
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let readme = readme();
    for command in
        commands.filter_map(|line| line.split_whitespace().next()).filter(|command| *command != "help")
    {
        assert!(readme.contains(&format!("| `rocshim {command}")), "rocshim {command}");
    }
}
