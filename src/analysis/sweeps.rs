//! Sweeps: one GEMM requested repeatedly, each time with another solution index.
//!
//! Programs that search for the fastest solution do so: PyTorch's TunableOp queries the library
//! once for all solutions of the types, then runs each by its index, a few times, before it
//! computes the GEMM with the best (TunableOp.h). It uses the same calls as its later GEMMs, so no
//! single call shows that it is a trial, but a series of them does.

use super::{
    evidence::Evidence,
    gemms::GemmProblem,
    interner::Interner,
    names,
    nesting::Contents,
    session::{FunctionId, SymbolId},
};
use foldhash::{HashMap, HashMapExt};
use serde::Serialize;
use std::collections::BTreeSet;

/// This many different solutions in a row are a sweep.
const LEAST: usize = 3;

/// Evidence class of a sweep.
pub const RULE: &str = "three or more solution indices for one problem, one call after the other; the last call of a row is not counted, for it may be the choice";

/// The sweeps of a problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepRow {
    /// The function that was called.
    pub function: String,
    /// The GEMM, without a solution index.
    #[serde(flatten)]
    pub problem: GemmProblem,
    /// Sweeps of it.
    pub sweeps: u64,
    /// Distinct solutions in the largest sweep.
    pub solutions: u64,
    /// Calls of all sweeps, without the last call of each.
    pub calls: u64,
    /// Launches in those calls.
    pub launches: u64,
    /// Always inferred.
    pub evidence: Evidence,
    /// By this rule.
    pub rule: &'static str,
}

crate::table! {
    /// Products that were tried with one solution after the other.
    SWEEPS: SweepRow = "sweeps", "Solutions tried in a row, as tuners do",
        "a product that was tried with several solutions";
    |row|
    count("calls", "calls", "calls of all sweeps, but for the last of each") => row.calls;
    count("launches", "launches", "launches in those calls") => row.launches;
    count("sweeps", "sweeps", "sweeps of it").on_page() => row.sweeps;
    count("solutions", "solutions", "different solutions of the largest").no_sum() => row.solutions;
    words("op", "op", "op(A) and op(B): N, T or C (trans_a, trans_b)").derived() => row.problem.ops();
    number("m", "m", "rows of D").absent("?") => row.problem.m;
    number("n", "n", "columns of D").absent("?") => row.problem.n;
    number("k", "k", "the inner dimension").absent("?") => row.problem.k;
    number("batch", "batch", "products in a call").absent("?") => row.problem.batch;
    words("types", "types", "element types of A, B, C and D, and that of the computation (compute)")
        => row.problem.types_in_short();
    code("function", "function", "the function that was called").name() => names::function(&row.function);
    evidence("evidence", "evidence", "inferred: by the rule").on_page() => row.evidence;
    sentence("rule", "rule", "the rule").on_page() => row.rule;
}

/// A finished sweep.
#[derive(Clone)]
pub(crate) struct Sweep {
    /// The function's number over all processes.
    pub function: Option<FunctionId>,
    problem: GemmProblem,
    solutions: usize,
    calls: u64,
    /// The kernels in those calls, by number, with their launches.
    pub kernels: HashMap<SymbolId, u64>,
}

/// Calls that may become a sweep.
#[derive(Clone)]
struct Run {
    problem: GemmProblem,
    solutions: BTreeSet<i32>,
    calls: u64,
    kernels: HashMap<SymbolId, u64>,
    last: Vec<(SymbolId, u64)>,
}

impl Run {
    fn add(&mut self, solution: i32, inside: &Contents) {
        for (kernel, launches) in self.last.drain(..) {
            *self.kernels.entry(kernel).or_default() += launches;
        }
        self.solutions.insert(solution);
        self.calls += 1;
        let launched =
            inside.kernels.iter().map(|(kernel, counts)| (*kernel, counts.launches - counts.trials));
        self.last.extend(launched);
    }

    fn end(self, function: Option<FunctionId>) -> Option<Sweep> {
        let (solutions, calls) = (self.solutions.len(), self.calls.saturating_sub(1));
        let sweep = Sweep { function, problem: self.problem, solutions, calls, kernels: self.kernels };
        (solutions >= LEAST).then_some(sweep)
    }
}

/// The last GEMMs of each thread of a process, by function.
#[derive(Clone, Default)]
pub(crate) struct Runs(HashMap<(u32, Option<FunctionId>), Run>);

