//! Rows of calls of the libraries above HIP: GEMMs, convolutions, and calls recorded by name.

use super::{
    calls::{CallRow, STREAM, begin, calls, named, stream},
    names::NamedCall,
    row::Cell,
    table::{Table, TableId, address, flag, integer, text},
};
use crate::gemms::GemmProblem;
use rocshim_trace::{Blas, Conv, LtMatrix, Span, StreamRef, Tensor};

pub(super) static GEMMS: Table = calls(
    TableId::Gemms,
    "gemms",
    "a matrix product",
    &[
        text("form", "plain, batched, strided_batched, any_order; of hipBLASLt described or object"),
        text("trans_a", "N, T or C"),
        text("trans_b", "N, T or C"),
        integer("m", "rows of D"),
        integer("n", "columns of D"),
        integer("k", "inner dimension"),
        integer("batch", "products in the call"),
        text("a_type", "element type of A"),
        text("b_type", "of B"),
        text("c_type", "of C"),
        text("d_type", "of D"),
        text("compute", "type in which it is computed"),
        text("epilogue", "what is done to the result (hipBLASLt)"),
        text("algo", "standard, solution_index, … (rocBLAS, hipBLAS)"),
        integer("solution", "solution index that was asked for"),
        text("stream", STREAM),
    ],
);

pub(super) fn product(of: &NamedCall, problem: GemmProblem, on: Option<StreamRef>) -> CallRow {
    let (function, mut cells) = begin(of);
    let name = named(&function, &problem.in_short());
    cells.extend([problem.form.into(), problem.trans_a.into(), problem.trans_b.into()]);
    cells.extend([problem.m, problem.n, problem.k, problem.batch].map(Cell::from));
    cells.extend(problem.types.map(Cell::from));
    cells.extend([problem.compute, problem.epilogue, problem.algo].map(Cell::from));
    cells.extend([problem.solution.into(), on.map_or(Cell::Absent, stream)]);
    (&GEMMS, name, cells)
}

pub(super) static CONVOLUTIONS: Table = calls(
    TableId::Convolutions,
    "convolutions",
    "a convolution call of MIOpen",
    &[
        text(
            "action",
            "find, run, get_solution, compile_solution, immediate, find_solutions, run_solution, compile_plan, execute_plan",
        ),
        text("direction", "forward, backward_data, backward_weights"),
        text("x", "input: its lengths, then its type"),
        text("w", "filter"),
        text("y", "output"),
        text("pads", "for each dimension"),
        text("strides", "for each dimension"),
        text("dilations", "for each dimension"),
        integer("groups", "group count"),
        text("mode", "convolution, transpose, group, depthwise"),
        text("operations", "of a fusion plan"),
        text("algorithm", "that was asked for"),
        integer("solution_id", "solver id"),
        text("solver", "its name"),
        flag("exhaustive", "the search tries everything"),
        integer("workspace_bytes", "given to the call"),
        integer("returned", "results of a search"),
        text("first_result", "algorithm and, if known, solver of the first"),
        text("stream", STREAM),
    ],
);

fn tensor(tensor: Option<&Tensor>) -> Cell {
    tensor.map_or(Cell::Absent, |tensor| Cell::text(&format!("{} {}", tensor.lengths(), tensor.element)))
}

pub(super) fn convolution(of: &NamedCall, conv: &Conv) -> CallRow {
    let (function, mut cells) = begin(of);
    let way = conv.solver.as_deref().or(conv.algorithm.as_deref());
    let first = conv.results.first().map(|first| match &first.solver {
        Some(solver) => format!("{} {solver}", first.algorithm),
        None => first.algorithm.to_string(),
    });
    cells.extend([(&conv.action).into(), (&conv.direction).into()]);
    cells.extend([&conv.x, &conv.w, &conv.y].map(|it| tensor(it.as_ref())));
    cells.extend([&conv.pads, &conv.strides, &conv.dilations].map(Cell::list));
    cells.extend([
        conv.groups.into(),
        (&conv.mode).into(),
        Cell::list(&conv.operations),
        conv.algorithm.as_ref().into(),
        conv.solution_id.into(),
        conv.solver.as_deref().into(),
        conv.exhaustive.into(),
        conv.workspace.into(),
        conv.returned.into(),
        first.as_deref().into(),
        stream(conv.stream),
    ]);
    (&CONVOLUTIONS, named(&function, way.unwrap_or("")), cells)
}

pub(super) static BLAS: Table = calls(
    TableId::Blas,
    "blas_calls",
    "a call of a BLAS library that makes no product",
    &[
        text("action", "create, destroy, initialize, solutions, heuristic, transform, problem, prepare"),
        text("trans_a", "N, T or C"),
        text("trans_b", "N, T or C"),
        integer("m", "rows of D"),
        integer("n", "columns of D"),
        integer("k", "inner dimension"),
        integer("batch", "products"),
        text("a_type", "element type of A"),
        text("b_type", "of B"),
        text("d_type", "of D"),
        text("compute", "type in which it is computed"),
        integer("algo", "algorithm that was given"),
        integer("requested", "results asked for"),
        integer("returned", "results"),
        text("solutions", "indices of the first of them"),
    ],
);

pub(super) fn blas(of: &NamedCall, blas: &Blas) -> CallRow {
    let (function, mut cells) = begin(of);
    let problem = &blas.problem;
    let element =
        |matrix: &Option<LtMatrix>| Cell::from(matrix.as_ref().and_then(|matrix| matrix.element.as_ref()));
    cells.extend([(&blas.action).into(), problem.trans_a.as_ref().into(), problem.trans_b.as_ref().into()]);
    cells.extend([problem.m, problem.n, problem.k, problem.batch].map(Cell::from));
    cells.extend([&problem.a, &problem.b, &problem.d].map(element));
    cells.extend([problem.compute.as_ref().into(), blas.algo.into()]);
    let requested = Some(blas.requested).filter(|requested| *requested > 0);
    cells.extend([requested.into(), blas.returned.into(), Cell::list(&blas.solutions)]);
    (&BLAS, function, cells)
}

pub(super) static SPANS: Table = calls(
    TableId::Spans,
    "spans",
    "a call of a library that is known by its name: a transform, a solve, a collective, …",
    &[
        integer("count", "elements (RCCL)"),
        text("datatype", "their type"),
        text("op", "how they are combined"),
        integer("peer", "the other rank, or the root"),
        address("comm", "communicator"),
        text("operations", "of a problem of MIOpen"),
        integer("solution_id", "its solver id"),
        text("solver", "its solver"),
        text("stream", STREAM),
    ],
);

pub(super) fn span(of: &NamedCall, span: &Span) -> CallRow {
    let (function, mut cells) = begin(of);
    cells.extend([
        span.count.into(),
        span.datatype.as_ref().into(),
        span.op.as_ref().into(),
        span.peer.into(),
        Cell::address(span.comm),
        Cell::list(&span.operations),
        span.solution_id.into(),
        span.solver.as_deref().into(),
        stream(span.stream),
    ]);
    (&SPANS, function, cells)
}
