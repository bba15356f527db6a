//! What `rocshim why` says of a bench's traces.

use super::Bench;
use crate::artifacts;
use serde_json::Value;

/// `rocshim why --json` of the bench's traces with `options`, in the user space in which they were
/// made.
///
/// # Panics
/// If it fails.
#[track_caller]
pub fn decisions(bench: &Bench, options: &[&str]) -> Vec<Value> {
    let mut command = bench.bare();
    command.arg(artifacts::command()).args(["why", "--json"]).args(options).arg(bench.folder().join("out"));
    let output = command.output().expect("rocshim runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let why: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    why["decisions"].as_array().expect("decisions").clone()
}

/// Evidence and text of the links of a step.
pub fn links(decision: &Value, step: &str) -> Vec<(String, String)> {
    let links = decision["links"].as_array().expect("links").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    links.filter(|l| l["step"] == step).map(|l| (text(&l["evidence"]), text(&l["text"]))).collect()
}
