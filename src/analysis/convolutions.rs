//! Convolutions by problem and MIOpen operation, with the solver and the kernels launched inside.

use super::{
    calls::{CallCounts, Calls},
    evidence::Evidence,
    interner::Interner,
    nesting::Contents,
    session::{FunctionId, Session},
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
    #[serde(flatten)]
    pub problem: ConvProblem,
    /// The algorithm asked for, in `run`.
    pub algorithm: Option<Word>,
    /// The solver id, in immediate mode and of a solution.
    pub solution_id: Option<u64>,
    /// The solver's name by MIOpen's id table.
    pub solver: Option<String>,
    /// How sure that name is: inferred, by that table.
    pub solver_evidence: Option<Evidence>,
    /// `find` with an exhaustive search.
    pub exhaustive: bool,
    /// What MIOpen offered in the last such call, best first.
    pub offered: Vec<ConvResult>,
    #[serde(flatten)]
    pub counts: CallCounts,
}

/// What makes two convolutions the same.
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
    /// What is fused, one after the other; empty for a convolution alone.
    pub operations: Vec<String>,
}

impl ConvRow {
    /// It computes: searches and questions do not.
    pub(crate) fn is_run(&self) -> bool {
        launches(&self.action)
    }

    /// The solver that was asked for, else the algorithm.
    pub(crate) fn chosen(&self) -> Option<String> {
        match (self.solution_id, &self.solver) {
            (Some(id), Some(name)) => Some(format!("{id} {name}")),
            (Some(id), None) => Some(id.to_string()),
            (None, _) => self.algorithm.as_ref().map(Word::to_string),
        }
    }
}

/// Asking and compiling launch nothing; a search may answer from its cache.
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
struct Kind {
    library: String,
    function: String,
    last: Conv,
    calls: Calls,
}

/// All kinds of convolution calls.
#[derive(Clone, Default)]
pub(crate) struct Convolutions(Interner<Key, Kind>);

impl Convolutions {
    /// Counts a call of `function`: its id, library, and name.
    pub(crate) fn count(
        &mut self,
        function: (Option<FunctionId>, &str, &str),
        conv: Conv,
        inside: &Contents,
    ) {
        let (number, library, name) = function;
        let kind = self.0.value(key(number, &conv), || Kind {
            library: library.to_string(),
            function: name.to_string(),
            last: Conv::default(),
            calls: Calls::default(),
        });
        kind.calls.count(&conv.call, inside);
        let offered =
            if conv.results.is_empty() { std::mem::take(&mut kind.last.results) } else { Vec::new() };
        kind.last = conv;
        kind.last.results.extend(offered);
    }

    /// Every kind, longest host time first.
    pub(crate) fn rows(&self, session: &Session, blind: Option<&str>) -> Vec<ConvRow> {
        let mut kinds: Vec<&Kind> = self.0.values().iter().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.calls.total_ns()));
        kinds.into_iter().map(|kind| kind.row(session, blind)).collect()
    }
}

/// What makes two calls the same: everything but who, when, where in memory, and what came back.
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

impl Kind {
    fn row(&self, session: &Session, blind: Option<&str>) -> ConvRow {
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
            counts: self.calls.row(session, launches, blind),
        }
    }
}
