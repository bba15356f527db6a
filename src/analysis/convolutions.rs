//! Convolutions by problem and MIOpen operation, with the solver and the kernels launched inside.

use super::{
    calls::{CallCounts, Calls},
    evidence::Evidence,
    interner::Interner,
    names,
    nesting::Contents,
    session::{FunctionId, ProcessId, Session},
    table::Cell,
    units,
};
use rocshim_trace::{Conv, ConvResult, Tensor, Word};
use serde::Serialize;

/// A kind of convolution call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConvRow {
    /// The library that was called.
    pub library: String,
    /// Its function.
    pub function: String,
    /// What was asked, as in the trace: `find`, `run`, `immediate`, `run_solution`, …
    pub action: Word,
    /// Sizes, types and direction of the convolution.
    #[serde(flatten)]
    pub problem: ConvProblem,
    /// The algorithm asked for, in `run`.
    pub algorithm: Option<Word>,
    /// The solver id, in immediate mode and of a solution.
    pub solution_id: Option<u64>,
    /// The solver's name by MIOpen's id table.
    pub solver: Option<String>,
    /// Evidence class of that name: *inferred*, by that table.
    pub solver_evidence: Option<Evidence>,
    /// True for `find` with an exhaustive search.
    pub exhaustive: bool,
    /// What MIOpen offered in the last such call, best first.
    pub offered: Vec<ConvResult>,
    /// Numbers of calls and their host time.
    #[serde(flatten)]
    pub counts: CallCounts,
}

crate::table! {
    /// The convolutions, longest host time without first calls first.
    CONVOLUTIONS: ConvRow = "convolutions",
        "Convolutions (host time; below each call, the kernels launched inside)",
        "calls of a function for the same convolution";
    |row|
    words("problem", "problem", "direction, tensors (x, w, y), pads, strides, dilations, groups, mode")
        .derived().on_page().name() => row.problem.in_words();
    count("calls", "calls", "calls, failed ones among them") => row.counts.calls;
    count("failed", "failed", "calls that returned an error or were left by an exception").if_any()
        => row.counts.failed;
    time("total_ns", "total", "host time of all calls") => row.counts.total_ns;
    time("first_calls_ns", "first calls", "that of the first call in each process, which may load code")
        .if_any().optional() => row.counts.times.first_calls_ns;
    time("median_ns", "median", "median of the later calls").no_sum().if_any() => row.counts.times.median_ns;
    time("p99_ns", "p99", "what 99 of 100 later calls did not exceed").no_sum().on_page()
        => row.counts.times.p99_ns;
    time("max_ns", "longest", "the longest later call").no_sum().if_any().optional()
        => row.counts.times.max_ns;
    words("action", "call", "what was asked, as in the trace: find, run, immediate, …")
        => format!("{}{}", row.action, if row.exhaustive { ", exhaustive" } else { "" });
    code("function", "function", "the function that was called").on_page() => names::function(&row.function);
    sentence("solver", "solver", "solver (solution_id) or algorithm that was asked for, or what MIOpen offered")
        => row.solver_in_words();
    evidence("solver_evidence", "solver's name", "inferred: by MIOpen's id table").on_page()
        => row.solver_evidence;
    words("kernels", "kernels inside", "the kernels launched inside these calls").on_page()
        => row.counts.kernels_cell();
    evidence("evidence", "evidence", "whether these kernels are all of them").on_page()
        => Cell::Evidence(row.counts.evidence, row.counts.why.clone());
}

impl ConvRow {
    /// Returns the requested solver or algorithm, else what MIOpen offered, in words.
    fn solver_in_words(&self) -> String {
        match (self.solution_id, &self.solver, &self.algorithm) {
            (Some(id), Some(name), _) => format!("{id} {name}"),
            (Some(id), None, _) => format!("{id}"),
            (None, _, Some(algorithm)) => algorithm.to_string(),
            (None, _, None) => self.offer(),
        }
    }

