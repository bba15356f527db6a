//! Matrix products, whichever library makes them.

use super::SummaryBuilder;
use crate::{gemms::GemmProblem, nesting::Contents, process::Process, status::is_query, sweeps::Sweep};
use rocshim_trace::Call;

impl SummaryBuilder {
    pub(super) fn product(&mut self, process: &mut Process, call: &Call, problem: GemmProblem) {
        let mut inside = process.nesting.take(call);
        let function = self.event(process, call);
        if self.query(process, call, function, &inside) {
            return;
        }
        self.totals.gemm_calls += 1;
        // A product made inside this one is this one, seen at a lower floor.
        self.totals.gemms = self.totals.gemms + 1 - inside.gemms;
        let (library, name) = self.name(function);
        self.fallbacks.add_gemm(&inside);
        let kind = self.gemms.count(
            (function.unwrap_or(usize::MAX), &library, &name),
            call,
            problem.clone(),
            &inside,
        );
        if let Some(sweep) = process.runs.product(call.tid, function, &problem, &inside) {
            self.count_sweep(&sweep);
        }
        inside.gemms = 1;
        inside.add_product(kind, 1);
        process.nesting.hand_up(call, &inside, None);
    }

    /// Counts a call that only asked how much workspace it would need; false for any other.
    pub(super) fn query(
        &mut self,
        process: &mut Process,
        call: &Call,
        function: Option<usize>,
        inside: &Contents,
    ) -> bool {
        let (library, _) = self.name(function);
        let is_query = is_query(&library, call);
        if is_query {
            self.totals.queries += 1;
            process.nesting.hand_up(call, inside, None);
        }
        is_query
    }

    pub(super) fn count_sweep(&mut self, sweep: &Sweep) {
        let (_, name) = self.name(sweep.function);
        self.sweeps.count(sweep, &name);
        for (kernel, launches) in &sweep.kernels {
            self.kernels.count_swept(*kernel, *launches);
            self.totals.swept += launches;
        }
    }
}
