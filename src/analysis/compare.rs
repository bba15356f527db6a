//! Compares two or more runs, the first of which is the baseline: what each did, row by row, and
//! what changed.
//!
//! A side is the summary of one run, of all traces named for it. Rows are merged by identity (a
//! kernel by its symbol, a GEMM by its function and sizes, …). A row that a side lacks counts as
//! zero only if nothing can have been missed there: *confirmed absent*, else *limited*, with the
//! reason.

mod by_side;
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
mod quantity;
mod side;
mod significance;

pub use by_side::{BySide, Presence, Seen};
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
pub use quantity::list as quantities;
pub use side::{SIDES, Side, SideRow};
pub use significance::{LEAST_CALLS, Speed, Test as KernelTest};

use serde::Serialize;

/// The whole comparison; also the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The form of this object: 1.
    pub format: u32,
    /// The sides, the baseline first.
    pub sides: Vec<SideRow>,
    /// Kernels by symbol.
    pub kernels: Vec<ComparedKernel>,
    /// Families of kernels.
    pub families: Vec<ComparedFamily>,
    /// GEMMs by function, sizes and types.
    pub gemms: Vec<ComparedGemm>,
    /// Convolutions by problem.
    pub convolutions: Vec<ComparedConv>,
    /// Those that not all sides dispatched from.
    pub code_objects: Vec<ComparedObject>,
    /// Library functions that not all sides called.
    pub functions: Vec<ComparedFunction>,
    /// What `--fail-if` asked for, and what came of it.
    pub conditions: Vec<Checked>,
}

/// Holds the sides against the first of them, and the conditions against that.
pub fn compare(sides: &[Side], conditions: &[Condition]) -> Comparison {
    let mut comparison = Comparison {
        format: 1,
        sides: side::rows(sides),
        kernels: kernels::compare(sides),
        families: families::compare(sides),
        gemms: gemms::compare(sides),
        convolutions: convolutions::compare(sides),
        code_objects: code_objects::compare(sides),
        functions: functions::compare(sides),
        conditions: Vec::new(),
    };
    comparison.conditions =
        conditions.iter().flat_map(|condition| condition.judge(&comparison, sides)).collect();
    comparison
}

#[cfg(test)]
mod tests;
