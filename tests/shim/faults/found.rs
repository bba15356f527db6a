//! Recovers, verifies and counts the traces of a run.

use rocshim_tests::{Outcome, Traced};
use rocshim_trace::TracePath;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The contents of a run's traces.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Process → its calls, written or lost.
    pub(crate) calls: BTreeMap<String, u64>,
    /// Lost, by reason.
    pub(crate) lost: BTreeMap<String, u64>,
    /// Processes whose losses are unknown according to `rocshim`, because there was no memory for
    /// counters.
    pub(crate) unknown: BTreeSet<String>,
    /// Errors.
    pub(crate) wrong: Vec<String>,
}

/// What `rocshim` prints for a trace without memory for counters or for definitions.
const UNKNOWN: [&str; 4] = [
    "is empty: its process was killed before it wrote a line",
    "its extent is unknown",
    "came by a hook that was not defined",
    "more of this kind",
];

fn says_unknown(text: &str) -> bool {
    UNKNOWN.iter().any(|unknown| text.contains(unknown))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

/// Recovers and verifies the traces of a run.
pub(crate) fn look(outcome: &Outcome) -> Found {
    let (mut found, rings) = (Found::default(), outcome.folder().join("rings"));
    // If the requested folder takes no trace, it is in one under the temporary folder.
    let emergency = entries(&outcome.folder().join("tmp"));
    for folder in emergency.iter().chain([&outcome.folder().join("out")]) {
        let rocshim = |words: &[&str]| {
            let words = words.iter().map(|word| word.as_ref()).chain([folder.as_os_str()]);
            Traced::rocshim(words).env("ROCSHIM_RINGS", &rings).run()
        };
        if !entries(&rings).is_empty() || entries(folder).iter().any(|entry| entry.is_dir()) {
            let recovered = rocshim(&["recover"]);
            let is_none = entries(folder).is_empty();
            if recovered.code != Some(0) && !is_none && !says_unknown(&recovered.stdout) {
                found.wrong.push(format!("recover: {}{}", recovered.stdout, recovered.stderr));
            }
        }
        if !entries(folder).is_empty() {
            let verified = rocshim(&["verify", "--json"]);
            match serde_json::from_str::<Vec<Value>>(&verified.stdout) {
                Ok(files) => found.add(&files),
                Err(_) => found.wrong.push(format!("verify: {}{}", verified.stdout, verified.stderr)),
            }
        }
    }
    let Found { calls, unknown, .. } = &mut found;
    calls.retain(|process, _| !unknown.contains(process));
    let left = entries(&rings);
    if !left.is_empty() {
        found.wrong.push(format!("ring files without a reader: {left:?}: {:?}", entries(&left[0])));
    }
    found
}

impl Found {
    fn add(&mut self, files: &[Value]) {
        for file in files {
            let path = TracePath::of(Path::new(file["trace"].as_str().unwrap())).unwrap();
            let process = path.first.file_name().unwrap().to_string_lossy().into_owned();
            let number = |value: &Value| value.as_u64().unwrap();
            if file["verdict"] == "right" {
                *self.calls.entry(process).or_default() += number(&file["written"]) + number(&file["lost"]);
                for (reason, lost) in file["reasons"].as_object().unwrap() {
                    *self.lost.entry(reason.clone()).or_default() += number(lost);
                }
            } else if file["wrong"].as_array().unwrap().iter().all(|why| says_unknown(why.as_str().unwrap()))
            {
                self.unknown.insert(process);
            } else {
                self.wrong.push(format!("{}: {}", file["trace"], file["wrong"]));
            }
        }
    }
}
