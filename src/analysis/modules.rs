//! Loaded and unloaded modules, by image and result.

use super::interner::Interner;
use rocshim_trace::{Load, Word};
use serde::Serialize;

/// Loads or unloads of one module file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleRow {
    /// The function that was called.
    pub function: String,
    /// `load` or `unload`.
    pub action: Word,
    /// The module's file; absent for an image in memory and where it is not known.
    pub path: Option<String>,
    /// Calls, failed ones among them.
    pub calls: u64,
    /// Calls that returned an error.
    pub failed: u64,
    /// Host time of all calls.
    pub total_ns: u64,
}

crate::table! {
    /// The calls that load and unload modules, longest host time first.
    MODULES: ModuleRow = "modules", "Modules", "calls of a function on the modules of one file";
    |row|
    count("calls", "calls", "calls, failed ones among them") => row.calls;
    count("failed", "failed", "calls that returned an error") => row.failed;
    time("total_ns", "total", "host time of all calls") => row.total_ns;
    code("function", "function", "the function that was called").name() => &row.function;
    path("path", "file", "the module's file; absent for an image in memory") => row.path.as_ref();
}

/// All loads and unloads.
#[derive(Clone, Default)]
pub(crate) struct Modules(Interner<(String, Word, Option<String>), ModuleRow>);

impl Modules {
    /// Counts a call of `function` on the module in the file `path`.
    pub(crate) fn count(&mut self, function: &str, path: Option<&str>, load: &Load) {
        let key = (function.to_string(), load.action.clone(), path.map(str::to_string));
        let row = self.0.value(key, || ModuleRow {
            function: function.to_string(),
            action: load.action.clone(),
            path: path.map(str::to_string),
            calls: 0,
            failed: 0,
            total_ns: 0,
        });
        row.calls += 1;
        row.failed += u64::from(load.call.status != 0);
        row.total_ns += load.call.dur;
    }

    /// Every row, longest host time first.
    pub(crate) fn rows(&self) -> Vec<ModuleRow> {
        let mut rows = self.0.values().to_vec();
        rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.path.cmp(&b.path)));
        rows
    }
}
