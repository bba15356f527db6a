//! Detects trials: launches of a library that searches for the fastest solution, which do not show
//! the solution used later. Only what is inside a call that computes nothing else is a trial.
//! PyTorch's TunableOp tries solutions with the same calls and arguments as its later GEMMs
//! (TunableOp.h, GemmRocblas.h: it queries all solutions of the types once, then calls
//! `rocblas_gemm_ex` by index), so no single call shows it (`sweeps` infers it from calls in a
//! row).

use super::SummaryBuilder;
use crate::nesting::Contents;

/// Returns true for a function that searches, possibly by trials. Compiling a fusion plan does,
/// since it has solvers (MIOpen,
/// fusion.cpp).
fn is_search(function: &str) -> bool {
    function.starts_with("miopenFind")
        || ["miopenCompileFusionPlan", "hipblasLtMatmulAlgoGetHeuristic"].contains(&function)
}

impl SummaryBuilder {
    /// Counts what is inside a call of `function` as trials, if that is a search.
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
