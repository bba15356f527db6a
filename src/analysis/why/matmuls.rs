//! Matmuls of hipBLASLt: what an object was given before it runs, and what makes two problems the
//! same.

use super::seen::alignment;
use rocshim_trace::{Hex, LtMatrix, Matmul, Problem};

/// An object of hipBLASLt.
#[derive(Clone, Default)]
pub(super) struct Instance {
    pub(super) problem: Problem,
    pub(super) algo: Option<i32>,
    /// The number of the chain of the call that set the problem.
    pub(super) set_by: Option<usize>,
}

/// What makes two problems of hipBLASLt the same: all but addresses.
pub(super) fn problem_key(problem: &Problem) -> String {
    let Problem { trans_a, trans_b, m, n, k, batch, compute, epilogue, .. } = problem;
    let side = |side: &Option<LtMatrix>| {
        side.as_ref().map(|side| (side.element.clone(), side.ld, side.stride, side.order.clone()))
    };
    let sides = [&problem.a, &problem.b, &problem.c, &problem.d].map(side);
    format!("{trans_a:?} {trans_b:?} {m:?} {n:?} {k:?} {batch:?} {compute:?} {epilogue:?} {sides:?}")
}

/// Alignments and leading dimensions of A, B, C and D.
pub(super) fn of_matmul(matmul: &Matmul) -> ([u32; 4], [Option<i64>; 4]) {
    let problem = &matmul.problem;
    let sides = [&problem.a, &problem.b, &problem.c, &problem.d];
    let address = |ptr: Option<Hex>| ptr.map_or(0, |ptr| alignment(ptr.0));
    (
        sides.map(|side| address(side.as_ref().and_then(|side| side.ptr))),
        sides.map(|side| side.as_ref().and_then(|side| side.ld)),
    )
}
