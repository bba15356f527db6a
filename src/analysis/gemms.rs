//! GEMMs by library, form, types, transposes and sizes, with the kernels launched by each kind.

use super::{
    calls::{CallCounts, Calls},
    evidence::Evidence,
    interner::Interner,
    names,
    nesting::Contents,
    session::{FunctionId, ProcessId, Session},
    solution_index::{self, Numbering, SolutionLibrary},
    table::Cell,
};
use rocshim_trace::{Call, Gemm, LtMatrix, Matmul, Word};
use serde::Serialize;
use std::collections::BTreeSet;

/// A kind of matrix product.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GemmRow {
    /// The library that was called.
    pub library: String,
    /// Its function.
    pub function: String,
    /// Sizes, transpositions, types and settings.
    #[serde(flatten)]
    pub problem: GemmProblem,
    /// Why not everything is known of it.
    pub unknown: Option<&'static str>,
    /// Whose solution that is.
    pub solution_of: Option<SolutionLibrary>,
    /// The libraries that were called inside it to make the product.
    #[serde(skip)]
    pub through: BTreeSet<String>,
    /// Every call of it was made inside another GEMM, by the library that the program called.
    #[serde(skip)]
    pub is_inside: bool,
    /// Numbers of calls and their host time.
    #[serde(flatten)]
    pub counts: CallCounts,
}

crate::table! {
    /// The GEMMs, longest host time without first calls first.
    GEMMS: GemmRow = "gemms", "GEMMs (host time; below each, the kernels launched inside the call)",
        "calls of a function for the same product";
    |row|
    count("calls", "calls", "calls, failed ones among them") => row.counts.calls;
    count("failed", "failed", "calls that returned an error or were left by an exception").if_any()
        => row.counts.failed;
    time("total_ns", "total", "host time of all calls") => row.counts.total_ns;
    time("first_calls_ns", "first calls", "that of the first call in each process, which may load code")
        .if_any().optional() => row.counts.times.first_calls_ns;
    time("median_ns", "median", "median of the later calls").no_sum().if_any() => row.counts.times.median_ns;
    time("p99_ns", "p99", "what 99 of 100 later calls did not exceed").no_sum().on_page()
        => row.counts.times.p99_ns;
    time("max_ns", "longest", "the longest later call").no_sum().if_any().optional()
        => row.counts.times.max_ns;
    words("op", "op", "op(A) and op(B): N, T or C (trans_a, trans_b)").derived() => row.problem.ops();
    number("m", "m", "rows of D").absent("?") => row.problem.m;
    number("n", "n", "columns of D").absent("?") => row.problem.n;
    number("k", "k", "the inner dimension").absent("?") => row.problem.k;
    number("batch", "batch", "products in a call").absent("?") => row.problem.batch;
    words("types", "types", "element types of A, B, C and D, and that of the computation (compute)")
        => row.problem.types_in_short();
    code("function", "function", "the function that was called").name() => names::function(&row.function);
    words("solution", "asked for", "the solution and epilogue that were asked for").on_page()
        => row.asked().join("; ");
    words("kernels", "kernels inside", "the kernels launched inside these calls").on_page()
        => row.counts.kernels_cell();
    evidence("evidence", "evidence", "whether these kernels are all of them").on_page()
        => Cell::Evidence(row.counts.evidence, row.counts.why.clone());
}

