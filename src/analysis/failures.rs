//! Failed calls, by function and status.

use super::{
    interner::Interner,
    names,
    session::FunctionId,
    status::{is_failure, status_name},
};
use rocshim_trace::Call;
use serde::Serialize;

/// The failures of a function with one status.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureRow {
    /// The library.
    pub library: String,
    /// Its function.
    pub function: String,
    /// The returned status; absent if a C++ exception left the call.
    pub status: Option<i32>,
    /// The vendor's name of the status.
    pub name: Option<&'static str>,
    /// Number of such calls.
    pub calls: u64,
}

crate::table! {
    /// The failed calls, most calls first.
    FAILURES: FailureRow = "failures", "Failed calls", "calls of a function that returned the same error";
    |row|
    count("calls", "calls", "how often") => row.calls;
    words("library", "library", "the function's library").on_page() => &row.library;
    code("function", "function", "the function that was called").name() => names::function(&row.function);
    words("status", "returned", "what it returned, and the vendor's name for that") => row.returned();
}

impl FailureRow {
    fn returned(&self) -> String {
        match (self.status, self.name) {
            (Some(status), Some(name)) => format!("{status} {name}"),
            (Some(status), None) => status.to_string(),
            (None, _) => "nothing: a C++ exception left it".into(),
        }
    }
}

/// All failures.
#[derive(Clone, Default)]
pub(crate) struct Failures(Interner<(Option<FunctionId>, Option<i32>), FailureRow>);

impl Failures {
    /// Counts the call if it failed. `function`: its id, library, and name.
    pub(crate) fn count(&mut self, function: (Option<FunctionId>, &str, &str), call: &Call) {
        let (number, library, name) = function;
        if !is_failure(library, call) {
            return;
        }
        let status = (!call.unwound).then_some(call.status);
        let row = self.0.value((number, status), || FailureRow {
            library: library.to_string(),
            function: name.to_string(),
            status,
            name: status.and_then(|status| status_name(library, status)),
            calls: 0,
        });
        row.calls += 1;
    }

    /// Returns the number of failed calls.
    pub(crate) fn total(&self) -> u64 {
        self.0.values().iter().map(|row| row.calls).sum()
    }

    /// Every row, most calls first.
    pub(crate) fn rows(&self) -> Vec<FailureRow> {
        let mut rows = self.0.values().to_vec();
        rows.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.function.cmp(&b.function)));
        rows
    }
}