    /// Returns the best result that MIOpen offered, in words.
    fn offer(&self) -> String {
        let Some(best) = self.offered.first() else { return "offers nothing".into() };
        let solver = match (best.solution_id, &best.solver) {
            (Some(id), Some(name)) => format!("{id} {name}, "),
            (Some(id), None) => format!("{id}, "),
            _ => String::new(),
        };
        let others = match self.offered.len() - 1 {
            0 => String::new(),
            others => format!("; {others} more"),
        };
        let time = best.time_ms.map_or_else(|| "no time".into(), |ms| format!("{ms} ms"));
        format!(
            "offers {solver}{}, {time}, workspace {}{others}",
            best.algorithm,
            units::bytes(best.workspace)
        )
    }
}

/// The identity of a convolution: sizes, types and direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConvProblem {
    /// `forward`, `backward_data`, `backward_weights`, `unknown`.
    pub direction: Word,
    /// `convolution`, `transpose`, `group`, `depthwise`, or the number.
    pub mode: Word,
    /// The input.
    pub x: Option<Tensor>,
    /// The filter.
    pub w: Option<Tensor>,
    /// The output.
    pub y: Option<Tensor>,
    /// Padding for each spatial dimension.
    pub pads: Vec<i32>,
    /// Stride for each spatial dimension.
    pub strides: Vec<i32>,
    /// Dilation for each spatial dimension.
    pub dilations: Vec<i32>,
    /// Group count.
    pub groups: i32,
    /// The fused operations, in order; empty for a convolution alone.
    pub operations: Vec<String>,
}

impl ConvProblem {
    /// `forward, x 1x3x224x224 w 64x3x7x7 pad 3 stride 2 f32`, without what is at its default.
    pub fn in_words(&self) -> String {
        let mut words = vec![format!("{},", self.direction.replace('_', " "))];
        for (letter, tensor) in [("x", &self.x), ("w", &self.w), ("y", &self.y)] {
            // The output's lengths follow from the others where both are known.
            if letter == "y" && self.x.is_some() && self.w.is_some() {
                continue;
            }
            words.extend(tensor.as_ref().map(|tensor| format!("{letter} {}", numbers(&tensor.dims))));
        }
        let settings =
            [("pad", &self.pads, 0), ("stride", &self.strides, 1), ("dilation", &self.dilations, 1)];
        for (name, values, default) in settings {
            if values.iter().any(|value| *value != default) {
                let same = values.windows(2).all(|pair| pair[0] == pair[1]);
                words.push(format!("{name} {}", if same { values[0].to_string() } else { numbers(values) }));
            }
        }
        if self.groups != 1 {
            words.push(format!("groups {}", self.groups));
        }
        if self.mode != "convolution" {
            words.push(self.mode.to_string());
        }
        if !self.operations.is_empty() {
            words.push(format!("fused {}", self.operations.join("+")));
        }
        words.extend(
            [&self.x, &self.w, &self.y]
                .into_iter()
                .flatten()
                .next()
                .map(|tensor: &Tensor| tensor.element.to_string()),
        );
        words.join(" ")
    }
}

fn numbers(values: &[i32]) -> String {
    values.iter().map(i32::to_string).collect::<Vec<_>>().join("x")
}

impl ConvRow {
    /// Returns true for a call that computes, as opposed to a search or a query.
    pub(crate) fn is_run(&self) -> bool {
        launches(&self.action)
    }

    /// Returns the requested solver, else the algorithm.
    pub(crate) fn chosen(&self) -> Option<String> {
        match (self.solution_id, &self.solver) {
            (Some(id), Some(name)) => Some(format!("{id} {name}")),
            (Some(id), None) => Some(id.to_string()),
            (None, _) => self.algorithm.as_ref().map(Word::to_string),
        }
    }
}

/// Returns true if such a call is expected to launch kernels: queries and compilations do not, and
/// a search may be served from a cache.
fn launches(action: &str) -> bool {
    matches!(action, "run" | "immediate" | "run_solution" | "execute_plan")
}

