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

/// The commands of the sessions in a Markdown file, each with what it prints there.
fn sessions(markdown: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for block in markdown.split("```console\n").skip(1) {
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

/// Runs a session's command as `scripts/readme` does; returns what it prints, standard error
/// included.
fn printed(command: &str) -> String {
    let folder = artifacts::command().parent().expect("a folder").display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").expect("a PATH"));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(artifacts::root());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ROCSHIM_")) {
        shell.env_remove(name);
    }
    let output = shell.env("PATH", path).env("COLUMNS", "96").output().expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Fails for each of the sessions of `file` that prints something else, with the difference; skips
/// commands with one of the `others` in them. Returns the number of commands run.
#[track_caller]
fn check_sessions(file: &str, others: &[&str]) -> usize {
    let text = std::fs::read_to_string(artifacts::root().join(file)).expect("the file exists");
    let is_run = |command: &str| !others.iter().any(|other| command.contains(other));
    let sessions: Vec<_> = sessions(&text).into_iter().filter(|(command, _)| is_run(command)).collect();
    for (command, expected) in &sessions {
        assert_eq!(&printed(command), expected, "{file}: {command}; `scripts/readme` writes what it prints");
    }
    sessions.len()
}

#[test]
fn the_commands_of_the_readme_print_what_the_readme_shows() {
    assert!(check_sessions("README.md", &[]) > 4);
}

/// Without those that export to a folder, or need DuckDB.
#[test]
fn the_commands_of_the_samples_print_what_is_shown() {
    assert!(check_sessions("samples/README.md", &["/tmp/"]) > 8);
}

#[test]
fn the_readme_is_short() {
    let readme = readme();
    let lines = readme.lines().count();
    assert!(lines <= 250, "{lines} lines");
    let wide: Vec<&str> = readme.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "wider than 100 columns: {wide:#?}");
}
