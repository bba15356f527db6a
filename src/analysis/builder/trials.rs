//! Trials: what a library launches while it searches for the fastest way. They tell nothing about which way is taken
//! after. Only what lies inside a call that makes nothing else is one: PyTorch's TunableOp tries solutions with the calls
//! and arguments with which it makes its products afterwards (TunableOp.h, GemmRocblas.h: it asks once for all solutions of
//! the types, then calls `rocblas_gemm_ex` by index), so no call of its tells which it is (`sweeps` infers it from calls in a row).

use super::SummaryBuilder;
use crate::nesting::Contents;

/// Whether a function searches, and may do so by trying. Compiling a fusion plan does, since it has solvers (MIOpen,
/// fusion.cpp).
fn is_search(function: &str) -> bool {
    function.starts_with("miopenFind")
        || ["miopenCompileFusionPlan", "hipblasLtMatmulAlgoGetHeuristic"].contains(&function)
}

impl SummaryBuilder {
    /// Counts as trials what is inside a call of `function`, if that is a search.
    pub(super) fn trials(&mut self, function: &str, inside: &mut Contents) {
        if !is_search(function) {
            return;
        }
        for (kernel, launches) in &mut inside.kernels {
            // A search may be part of another one.
            let new = launches.launches - launches.trials;
            self.kernels.count_trials(*kernel, new);
            self.totals.trials += new;
            launches.trials = launches.launches;
        }
        for (kind, calls) in inside.products.drain(..) {
            self.gemms.count_trials(kind, calls);
        }
    }
}