/// The shape of a call that computes, and its additions and multiplications, by its sizes: 2 for
/// each element of the output (of a transposed one: the input) and each of a filter's that it
/// reads.
pub(crate) fn shape_of_run(conv: &Conv) -> Option<(String, Option<f64>)> {
    if !launches(&conv.action) {
        return None;
    }
    let lengths = |tensor: &Option<Tensor>| tensor.as_ref().map_or("?".to_owned(), Tensor::lengths);
    let element = conv.x.as_ref().map_or("?", |x| &x.element);
    let shape = format!("{} {} * {} {element}", conv.direction, lengths(&conv.x), lengths(&conv.w));
    let elements = |dims: &[i32]| dims.iter().map(|length| f64::from(*length)).product::<f64>();
    let positions = if conv.mode == "transpose" { &conv.x } else { &conv.y };
    let is_known = conv.operations.is_empty()
        && matches!(&*conv.mode, "convolution" | "transpose" | "group" | "depthwise");
    let operations = positions.as_ref().zip(conv.w.as_ref()).filter(|_| is_known);
    let operations =
        operations.and_then(|(of, filter)| Some(2.0 * elements(&of.dims) * elements(filter.dims.get(1..)?)));
    Some((shape, operations))
}

#[derive(Clone)]
struct ConvEntry {
    library: String,
    function: String,
    last: Conv,
    calls: Calls,
}

/// All kinds of convolution calls.
#[derive(Clone, Default)]
pub(crate) struct Convolutions(Interner<Key, ConvEntry>);

impl Convolutions {
    /// Counts a call of `function`: its id, library, and name.
    pub(crate) fn count(
        &mut self,
        process: ProcessId,
        function: (Option<FunctionId>, &str, &str),
        conv: Conv,
        inside: &Contents,
    ) {
        let (number, library, name) = function;
        let kind = self.0.value(key(number, &conv), || ConvEntry {
            library: library.to_string(),
            function: name.to_string(),
            last: Conv::default(),
            calls: Calls::default(),
        });
        kind.calls.count(process, &conv.call, inside);
        let offered =
            if conv.results.is_empty() { std::mem::take(&mut kind.last.results) } else { Vec::new() };
        kind.last = conv;
        kind.last.results.extend(offered);
    }

    /// Every kind, longest host time without first calls first.
    pub(crate) fn rows(&self, session: &Session, gap: Option<&str>) -> Vec<ConvRow> {
        let mut kinds: Vec<&ConvEntry> = self.0.values().iter().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.calls.weight()));
        kinds.into_iter().map(|kind| kind.row(session, gap)).collect()
    }
}

/// The identity of a kind of call: everything except thread, time, addresses and results.
type Key = (
    Option<FunctionId>,
    [Word; 3],
    [Option<Tensor>; 3],
    [Vec<i32>; 3],
    i32,
    Vec<String>,
    Option<Word>,
    Option<u64>,
    bool,
);

fn key(function: Option<FunctionId>, conv: &Conv) -> Key {
    let Conv { action, direction, mode, x, w, y, pads, strides, dilations, .. } = conv;
    (
        function,
        [action, direction, mode].map(Word::clone),
        [x, w, y].map(Option::clone),
        [pads, strides, dilations].map(Vec::clone),
        conv.groups,
        conv.operations.clone(),
        conv.algorithm.clone(),
        conv.solution_id,
        conv.exhaustive,
    )
}

impl ConvEntry {
    fn row(&self, session: &Session, gap: Option<&str>) -> ConvRow {
        let conv = self.last.clone();
        let launches = launches(&conv.action);
        ConvRow {
            library: self.library.clone(),
            function: self.function.clone(),
            action: conv.action,
            problem: ConvProblem {
                direction: conv.direction,
                mode: conv.mode,
                x: conv.x,
                w: conv.w,
                y: conv.y,
                pads: conv.pads,
                strides: conv.strides,
                dilations: conv.dilations,
                groups: conv.groups,
                operations: conv.operations,
            },
            algorithm: conv.algorithm,
            solution_id: conv.solution_id,
            solver_evidence: conv.solver.is_some().then_some(Evidence::Inferred),
            solver: conv.solver,
            exhaustive: conv.exhaustive,
            offered: conv.results,
            counts: self.calls.row(session, launches, gap),
        }
    }
}
