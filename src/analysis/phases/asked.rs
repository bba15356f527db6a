//! The GEMM that a call requests from a BLAS library.

use rocshim_trace::{Gemm, Matmul};

/// Returns the columns and the weights of a GEMM that the program requests from a BLAS library. One
/// with a hooked caller is part of another call.
pub(super) fn product_of_gemm(gemm: &Gemm) -> Option<(i64, u64)> {
    let is_plain = gemm.form == "plain" || gemm.form == "any_order";
    let is_asked = gemm.call.parent.is_none() && is_plain && gemm.call.status == 0;
    is_asked.then_some((gemm.n, gemm.a.ptr.0))
}

pub(super) fn product_of_matmul(matmul: &Matmul) -> Option<(i64, u64)> {
    let (problem, call) = (&matmul.problem, &matmul.call);
    let weights = problem.a.as_ref().and_then(|a| a.ptr)?;
    let is_plain = problem.batch.is_none_or(|batch| batch <= 1);
    let is_asked = call.parent.is_none() && is_plain && call.status == 0;
    is_asked.then_some((problem.n?, weights.0))
}
