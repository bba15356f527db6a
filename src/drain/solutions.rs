//! Tracks what MIOpen's solutions and fusion plans refer to, over time.

use crate::history::History;
use crate::values::CONV_ACTIONS;
use rocshim_ring::conv::Conv;
use std::collections::HashMap;

/// A solution or plan as defined.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Solver id; 0 if unknown.
    solver: u64,
    conv: Option<Conv>,
}

/// Solutions and plans by handle.
#[derive(Default)]
pub(crate) struct Solutions(HashMap<u64, History<Known>>);

impl Solutions {
    /// From `stamp` on, `handle` has this solver, and is `conv`, or not a convolution.
    pub(crate) fn begin(&mut self, stamp: u64, handle: u64, solver: u64, conv: Option<Conv>) {
        self.0.entry(handle).or_default().set(stamp, Some(Known { solver, conv }));
    }

    /// MIOpen has returned the solver of `handle`.
    pub(crate) fn solver(&mut self, stamp: u64, handle: u64, solver: u64) {
        let history = self.0.entry(handle).or_default();
        let known = history.at(stamp).unwrap_or_default();
        history.set(stamp, Some(Known { solver, ..known }));
    }

    /// Completes a run of a solution or plan with what it referred to at `stamp`. If it is not
    /// known to be a convolution after that, it is not one, or it is undecidable. (Other calls
    /// carry their problem in the event.)
    pub(crate) fn complete(&self, stamp: u64, call: &mut Conv) {
        let action = CONV_ACTIONS.get(call.action as usize);
        if !matches!(action, Some(&("run_solution" | "execute_plan"))) {
            return;
        }
        let known = self.0.get(&call.subject).and_then(|history| history.at(stamp)).unwrap_or_default();
        if call.solution == 0 {
            call.solution = known.solver;
        }
        if let Some(problem) = known.conv {
            call.complete(&problem);
        } else if rocshim_trace::solver(call.solution).is_some_and(|solver| solver.primitive == "Convolution")
        {
            // A solution that was loaded: its solver implies a convolution, but not the direction.
            (call.is_convolution, call.direction) = (true, u8::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_ring::conv::Tensor;

    /// `run_solution`.
    const RUN: u8 = 6;

    fn run(solutions: &Solutions, stamp: u64, call: Conv) -> Conv {
        let mut call = Conv { action: RUN, subject: 0xa, ..call };
        solutions.complete(stamp, &mut call);
        call
    }

    #[test]
    fn a_run_is_completed_by_its_handles_meaning_at_the_time() {
        let tensor = |rank| Tensor { rank, ..Tensor::default() };
        let problem = |direction| Conv {
            direction,
            is_convolution: true,
            groups: 2,
            tensors: [tensor(4), tensor(4), tensor(4)],
            ..Conv::default()
        };
        let mut solutions = Solutions::default();
        solutions.begin(10, 0xa, 91, Some(problem(0)));
        solutions.begin(20, 0xa, 85, Some(problem(1)));
        let own = Conv { tensors: [tensor(5), tensor(0), tensor(0)], workspace: 7, ..Conv::default() };
        let first = run(&solutions, 15, own);
        assert_eq!((first.direction, first.solution, first.groups, first.workspace), (0, 91, 2, 7));
        assert_eq!(first.tensors.map(|tensor| tensor.rank), [5, 4, 4], "its own descriptor comes first");
        let second = run(&solutions, 25, Conv { solution: 87, ..own });
        assert_eq!((second.direction, second.solution), (1, 87), "what MIOpen said of this call holds");
        assert!(!run(&solutions, 5, own).is_convolution, "before it was defined");
        let mut find = Conv { action: RUN - 1, subject: 0xa, ..Conv::default() };
        solutions.complete(15, &mut find);
        assert!(!find.is_convolution, "a problem that has a solution's address is not that solution");
    }

    #[test]
    fn a_solution_of_an_unknown_problem_follows_from_its_solver() {
        let mut solutions = Solutions::default();
        solutions.begin(10, 0xa, 0, None);
        assert!(!run(&solutions, 15, Conv::default()).is_convolution);
        solutions.solver(20, 0xa, 91);
        let loaded = run(&solutions, 25, Conv::default());
        assert_eq!((loaded.is_convolution, loaded.solution, loaded.direction), (true, 91, u8::MAX));
        let other =
            (1..=217).find(|id| rocshim_trace::solver(*id).is_some_and(|s| s.primitive == "Batchnorm"));
        assert!(!run(&solutions, 25, Conv { solution: other.unwrap(), ..Conv::default() }).is_convolution);
    }
}
