//! Library functions that some runs called and others did not.

use super::{ComparedRun, PerRun, Presence, Seen, per_run::seen_cell};
use crate::{Evidence, FunctionRow, names, table::Cell};
use serde::Serialize;
use std::collections::BTreeMap;

/// A hooked function that not all runs called.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedFunction {
    /// Its ROCm library, without version.
    pub library: String,
    /// The symbol.
    pub function: String,
    /// Calls in each run; absent where the shim did not hook it.
    #[serde(rename = "sides")]
    pub runs: PerRun<u64>,
    /// Which of the baseline and each other run called it.
    pub versus: PerRun<Presence>,
}

crate::table! {
    /// The library functions that not all runs called.
    COMPARED_FUNCTIONS: ComparedFunction = "functions", "Library functions that not all runs called",
        "a function that a run called and another did not";
    |row|
    count[each run]("sides.RUN", "", "calls in each run; ?: called, but not counted; absent: not hooked")
        => row.calls(run);
    code("function", "function", "the function").in_text().name()
        => format!("{} of {}", names::function(&row.function), row.library.trim_end_matches(".so"));
    code("function", "function", "the function").on_page().name() => names::function(&row.function);
    words("library", "library", "its library, without version").on_page() => &row.library;
    words("versus", "who called it", "whether each run and the baseline called it").on_page()
        => seen_cell(&row.runs, row.versus.labelled());
}

impl ComparedFunction {
    /// True for each run that called it.
    pub fn called(&self) -> Vec<bool> {
        let presences = || self.versus.iter().flatten();
        let baseline = presences().any(|presence| matches!(presence.seen, Seen::Both | Seen::Gone));
        let others = presences().map(|presence| matches!(presence.seen, Seen::Both | Seen::New));
        [baseline].into_iter().chain(others).collect()
    }

    fn calls(&self, run: usize) -> Cell {
        match self.runs.get(run) {
            Some(0) if self.called().get(run) == Some(&true) => "?".into(),
            calls => calls.copied().into(),
        }
    }
}

/// Returns them by library and name.
pub(super) fn compare(runs: &[ComparedRun]) -> Vec<ComparedFunction> {
    let mut functions: BTreeMap<(&str, &str), Vec<Option<&FunctionRow>>> = BTreeMap::new();
    for (run, of) in runs.iter().enumerate() {
        for row in &of.summary.functions {
            let key = (row.library.as_str(), row.function.as_str());
            functions.entry(key).or_insert_with(|| vec![None; runs.len()])[run] = Some(row);
        }
    }
    let rows = functions.into_iter().map(|((library, function), rows)| ComparedFunction {
        library: library.to_string(),
        function: function.to_string(),
        runs: PerRun::of(runs, |run| rows[run].map(|row| row.calls)),
        versus: PerRun::others(runs, |other| {
            let both = [rows[0], rows[other]];
            let presence = Presence::of(both.map(|row| row.is_some_and(FunctionRow::was_called)), |run| {
                absence(&runs[[0, other][run]], library, both[run])
            });
            match both.into_iter().flatten().any(may_only_be_known) {
                true => Presence { evidence: Evidence::Limited, why: Some(UNCOUNTED.into()), ..presence },
                false => presence,
            }
        }),
    });
    let is_different = |row: &ComparedFunction| {
        let mut seen = row.versus.iter().flatten().map(|presence| presence.seen);
        seen.any(|seen| matches!(seen, Seen::New | Seen::Gone))
    };
    rows.filter(is_different).collect()
}

const UNCOUNTED: &str =
    "its calls were not counted where it was seen: its address may only have been asked for";

/// Its address was looked up in a process that did not count its calls.
fn may_only_be_known(row: &FunctionRow) -> bool {
    !row.was_called() && row.looked_up > 0
}

/// Returns the evidence class of a run's absence of calls of a function, with the reason.
fn absence(run: &ComparedRun, library: &str, row: Option<&FunctionRow>) -> (Evidence, Option<String>) {
    let found = |evidence, why: &str| (evidence, Some(why.to_string()));
    match row.map(|row| row.state.as_str()) {
        None => found(Evidence::Unresolved, "the shim that wrote the trace did not hook it"),
        Some("off") => found(Evidence::Limited, "it was left out by ROCSHIM_RECORD"),
        Some("unbound") => found(Evidence::Unresolved, "the real function was not found"),
        Some(_) => crate::evidence::observations::absence(run.limit_of(library)),
    }
}
