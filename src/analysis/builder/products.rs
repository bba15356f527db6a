//! Adds GEMMs of any library.

use super::{SummaryBuilder, names};
use crate::{
    gemms::GemmProblem,
    nesting::Contents,
    session::{Event, Session},
    status::is_query,
    sweeps::Sweep,
};

impl SummaryBuilder {
    pub(super) fn product(&mut self, session: &Session, event: &Event, problem: GemmProblem) {
        let mut inside = self.open.nesting.take(event.call);
        self.count(session, event);
        if self.query(session, event, &inside) {
            return;
        }
        let function = event.ids.function;
        self.totals.gemm_calls += 1;
        // A GEMM inside this one is the same GEMM, intercepted at a lower layer.
        self.totals.gemms = self.totals.gemms + 1 - inside.gemms;
        let (library, name) = names(session, function);
        self.fallbacks.add_gemm(&inside);
        let launched = std::mem::take(&mut inside.launched);
        if !launched.is_empty() {
            let (shape, operations) = (problem.shape(), problem.operations());
            self.shares.product((event.call.tid, &launched), (&name, shape), operations);
        }
        let of = (function, &*library, &*name);
        let kind = self.gemms.count(session.process().id, of, event.call, problem.clone(), &inside);
        if let Some(sweep) = self.open.runs.product(event.call.tid, function, &problem, &inside) {
            self.count_sweep(session, &sweep);
        }
        (inside.gemms, inside.launched) = (1, launched);
        inside.add_product(kind, 1);
        self.open.nesting.hand_up(event.call, &inside, None);
    }

    /// Counts a call that only asked how much workspace it would need; returns false for any other.
    pub(super) fn query(&mut self, session: &Session, event: &Event, inside: &Contents) -> bool {
        let (library, _) = names(session, event.ids.function);
        let is_query = is_query(&library, event.call);
        if is_query {
            self.totals.queries += 1;
            self.open.nesting.hand_up(event.call, inside, None);
        }
        is_query
    }

    pub(super) fn count_sweep(&mut self, session: &Session, sweep: &Sweep) {
        let (_, name) = names(session, sweep.function);
        self.sweeps.count(sweep, &name);
        for (kernel, launches) in &sweep.kernels {
            self.kernels.count_swept(*kernel, *launches);
            self.totals.swept += launches;
        }
    }
}
