//! Two or more sides held against each other, the first of them the baseline: what each did, row by row, and what changed.
//!
//! A side is one summary, of as many traces as were named for it. Rows are merged by what they are (a kernel by its symbol, a
//! product by its function and sizes, …), and a row that a side has not is not a zero until it is known that nothing can have
//! been missed there: *confirmed absent*, else *limited*, with the reason.

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

pub(crate) use by_side::{BySide, Presence, Seen};
pub(crate) use calls::{CallCell, CallChange};
pub(crate) use code_objects::ComparedObject;
pub(crate) use condition::{Checked, Condition};
pub(crate) use convolutions::ComparedConv;
pub(crate) use counterparts::RULES as COUNTERPART_RULES;
pub(crate) use families::{ComparedFamily, FamilyCell};
pub(crate) use functions::ComparedFunction;
pub(crate) use gemms::ComparedGemm;
pub(crate) use kernels::{ComparedKernel, KernelChange};
pub(crate) use observer::{Observed, ObservedTest, Rate, observe};
#[cfg(test)]
pub(crate) use quantity::list as quantities;
pub(crate) use side::{Side, SideRow};
pub(crate) use significance::{LEAST_CALLS, Speed};

use serde::Serialize;

/// The whole comparison; also the JSON form.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    /// The form of this object: 1.
    pub(crate) format: u32,
    /// The sides, the baseline first.
    pub(crate) sides: Vec<SideRow>,
    pub(crate) kernels: Vec<ComparedKernel>,
    pub(crate) families: Vec<ComparedFamily>,
    pub(crate) gemms: Vec<ComparedGemm>,
    pub(crate) convolutions: Vec<ComparedConv>,
    /// Those that not all sides dispatched from.
    pub(crate) code_objects: Vec<ComparedObject>,
    /// Library functions that not all sides called.
    pub(crate) functions: Vec<ComparedFunction>,
    /// What `--fail-if` asked for, and what came of it.
    pub(crate) conditions: Vec<Checked>,
}

/// Holds the sides against the first of them, and the conditions against that.
pub(crate) fn compare(sides: &[Side], conditions: &[Condition]) -> Comparison {
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
pub(crate) mod tests;
