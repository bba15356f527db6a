//! The README and the examples of the format are complete: each command has a row, each record type
//! an example line; its sessions are what the commands print; and the README stays short.

use rocshim_tests::{Traced, artifacts};
use rocshim_trace::{Record, parse_line};
use std::collections::BTreeSet;

fn readme() -> String {
    std::fs::read_to_string(artifacts::root().join("README.md")).expect("there is a README")
}

/// The text between `first` and `last`.
#[track_caller]
fn between<'a>(text: &'a str, first: &str, last: &str) -> &'a str {
    let (_, rest) = text.split_once(first).unwrap_or_else(|| panic!("no {first}"));
    rest.split_once(last).unwrap_or_else(|| panic!("no {last}")).0
}

#[test]
fn there_is_an_example_line_of_every_record_type() {
    let examples = std::fs::read_to_string(artifacts::root().join("src/trace/examples.ndjson")).unwrap();
    let mut types = BTreeSet::new();
    for line in examples.lines() {
        let record = parse_line(line.as_bytes()).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_ne!(record, Record::Unknown, "{line}");
        types.insert(serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].to_string());
    }
    // Every type in the schema.
    let schema: serde_json::Value = serde_json::from_str(rocshim_trace::SCHEMA).unwrap();
    let mut known = BTreeSet::new();
    collect_types(&schema, &mut known);
    assert!(!known.is_empty() && known == types, "in the schema {known:?}, in the examples {types:?}");
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

/// The commands of the README's sessions, each with what it prints there.
fn sessions(readme: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        for line in between(block, "", "```").lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_string(), String::new())),
                None => {
                    let (_, output) = commands.last_mut().expect("a session begins with a command");
                    output.push_str(line);
                    output.push('\n');
                }
            }
        }
    }
    commands
}

#[test]
fn the_commands_of_the_readme_print_what_the_readme_shows() {
    let sessions = sessions(&readme());
    assert!(sessions.len() > 4);
    assert_print(sessions);
}

#[test]
fn five_questions_of_users_have_a_command_each_that_prints_what_the_samples_show() {
    let samples = std::fs::read_to_string(artifacts::root().join("samples/README.md")).unwrap();
    let sessions = sessions(between(&samples, "**Five questions", "| further question"));
    assert_eq!(sessions.len(), 5);
    assert_print(sessions);
}

/// Asserts that each command prints what is expected of it.
#[track_caller]
fn assert_print(sessions: Vec<(String, String)>) {
    for (command, expected) in sessions {
        let folder = artifacts::command().parent().expect("a folder").display().to_string();
        let path = format!("{folder}:{}", std::env::var("PATH").expect("a PATH"));
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &command]).current_dir(artifacts::root()).env("PATH", path).env("COLUMNS", "96");
        let output = shell.output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{command}");
    }
}

#[test]
fn the_readme_is_short() {
    let readme = readme();
    let lines = readme.lines().count();
    assert!(lines <= 250, "{lines} lines");
    let wide: Vec<&str> = readme.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "wider than 100 columns: {wide:#?}");
}