impl Runs {
    /// Handles a GEMM of thread `tid` through `function`; returns the sweep that it ends.
    pub(crate) fn product(
        &mut self,
        tid: u32,
        function: Option<FunctionId>,
        problem: &GemmProblem,
        inside: &Contents,
    ) -> Option<Sweep> {
        let Some(solution) = problem.solution else {
            return self.0.remove(&(tid, function))?.end(function);
        };
        let problem = GemmProblem { solution: None, algo: None, ..problem.clone() };
        let run = self.0.entry((tid, function));
        let new = |problem| Run {
            problem,
            solutions: BTreeSet::new(),
            calls: 0,
            kernels: HashMap::new(),
            last: Vec::new(),
        };
        let run = run.or_insert_with(|| new(problem.clone()));
        let over = (run.problem != problem).then(|| std::mem::replace(run, new(problem)));
        run.add(solution, inside);
        over?.end(function)
    }

    /// Returns the sweeps that are unfinished at the end of the trace.
    pub(crate) fn end(&mut self) -> Vec<Sweep> {
        self.0.drain().filter_map(|((_, function), run)| run.end(function)).collect()
    }
}

/// All sweeps of all processes.
#[derive(Clone, Default)]
pub(crate) struct Sweeps(Interner<(Option<FunctionId>, GemmProblem), SweepRow>);

impl Sweeps {
    /// Counts a sweep with the function of this name.
    pub(crate) fn count(&mut self, sweep: &Sweep, function: &str) {
        let row = self.0.value((sweep.function, sweep.problem.clone()), || SweepRow {
            function: function.to_string(),
            problem: sweep.problem.clone(),
            sweeps: 0,
            solutions: 0,
            calls: 0,
            launches: 0,
            evidence: Evidence::Inferred,
            rule: RULE,
        });
        row.sweeps += 1;
        row.solutions = row.solutions.max(sweep.solutions as u64);
        row.calls += sweep.calls;
        row.launches += sweep.kernels.values().sum::<u64>();
    }

    /// Returns the rows, most calls first.
    pub(crate) fn rows(&self) -> Vec<SweepRow> {
        let mut rows = self.0.values().to_vec();
        rows.sort_by_key(|row| std::cmp::Reverse(row.calls));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interner::Id, nesting::Launches};
    use rocshim_trace::Gemm;

    fn product(m: i64, solution: Option<i32>) -> GemmProblem {
        let algo = if solution.is_some() { "solution_index" } else { "standard" }.into();
        GemmProblem::from(Gemm { m, algo, solution: solution.unwrap_or(0), ..Gemm::default() })
    }

    /// Facts about these GEMMs of one thread, each of which launches the kernel with its index.
    fn swept(products: &[(i64, Option<i32>)]) -> Vec<(usize, u64, u64)> {
        let mut runs = Runs::default();
        let mut over = Vec::new();
        for (m, solution) in products {
            let kernels = vec![(SymbolId::at(solution.unwrap_or(0) as usize), Launches::one(false, false))];
            let inside = Contents { kernels, ..Contents::default() };
            over.extend(runs.product(1, Some(FunctionId::at(5)), &product(*m, *solution), &inside));
        }
        over.extend(runs.end());
        over.iter().map(|sweep| (sweep.solutions, sweep.calls, sweep.kernels.values().sum())).collect()
    }

    #[test]
    fn one_problem_with_one_solution_after_the_other_is_a_sweep_but_for_its_last_call() {
        let tried = [(8, Some(1)), (8, Some(1)), (8, Some(2)), (8, Some(3)), (8, Some(2))];
        assert_eq!(swept(&tried), [(3, 4, 4)]);
        // Then it is used, between others.
        assert_eq!(
            swept(&[&tried[..], &[(9, None), (8, Some(2)), (9, None), (8, Some(2))]].concat()),
            [(3, 4, 4)]
        );
        assert_eq!(swept(&[&tried[..], &tried[..], &[(7, Some(1))]].concat()), [(3, 9, 9)]);
    }

    #[test]
    fn products_with_the_solutions_that_were_chosen_are_no_sweep() {
        assert!(swept(&[(8, Some(1)), (8, Some(1)), (8, Some(2)), (8, Some(2))]).is_empty());
        assert!(swept(&[(8, Some(1)), (9, Some(2)), (8, Some(3)), (9, Some(4))]).is_empty());
        assert!(swept(&[(8, Some(1)), (8, None), (8, Some(2)), (8, None), (8, Some(3))]).is_empty());
    }
}
