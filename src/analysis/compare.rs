//! Compares two or more runs, the first of which is the baseline: what each did, row by row, and
//! what changed.
//!
//! A run is the summary of one run, of all traces named for it. Rows are merged by identity (a
//! kernel by its symbol, a GEMM by its function and sizes, …). A row that a run lacks counts as
//! zero only if nothing can have been missed there: *confirmed absent*, else *limited*, with the
//! reason.

mod calls;
mod code_objects;
mod condition;
mod convolutions;
mod counterparts;
mod families;
mod functions;
mod gemms;
mod kernels;
mod observer;
mod per_run;
mod quantity;
mod ranks;
mod run;
mod significance;

pub use calls::{CallCell, CallChange};
pub use code_objects::{COMPARED_OBJECTS, ComparedObject};
pub use condition::{CONDITIONS, Checked, Condition};
pub use convolutions::{COMPARED_CONVOLUTIONS, ComparedConv};
pub use counterparts::RULES as COUNTERPART_RULES;
pub use families::{COMPARED_FAMILIES, ComparedFamily, FamilyCell};
pub use functions::{COMPARED_FUNCTIONS, ComparedFunction};
pub use gemms::{COMPARED_GEMMS, ComparedGemm};
pub use kernels::{COMPARED_GPU, COMPARED_KERNELS, ComparedKernel, KernelCell, KernelChange};
pub use observer::{OBSERVED, Observed, ObservedTest, Rate, observe};
pub use per_run::{PerRun, Presence, Seen};
pub use quantity::list as quantities;
pub use ranks::{COMPARED_RANKS, ComparedRank, RankCell, RankChange};
pub use run::{COMPARED_RUNS, ComparedRun, ComparedRunRow};
pub use significance::{LEAST_CALLS, LEAST_EFFECT, Speed, Test as KernelTest};

use serde::Serialize;

/// The whole comparison, also as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Format of this object: 1.
    pub format: u32,
    /// The runs, the baseline first.
    #[serde(rename = "sides")]
    pub runs: Vec<ComparedRunRow>,
    /// Ranks by number, where at least two runs have ranks, each of one job.
    pub ranks: Vec<ComparedRank>,
    /// Kernels by symbol.
    pub kernels: Vec<ComparedKernel>,
    /// Families of kernels.
    pub families: Vec<ComparedFamily>,
    /// GEMMs by function, sizes and types.
    pub gemms: Vec<ComparedGemm>,
    /// Convolutions by problem.
    pub convolutions: Vec<ComparedConv>,
    /// Code objects that not all runs dispatched from.
    pub code_objects: Vec<ComparedObject>,
    /// Library functions that not all runs called.
    pub functions: Vec<ComparedFunction>,
    /// The conditions of `--fail-if`, with their results.
    pub conditions: Vec<Checked>,
}

/// Compares the runs with the first of them, and tests the conditions.
pub fn compare(runs: &[ComparedRun], conditions: &[Condition]) -> Comparison {
    let mut comparison = Comparison {
        format: 1,
        runs: run::rows(runs),
        ranks: ranks::compare(runs),
        kernels: kernels::compare(runs),
        families: families::compare(runs),
        gemms: gemms::compare(runs),
        convolutions: convolutions::compare(runs),
        code_objects: code_objects::compare(runs),
        functions: functions::compare(runs),
        conditions: Vec::new(),
    };
    comparison.conditions =
        conditions.iter().flat_map(|condition| condition.judge(&comparison, runs)).collect();
    comparison
}

#[cfg(test)]
mod tests;
