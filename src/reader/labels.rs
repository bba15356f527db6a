//! Reads labels: the user's names for time ranges, one JSON object per line.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::Path;

/// A name for a time range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Start in Unix ns.
    pub begin: u64,
    /// End in Unix ns.
    pub end: u64,
}

/// Limit of the file's size in bytes: a line takes some hundred bytes, one of the prompt ladder
/// some KiB.
const LARGEST: u64 = 256 << 20;

#[derive(Deserialize)]
struct Line {
    label: String,
    #[serde(alias = "sent")]
    begin: UnixTime,
    #[serde(alias = "received")]
    end: UnixTime,
}

/// Unix ns: a number, or a string of one, as JavaScript cannot represent such numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum UnixTime {
    Number(u64),
    Text(String),
}

impl UnixTime {
    fn ns(&self) -> Option<u64> {
        match self {
            UnixTime::Number(ns) => Some(*ns),
            UnixTime::Text(text) => text.parse().ok(),
        }
    }
}

/// Reads the labels of `path`.
pub fn read_labels(path: &Path) -> Result<Vec<Label>> {
    let name = path.display();
    let size = path.metadata().with_context(|| format!("cannot read {name}"))?.len();
    if size > LARGEST {
        bail!("{name} has {size} bytes: no file of labels is that large; give one with a JSON object a line");
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let mut labels = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        labels.push(
            label(line)
                .map_err(|why| anyhow::anyhow!("{name}:{}: {why}; a line is like {EXAMPLE}", number + 1))?,
        );
    }
    if labels.is_empty() {
        bail!("{name} has no labels: give a file with lines like {EXAMPLE}");
    }
    Ok(labels)
}

const EXAMPLE: &str =
    r#"{"label":"cold","begin":"1763800000000000000","end":"1763800001000000000"} (Unix ns)"#;

fn label(line: &str) -> Result<Label, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| format!("not a label: {error}"))?;
    let (Some(begin), Some(end)) = (line.begin.ns(), line.end.ns()) else {
        return Err("begin or end is no number of ns".into());
    };
    if end < begin {
        return Err(format!("the label {} ends before it begins", line.label));
    }
    Ok(Label { name: line.label, begin, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_two_moments() {
        let expected = Label { name: "a".into(), begin: 5, end: 9 };
        for line in [
            r#"{"label":"a","begin":5,"end":"9"}"#,
            r#"{"sent":"5","received":"9","label":"a","response":{}}"#,
        ] {
            assert_eq!(label(line).as_ref(), Ok(&expected));
        }
        assert_eq!(
            label(r#"{"label":"a","begin":9,"end":5}"#).unwrap_err(),
            "the label a ends before it begins"
        );
        assert_eq!(
            label(r#"{"label":"a","begin":"x","end":5}"#).unwrap_err(),
            "begin or end is no number of ns"
        );
        assert!(
            label("{}").unwrap_err().starts_with("not a label: missing field"),
            "{}",
            label("{}").unwrap_err()
        );
    }
}
