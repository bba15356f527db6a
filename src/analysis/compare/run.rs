//! A run of a comparison: its summary, its label, and why it may have done more than its traces
//! show.

use crate::evidence::observations::absence;
use crate::{Evidence, FunctionRow, Summary, Totals, table::Cell};
use rocshim_trace::fits;
use serde::Serialize;

/// One run.
pub struct ComparedRun {
    /// The name of the run in tables and JSON: `A`, `B`, … or as given by `--labels`.
    pub label: String,
    /// The argument that named it.
    pub path: String,
    /// The summary of all traces of the run.
    pub summary: Summary,
}

/// A run as a row of the table of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRunRow {
    /// The label of the run.
    #[serde(rename = "side")]
    pub run: String,
    /// True for the first run, with which the others are compared.
    pub baseline: bool,
    /// The argument that named it.
    pub path: String,
    /// Host time of all launch calls.
    pub total_ns: u64,
    /// Time of all kernels on the GPU; absent where GPU times were not requested.
    pub gpu_ns: Option<u64>,
    /// Launches out of Tensile's fallback library; failed ones do not count.
    pub fallback_launches: u64,
    /// Launches of GEMM kernels, of which `fallback_launches` are a part.
    pub(crate) product_launches: u64,
    /// How sure it is that there were fallback launches, or none.
    pub fallback_evidence: Evidence,
    /// The reason for `fallback_evidence`.
    pub fallback_why: String,
    /// Why *absent from this run* is only *limited*, if it is.
    pub limited: Option<String>,
    /// Sums over the run's processes.
    #[serde(flatten)]
    pub totals: Totals,
}

crate::table! {
    /// The runs.
    COMPARED_RUNS: ComparedRunRow = "sides", "Runs", "a run: the traces that were named for it";
    |row|
    words("side", "run", "its label").name() => &row.run;
    words("baseline", "baseline", "the others are compared with it").on_page()
        => if row.baseline { "baseline" } else { "" };
    count("launches", "launches", "launches, failed ones among them") => row.totals.launches;
    count("kernels", "kernels", "different kernels").no_sum() => row.totals.kernels;
    time("total_ns", "host time", "host time of all launch calls").optional() => row.total_ns;
    count("gemms", "GEMMs", "GEMMs, each once") => row.totals.gemms;
    count("convolutions", "convs", "convolution calls") => row.totals.convolutions;
    count("fallback_launches", "fallback", "launches out of Tensile's fallback library")
        => row.fallback_launches;
    count("graph_launches", "graph launches", "launches of graphs").on_page() => row.totals.graph_launches;
    count("failed", "failed", "calls that failed") => row.totals.failed;
    count("lost", "lost", "events that were lost") => row.totals.lost;
    evidence("limited", "what it has not", "confirmed absent, or why more may have happened").on_page()
        => match &row.limited {
            Some(why) => Cell::Evidence(Evidence::Limited, Some(why.clone())),
            None => absence(None).0.into(),
        };
    path("path", "traces", "the argument that named it") => &row.path;
}

pub(super) fn rows(runs: &[ComparedRun]) -> Vec<ComparedRunRow> {
    runs.iter().enumerate().map(|(at, run)| run.row(at == 0)).collect()
}

impl ComparedRun {
    fn row(&self, baseline: bool) -> ComparedRunRow {
        let fallback = &self.summary.fallback;
        ComparedRunRow {
            run: self.label.clone(),
            baseline,
            path: self.path.clone(),
            total_ns: self.summary.kernels.iter().map(|row| row.total_ns).sum(),
            gpu_ns: self.summary.gpu.as_ref().map(|gpu| gpu.kernels_ns),
            fallback_launches: fallback.kernels.iter().map(|row| row.launches).sum(),
            product_launches: fallback.products,
            fallback_evidence: fallback.evidence,
            fallback_why: fallback.why.clone(),
            limited: self.limit(),
            totals: self.summary.totals.clone(),
        }
    }

    /// Returns why a launch may be missing from this run's tables; `None` if none can be.
    pub(crate) fn limit(&self) -> Option<String> {
        self.summary.visibility_gaps.launches.clone().or_else(|| self.unfinished())
    }

    /// Returns why a call of `library` may be missing; `None` if none can be.
    pub(crate) fn limit_of(&self, library: &str) -> Option<String> {
        let Some(row) = self.summary.libraries.iter().find(|row| row.library == library) else {
            return Some(format!("the shim that wrote the trace did not hook {library}"));
        };
        if row.calls == 0 && row.loaded_in == 0 && row.evidence.is_confirmed_absent() {
            return self.unfinished();
        }
        let unbound = (row.evidence == Evidence::Unresolved).then(|| row.why.clone());
        let open = row.open_way.clone().or(unbound);
        self.summary.visibility_gaps.calls.clone().or(open).or_else(|| self.unfinished())
    }

    /// The same for all libraries that match a pattern, with or without `.so`.
    pub(super) fn limit_of_libraries(&self, pattern: &str) -> Option<String> {
        let is_it = |name: &str| fits(pattern, name) || fits(pattern, name.trim_end_matches(".so"));
        let mut known = self.summary.libraries.iter().filter(|row| is_it(&row.library)).peekable();
        if known.peek().is_none() {
            return Some(format!("no library that `{pattern}` fits was hooked"));
        }
        known.find_map(|row| self.limit_of(&row.library))
    }

    /// Returns why a call of a function may be missing.
    pub(super) fn limit_of_function(&self, library: &str, function: &str) -> Option<String> {
        let is_it = |row: &&FunctionRow| row.library == library && row.function == function;
        match self.summary.functions.iter().find(is_it) {
            Some(_) => self.limit_of(library),
            None => Some(format!("the shim that wrote the trace did not hook {function}")),
        }
    }

    /// Returns why launches may be missing from the tables of code objects.
    pub(super) fn limit_of_origins(&self) -> Option<String> {
        self.summary.visibility_gaps.origins.clone().or_else(|| self.unfinished())
    }

    /// Returns why the traces do not contain everything that the processes did, or will do.
    fn unfinished(&self) -> Option<String> {
        let summary = &self.summary;
        let ran_on = summary.processes.iter().any(|row| row.end == "snapshot");
        let noted = || {
            let notes = summary.processes.iter().flat_map(|row| &row.notes);
            notes.filter_map(|note| note.strip_prefix("limited: ")).map(str::to_owned).next()
        };
        let found = |condition: bool, why: &str| condition.then(|| why.to_string());
        let endless = summary.processes.iter().any(|row| matches!(row.end.as_str(), "cut" | "rotated"));
        found(summary.totals.running > 0, "a process still runs")
            .or_else(|| found(endless, "a trace has no end"))
            .or_else(|| found(ran_on, "a process ran on after the snapshot"))
            .or_else(|| summary.notes.first().map(|note| format!("a file was not read: {note}")))
            .or_else(|| found(summary.totals.late > 0, "calls came after recording had ended"))
            .or_else(noted)
    }
}
