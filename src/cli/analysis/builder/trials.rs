//! Trials: what MIOpen launches while it searches for the fastest way. They tell nothing about which way is taken after.

use super::SummaryBuilder;
use crate::analysis::nesting::Contents;

/// Whether a function searches by trying. Compiling a fusion plan does, since it has solvers (MIOpen, fusion.cpp).
fn is_search(function: &str) -> bool {
    function.starts_with("miopenFind") || function == "miopenCompileFusionPlan"
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
