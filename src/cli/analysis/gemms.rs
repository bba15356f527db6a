//! Matrix products by library, form, types, transposes and sizes, with the kernels that each kind launched.

use super::{
    calls::{CallCounts, Calls},
    interner::Interner,
    kernels::Kernels,
    nesting::Contents,
    solution_index::{self, Numbering, SolutionLibrary},
};
use rocshim_trace::Gemm;
use serde::Serialize;

/// A kind of matrix product.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct GemmRow {
    /// The library that was called.
    pub(crate) library: String,
    /// Its function.
    pub(crate) function: String,
    #[serde(flatten)]
    pub(crate) problem: GemmProblem,
    /// Whose solution that is.
    pub(crate) solution_of: Option<SolutionLibrary>,
    #[serde(flatten)]
    pub(crate) counts: CallCounts,
}

/// What makes two matrix products the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct GemmProblem {
    /// `plain`, `batched` or `strided_batched`.
    pub(crate) form: String,
    /// op(A): `N`, `T` or `C`.
    pub(crate) trans_a: String,
    /// op(B).
    pub(crate) trans_b: String,
    /// Rows of D.
    pub(crate) m: i64,
    /// Columns of D.
    pub(crate) n: i64,
    /// The inner dimension.
    pub(crate) k: i64,
    /// Number of products in a call.
    pub(crate) batch: i64,
    /// Element types of A, B, C and D.
    pub(crate) types: [String; 4],
    /// The type in which it is computed.
    pub(crate) compute: String,
    /// `standard`, `solution_index`, or the number.
    pub(crate) algo: String,
    /// The solution that was asked for; only with `solution_index`.
    pub(crate) solution: Option<i32>,
}

/// All kinds of matrix products.
pub(crate) struct Gemms(Interner<(usize, GemmProblem), Kind>);

struct Kind {
    library: String,
    function: String,
    problem: GemmProblem,
    calls: Calls,
}

impl Gemms {
    pub(crate) fn new() -> Self {
        Gemms(Interner::new())
    }

    /// Counts a product made through `function`, the number of a function over all processes; gives the number of its kind.
    pub(crate) fn count(&mut self, function: (usize, &str, &str), gemm: Gemm, inside: &Contents) -> usize {
        let (number, library, name) = function;
        let call = gemm.call;
        let asked = gemm.algo == "solution_index";
        let problem = GemmProblem {
            form: gemm.form,
            trans_a: gemm.trans_a,
            trans_b: gemm.trans_b,
            m: gemm.m,
            n: gemm.n,
            k: gemm.k,
            batch: gemm.batch,
            types: [gemm.a.element, gemm.b.element, gemm.c.element, gemm.d.element],
            compute: gemm.compute,
            algo: gemm.algo,
            solution: asked.then_some(gemm.solution),
        };
        let kind = self.0.number((number, problem.clone()), || Kind {
            library: library.to_string(),
            function: name.to_string(),
            problem,
            calls: Calls::default(),
        });
        self.0.get_mut(kind).calls.count(&call, inside);
        kind
    }

    /// So many calls of the kind with this number, which were counted, were trials.
    pub(crate) fn count_trials(&mut self, kind: usize, trials: u64) {
        self.0.get_mut(kind).calls.count_trials(trials);
    }

    /// Every kind, longest host time first.
    pub(crate) fn rows(&self, kernels: &Kernels, numbering: Numbering, blind: Option<&str>) -> Vec<GemmRow> {
        let mut kinds: Vec<&Kind> = self.0.values().iter().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.calls.total_ns()));
        kinds
            .into_iter()
            .map(|kind| GemmRow {
                library: kind.library.clone(),
                function: kind.function.clone(),
                problem: kind.problem.clone(),
                solution_of: kind.solution_of(numbering),
                counts: kind.calls.row(kernels, !kind.problem.is_empty(), blind),
            })
            .collect()
    }
}

impl Kind {
    fn solution_of(&self, numbering: Numbering) -> Option<SolutionLibrary> {
        let is_rocblas = self.library.starts_with("librocblas");
        self.problem
            .solution
            .filter(|_| is_rocblas)
            .and_then(|index| solution_index::library(index, numbering))
    }
}

impl GemmProblem {
    /// With a dimension of 0 there is nothing to launch.
    fn is_empty(&self) -> bool {
        self.m == 0 || self.n == 0 || self.batch == 0
    }
}
