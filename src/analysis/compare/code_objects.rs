//! Code objects from which some runs dispatched and others did not.

use super::{ComparedRun, PerRun, Presence, Seen, per_run::seen_cell};
use crate::evidence::observations::{Observation, absence};
use crate::{CodeObjectRow, Evidence};
use rocshim_trace::file_name;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A code object that not all runs dispatched from.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedObject {
    /// `libggml-hip.so #46`: the file's name and the ordinal in it; the hash of an image from
    /// memory without a file.
    pub object: String,
    /// How sure it is that it is the same object in all runs: inferred where files of one name are
    /// in different places or have other lengths.
    pub same: Evidence,
    /// Its paths in all runs.
    pub paths: BTreeSet<String>,
    /// Launches of its kernels in each run; absent where it was not loaded.
    #[serde(rename = "sides")]
    pub runs: PerRun<u64>,
    /// Which of the baseline and each other run dispatched from it.
    pub versus: PerRun<Presence>,
}

crate::table! {
    /// The code objects that not all runs dispatched from.
    COMPARED_OBJECTS: ComparedObject = "code_objects", "Code objects that not all runs dispatched from",
        "a code object from which a run dispatched and another did not";
    |row|
    count[each run]("sides.RUN", "", "launches in each run; absent where it was not loaded")
        => row.runs.get(run).copied();
    code("object", "code object", "the name of its file and its number there").name() => row.what();
    words("versus", "who dispatched from it", "whether each run and the baseline did").on_page()
        => seen_cell(&row.runs, row.versus.labelled());
}

impl ComparedObject {
    fn what(&self) -> String {
        let is_inferred = self.same == Evidence::Inferred;
        let doubt = if is_inferred { " (inferred to be the same, by its name)" } else { "" };
        format!("{}{doubt}", self.object)
    }
}

/// Returns them in the order of their names.
pub(super) fn compare(runs: &[ComparedRun]) -> Vec<ComparedObject> {
    let mut objects: BTreeMap<(String, u32), Vec<Vec<&CodeObjectRow>>> = BTreeMap::new();
    for (run, of) in runs.iter().enumerate() {
        for row in of.summary.code_objects.iter().filter(|row| place(row).is_some()) {
            let key = (place(row).unwrap_or_default(), row.ordinal.unwrap_or(0));
            objects.entry(key).or_insert_with(|| vec![Vec::new(); runs.len()])[run].push(row);
        }
    }
    let rows = objects.values().map(|rows| compared(runs, rows));
    let is_different = |row: &ComparedObject| {
        let mut seen = row.versus.iter().flatten().map(|presence| presence.seen);
        seen.any(|seen| matches!(seen, Seen::New | Seen::Gone))
    };
    rows.filter(is_different).collect()
}

fn compared(runs: &[ComparedRun], rows: &[Vec<&CodeObjectRow>]) -> ComparedObject {
    let all = || rows.iter().flatten();
    let launches = |run: usize| rows[run].iter().map(|row| row.launches).sum::<u64>();
    let identities: BTreeSet<_> = all().map(|row| (file(row), row.offset, row.bytes, &row.xxh3)).collect();
    let first = all().next().expect("a row is of some run");
    let number = first.ordinal.map(|ordinal| format!(" bundle {ordinal}")).unwrap_or_default();
    ComparedObject {
        object: place(first).unwrap_or_default() + &number,
        same: if identities.len() > 1 { Evidence::Inferred } else { Observation::Origin.evidence() },
        paths: all().filter_map(|row| file(row).cloned()).collect(),
        runs: PerRun::of(runs, |run| (!rows[run].is_empty()).then(|| launches(run))),
        versus: PerRun::others(runs, |other| {
            let has = [launches(0) > 0, launches(other) > 0];
            Presence::of(has, |run| absence(runs[[0, other][run]].limit_of_origins()))
        }),
    }
}

/// The file that holds it; for an image from memory the library file with the same bytes.
fn file(row: &CodeObjectRow) -> Option<&String> {
    row.path.as_ref().or(row.file.as_ref())
}

/// Returns its name, which is the same in every run; `None` for an image from memory with neither
/// file nor hash.
fn place(row: &CodeObjectRow) -> Option<String> {
    let name = file(row).map(|path| file_name(path).to_string());
    name.or_else(|| row.xxh3.as_ref().map(|hash| format!("from memory, {hash}")))
}
