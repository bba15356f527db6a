//! Calls recorded by name: by function and, for collectives, by the data that they move.

use super::{
    host_times::{HostTimes, HostTimesBuilder},
    interner::Interner,
    kernels::{Inside, inside},
    names,
    nesting::Contents,
    session::{FunctionId, ProcessId, Session},
    status::is_failure,
    units::count,
};
use rocshim_trace::{Span, Word};
use serde::Serialize;

/// A kind of such calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanRow {
    /// The library that was called.
    pub library: String,
    /// Its function.
    pub function: String,
    /// Element type of a collective or message.
    pub datatype: Option<Word>,
    /// How a collective combines.
    pub op: Option<Word>,
    /// Operations of a MIOpen solution or fusion plan, in order.
    pub operations: Vec<String>,
    /// The solver id of the solution that is run.
    pub solution_id: Option<u64>,
    /// The solver's name by MIOpen's id table.
    pub solver: Option<String>,
    /// Elements that all calls moved, as passed; absent where the function has none.
    pub count: Option<u64>,
    /// Calls, failed ones among them.
    pub calls: u64,
    /// Calls that returned an error or were left by an exception.
    pub failed: u64,
    /// Host time of all calls.
    pub total_ns: u64,
    /// That of the first call in each process, and median, p99 and maximum of the later ones that
    /// did not fail.
    #[serde(flatten)]
    pub times: HostTimes,
    /// Launches seen inside these calls, on the same thread, at any depth.
    pub launches: u64,
    /// Their kernels.
    pub kernels: Vec<Inside>,
}

crate::table! {
    /// The library calls that are known by their name, by library.
    SPANS: SpanRow = "spans", "Other library calls (host time)", "calls of a function for the same work";
    |row|
    words("library", "library", "its library").on_page() => &row.library;
    count("calls", "calls", "calls, failed ones among them") => row.calls;
    count("failed", "failed", "calls that returned an error").if_any() => row.failed;
    time("total_ns", "total", "host time of all calls") => row.total_ns;
    time("first_calls_ns", "first calls", "that of the first call in each process, which may load code")
        .if_any().optional() => row.times.first_calls_ns;
    time("median_ns", "median", "median of the later calls").no_sum().if_any() => row.times.median_ns;
    time("p99_ns", "p99", "what 99 of 100 later calls did not exceed").no_sum().on_page()
        => row.times.p99_ns;
    time("max_ns", "longest", "the longest later call").no_sum().if_any().optional()
        => row.times.max_ns;
    count("launches", "launches", "launches seen inside these calls") => row.launches;
    words("function", "function", "its name, with element type (datatype), operation (op), solver, elements")
        .name() => row.what();
}

impl SpanRow {
    /// `ncclAllReduce bf16 sum, 1 048 576 elements`, `miopenRunSolution softmax 157 Softmax`.
    fn what(&self) -> String {
        let name = names::function(&self.function);
        let words = [Some(name.as_str()), self.datatype.as_deref(), self.op.as_deref()].into_iter().flatten();
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.extend((!self.operations.is_empty()).then(|| self.operations.join("+")));
        words.extend(
            self.solution_id.map(|id| format!("{id} {}", self.solver.as_deref().unwrap_or_default())),
        );
        let words = words.join(" ");
        match self.count {
            Some(elements) => format!("{words}, {} elements", count(elements)),
            None => words,
        }
    }
}

#[derive(Clone)]
struct SpanEntry {
    row: SpanRow,
    times: HostTimesBuilder,
    inside: Contents,
}

/// All kinds of such calls.
#[derive(Clone, Default)]
pub(crate) struct Spans(Interner<Key, SpanEntry>);

/// Identity of a kind: the function, the type, the operation; the solution's solver and operations.
type Key = (Option<FunctionId>, Option<Word>, Option<Word>, Option<u64>, Vec<String>);

impl Spans {
    /// Counts a call of `function`: its id, library, and name.
    pub(crate) fn count(
        &mut self,
        process: ProcessId,
        function: (Option<FunctionId>, &str, &str),
        span: Span,
        inside: &Contents,
    ) {
        let (number, library, name) = function;
        let key = (number, span.datatype.clone(), span.op.clone(), span.solution_id, span.operations.clone());
        let kind = self.0.value(key, || SpanEntry {
            row: SpanRow {
                library: library.to_string(),
                function: name.to_string(),
                datatype: span.datatype,
                op: span.op,
                operations: span.operations,
                solution_id: span.solution_id,
                solver: span.solver,
                count: None,
                calls: 0,
                failed: 0,
                total_ns: 0,
                times: HostTimes::default(),
                launches: 0,
                kernels: Vec::new(),
            },
            times: HostTimesBuilder::default(),
            inside: Contents::default(),
        });
        let row = &mut kind.row;
        row.calls += 1;
        let is_failed = is_failure(library, &span.call);
        row.failed += u64::from(is_failed);
        kind.times.add(process, span.call.dur, !is_failed);
        row.count = span.count.map(|count| row.count.unwrap_or(0).saturating_add(count)).or(row.count);
        kind.inside.add(inside);
    }

    /// Returns all kinds by library, in the order of the libraries' first calls; in each, longest
    /// host time without first calls first.
    pub(crate) fn rows(&self, session: &Session) -> Vec<SpanRow> {
        let mut libraries: Vec<&str> = Vec::new();
        let mut rows: Vec<SpanRow> = Vec::new();
        for kind in self.0.values() {
            if !libraries.contains(&kind.row.library.as_str()) {
                libraries.push(&kind.row.library);
            }
            let launches = kind.inside.kernels.iter().map(|(_, launches)| launches.launches).sum();
            rows.push(SpanRow {
                launches,
                total_ns: kind.times.total_ns(),
                times: kind.times.finish(),
                kernels: inside(session, &kind.inside.kernels),
                ..kind.row.clone()
            });
        }
        let weight = |row: &SpanRow| (row.total_ns - row.times.first_calls_ns, row.total_ns);
        let place = |row: &SpanRow| libraries.iter().position(|library| *library == row.library);
        rows.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| weight(b).cmp(&weight(a))));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interner::Id, nesting::Launches};
    use rocshim_trace::Call;

    #[test]
    fn collectives_of_one_type_and_operation_are_one_row() {
        let mut spans = Spans::default();
        let mut session = Session::default();
        let inside = Contents {
            kernels: vec![(
                session.intern_symbol("k".into(), None),
                Launches { launches: 2, ..Launches::default() },
            )],
            ..Contents::default()
        };
        let mut count = |number, library, name, datatype: Option<&str>, count, dur, status| {
            let call = Call { dur, status, ..Call::default() };
            let span = Span { call, count, datatype: datatype.map(Into::into), ..Span::default() };
            spans.count(ProcessId::at(0), (Some(FunctionId::at(number)), library, name), span, &inside);
        };
        count(1, "librccl.so", "ncclAllReduce", Some("f16"), Some(10), 5, 0);
        count(2, "librocfft.so", "rocfft_execute", None, None, 100, 0);
        count(1, "librccl.so", "ncclAllReduce", Some("f32"), Some(7), 20, 0);
        count(1, "librccl.so", "ncclAllReduce", Some("f16"), Some(30), 5, 4);
        let rows = spans.rows(&session);
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (&*row.function, row.datatype.as_deref(), row.count, row.calls, row.failed, row.launches)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("ncclAllReduce", Some("f16"), Some(40), 2, 1, 4),
                ("ncclAllReduce", Some("f32"), Some(7), 1, 0, 2),
                ("rocfft_execute", None, None, 1, 0, 2),
            ]
        );
    }
}
