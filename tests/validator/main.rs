//! The independent validator of the trace format, as a program of its own: in the tests' package its dependencies would ask for
//! other features of crates that the command is built of, and the tests would build the command a second time.
//!
//! The first line of its input is a schema; each further line is a JSON value, which it answers with a line: why the value does
//! not fulfil the schema, or nothing.

use serde_json::Value;
use std::io::{BufRead, Write, stdin, stdout};

fn main() {
    let mut lines = stdin().lock().lines().map(|line| line.expect("the tests write UTF-8"));
    let mut next = || lines.next().map(|line| -> Value { serde_json::from_str(&line).expect("JSON") });
    let schema = next().expect("a schema comes first");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let mut answers = stdout().lock();
    while let Some(value) = next() {
        let complaint = validator.validate(&value).err();
        let complaint = complaint.map(|e| format!("{e} at {}", e.instance_path())).unwrap_or_default();
        writeln!(answers, "{}", complaint.replace('\n', " ")).expect("the tests read every answer");
        answers.flush().expect("the tests read every answer");
    }
}