impl GemmRow {
    /// What was requested in addition to the problem, and why it is not known.
    pub fn asked(&self) -> Vec<String> {
        let epilogue = self.problem.epilogue.as_ref().filter(|epilogue| *epilogue != "default");
        let solution = self.problem.solution;
        [
            self.unknown.map(|why| format!("{}: {why}", Evidence::Unresolved)),
            epilogue.map(|epilogue| format!("then {epilogue}")),
            solution.map(|solution| format!("solution index {solution} was asked for{}", self.whose())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Whose solution the index means, with the rule.
    fn whose(&self) -> String {
        let Some(owner) = &self.solution_of else { return String::new() };
        let library = match owner.library.as_deref() {
            Some("fallback") => " of the fallback library".to_string(),
            Some(target) => format!(" of the library for {target}"),
            None => String::new(),
        };
        format!(", {}{library}: {}", owner.evidence, owner.why)
    }
}

impl GemmRow {
    /// The solution that was asked for, or the algorithm, where that is not the usual one.
    pub(crate) fn chosen(&self) -> Option<String> {
        let algo = self.problem.algo.as_ref().filter(|algo| *algo != "standard").map(Word::to_string);
        self.problem.solution.map(|solution| format!("solution {solution}")).or(algo)
    }
}

/// What makes two matrix products the same. What the trace does not contain is absent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct GemmProblem {
    /// `plain`, `batched`, `strided_batched` or `any_order`; of hipBLASLt `described` (by
    /// descriptors) or `object` (a C++ object that was given its problem before).
    pub form: Word,
    /// op(A): `N`, `T` or `C`.
    pub trans_a: Option<Word>,
    /// op(B).
    pub trans_b: Option<Word>,
    /// Rows of D.
    pub m: Option<i64>,
    /// Columns of D.
    pub n: Option<i64>,
    /// The inner dimension.
    pub k: Option<i64>,
    /// Number of products in a call.
    pub batch: Option<i64>,
    /// Element types of A, B, C and D.
    pub types: [Option<Word>; 4],
    /// The type in which it is computed.
    pub compute: Option<Word>,
    /// What is done to the result beside; only of hipBLASLt.
    pub epilogue: Option<Word>,
    /// `standard`, `solution_index`, or the number; only of rocBLAS and hipBLAS.
    pub algo: Option<Word>,
    /// The solution that was asked for.
    pub solution: Option<i32>,
}

impl From<Gemm> for GemmProblem {
    fn from(gemm: Gemm) -> GemmProblem {
        let solution = (gemm.algo == "solution_index").then_some(gemm.solution);
        GemmProblem {
            form: gemm.form,
            trans_a: Some(gemm.trans_a),
            trans_b: Some(gemm.trans_b),
            m: Some(gemm.m),
            n: Some(gemm.n),
            k: Some(gemm.k),
            batch: Some(gemm.batch),
            types: [gemm.a, gemm.b, gemm.c, gemm.d].map(|matrix| Some(matrix.element)),
            compute: Some(gemm.compute),
            epilogue: None,
            algo: Some(gemm.algo),
            solution,
        }
    }
}

impl From<Matmul> for GemmProblem {
    fn from(matmul: Matmul) -> GemmProblem {
        let problem = matmul.problem;
        let element = |matrix: Option<LtMatrix>| matrix.and_then(|matrix| matrix.element);
        GemmProblem {
            form: Word::new_static(if matmul.instance.is_some() { OBJECT } else { DESCRIBED }),
            trans_a: problem.trans_a,
            trans_b: problem.trans_b,
            m: problem.m,
            n: problem.n,
            k: problem.k,
            batch: problem.batch,
            types: [problem.a, problem.b, problem.c, problem.d].map(element),
            compute: problem.compute,
            epilogue: problem.epilogue,
            algo: None,
            solution: matmul.algo,
        }
    }
}

/// The word, or `?` where the trace does not have it.
fn known(word: &Option<Word>) -> &str {
    word.as_ref().map_or("?", Word::as_str)
}

impl GemmProblem {
    /// `TN`: op(A) and op(B).
    pub(crate) fn ops(&self) -> String {
        format!("{}{}", known(&self.trans_a), known(&self.trans_b))
    }

    /// `f16*bf16>f32 in f32`: inputs, result, and the type in which it is computed; one word where
    /// all are the same.
    pub fn types_in_short(&self) -> String {
        let [a, b, _, d] = &self.types;
        let short = |element: &Option<Word>| {
            let element = known(element);
            element.strip_suffix("_r").unwrap_or(element).to_string()
        };
        let inputs = if a == b { short(a) } else { format!("{}*{}", short(a), short(b)) };
        let result = if a == b && a == d { inputs } else { format!("{inputs}>{}", short(d)) };
        let compute = short(&self.compute);
        if result == compute { result } else { format!("{result} in {compute}") }
    }

    /// The same as [`in_short`](Self::in_short), with the number of products in a call.
    pub(crate) fn shape(&self) -> String {
        let batch = self.batch.filter(|batch| *batch != 1).map(|batch| format!(" x {batch}"));
        self.in_short() + &batch.unwrap_or_default()
    }

    /// Additions and multiplications of a call, by its sizes: 2 m n k for each product, and four
    /// times as many of complex numbers. `None` where something is not known.
    pub(crate) fn operations(&self) -> Option<f64> {
        let sizes = [self.m?, self.n?, self.k?, self.batch?];
        let is_complex = self.types[0].as_ref()?.ends_with("_c");
        let factor = if is_complex { 8.0 } else { 2.0 };
        Some(sizes.iter().map(|size| *size as f64).product::<f64>() * factor)
    }

    /// Returns `TN 4096x12x512 f16_r`; `?` for unknown values.
    pub fn in_short(&self) -> String {
        let word = |word: &Option<Word>| word.clone().unwrap_or_else(|| "?".into());
        let [m, n, k] = [self.m, self.n, self.k].map(|size| size.map_or("?".into(), |size| size.to_string()));
        let [a, ..] = &self.types;
        format!("{}{} {m}x{n}x{k} {}", word(&self.trans_a), word(&self.trans_b), word(a))
    }
}

const OBJECT: &str = "object";
const DESCRIBED: &str = "described";

/// All kinds of matrix products.
#[derive(Clone, Default)]
pub(crate) struct Gemms(Interner<(Option<FunctionId>, GemmProblem), GemmEntry>);

#[derive(Clone)]
struct GemmEntry {
    library: String,
    function: String,
    problem: GemmProblem,
    calls: Calls,
}

impl Gemms {
    /// Counts a GEMM of `function`: its id, library, and name. Returns the number of its kind.
    pub(crate) fn count(
        &mut self,
        process: ProcessId,
        function: (Option<FunctionId>, &str, &str),
        call: &Call,
        problem: GemmProblem,
        inside: &Contents,
    ) -> usize {
        let (number, library, name) = function;
        let kind = self.0.number((number, problem.clone()), || GemmEntry {
            library: library.to_string(),
            function: name.to_string(),
            problem,
            calls: Calls::default(),
        });
        self.0.get_mut(kind).calls.count(process, call, inside);
        kind
    }

    /// Counts calls of a kind, by its number, that were trials; they are counted as calls already.
    pub(crate) fn count_trials(&mut self, kind: usize, trials: u64) {
        self.0.get_mut(kind).calls.count_trials(trials);
    }

    /// Every kind, longest host time without first calls first.
    pub(crate) fn rows(&self, session: &Session, numbering: Numbering, gap: Option<&str>) -> Vec<GemmRow> {
        let all = self.0.values();
        let inside = |kind: &GemmEntry| kind.calls.products().to_vec();
        let mut made_inside = vec![0; all.len()];
        for (product, calls) in all.iter().flat_map(inside) {
            made_inside[product] += calls;
        }
        let mut kinds: Vec<(&GemmEntry, u64)> = all.iter().zip(made_inside).collect();
        kinds.sort_by_key(|(kind, _)| std::cmp::Reverse(kind.calls.weight()));
        kinds
            .into_iter()
            .map(|(kind, made_inside)| GemmRow {
                through: inside(kind).into_iter().map(|(product, _)| all[product].library.clone()).collect(),
                is_inside: made_inside > 0 && made_inside >= kind.calls.no_trials(),
                library: kind.library.clone(),
                function: kind.function.clone(),
                problem: kind.problem.clone(),
                unknown: kind.problem.unknown(),
                solution_of: kind.solution_of(numbering),
                counts: kind.calls.row(session, !kind.problem.is_empty(), gap),
            })
            .collect()
    }
}

impl GemmEntry {
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
        [self.m, self.n, self.batch].contains(&Some(0))
    }

    /// Why not everything is known of it.
    fn unknown(&self) -> Option<&'static str> {
        let is_whole = self.k.is_some() && self.compute.is_some() && self.types.iter().all(Option::is_some);
        match &*self.form {
            _ if is_whole => None,
            OBJECT => Some("the object was given its problem and its algorithm before"),
            _ => Some("a descriptor was not seen being made, or there was no room to keep it"),
        }
    }
}
