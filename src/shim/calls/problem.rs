//! Problems and fusion plans of MIOpen being built: handles that come to stand for a convolution, or for something else.
//!
//! This is rare, and may lock and allocate. MIOpen copies each descriptor that it is given, so what is read when it takes
//! one holds.
#![allow(unsafe_code)] // reads the handles that MIOpen has stored

use super::descriptors::{convolution, tensor};
use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use rocshim_ring::conv::{Conv, Operation, Operations};
use rocshim_ring::definition::Definition;
use rocshim_ring::{CallGuard, clock};

/// The handle that a successful call has stored.
pub(super) fn stored(out: *const Pointer) -> u64 {
    // SAFETY: the call succeeded, so `out` holds the handle that it stored.
    if out.is_null() { 0 } else { unsafe { *out as u64 } }
}

/// `miopenCreate…Problem`, `miopenCreateFusionPlan`: a handle begins to stand for something.
pub(crate) struct Begin<F>(*const Pointer, F);

/// A convolution problem.
pub(crate) fn conv_problem(
    out: *const miopenProblem_t,
    descriptor: miopenConvolutionDescriptor_t,
    direction: miopenProblemDirection_t,
) -> Begin<impl FnOnce() -> Conv> {
    Begin(out, move || {
        let mut conv = Conv {
            direction: direction as u8,
            is_convolution: true,
            operations: Operations::of(&[Operation::Convolution]),
            ..Conv::default()
        };
        convolution(descriptor, &mut conv);
        conv
    })
}

/// A problem of another kind.
pub(crate) fn other_problem(
    out: *const miopenProblem_t,
    operation: Operation,
) -> Begin<impl FnOnce() -> Conv> {
    Begin(out, move || Conv { operations: Operations::of(&[operation]), ..Conv::default() })
}

/// A fusion plan; operations are put into it.
pub(crate) fn plan(
    out: *const miopenFusionPlanDescriptor_t,
    input: miopenTensorDescriptor_t,
) -> Begin<impl FnOnce() -> Conv> {
    Begin(out, move || {
        let mut conv = Conv::default();
        conv.tensors[0] = tensor(input);
        conv
    })
}

impl<F: FnOnce() -> Conv> Observed<miopenStatus_t> for Begin<F> {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| process.problems.begin(stored(self.0), (self.1)()));
        }
    }
}

/// Something is added to a problem or plan.
pub(crate) struct Add<F>(u64, F);

/// `miopenSetProblemTensorDescriptor`.
pub(crate) fn problem_tensor(
    problem: miopenProblem_t,
    id: miopenTensorArgumentId_t,
    descriptor: miopenTensorDescriptor_t,
) -> Add<impl FnOnce(&mut Conv)> {
    Add(problem as u64, move |conv: &mut Conv| {
        if let Some(place) = place(id) {
            conv.tensors[place] = tensor(descriptor);
        }
    })
}

/// `miopenCreateOpConvForward`: the plan's convolution.
pub(crate) fn plan_convolution(
    plan: miopenFusionPlanDescriptor_t,
    descriptor: miopenConvolutionDescriptor_t,
    filter: miopenTensorDescriptor_t,
) -> Add<impl FnOnce(&mut Conv)> {
    Add(plan as u64, move |conv: &mut Conv| {
        convolution(descriptor, conv);
        conv.tensors[1] = tensor(filter);
        conv.is_convolution = true;
        conv.operations = conv.operations.then(Operations::of(&[Operation::Convolution]));
    })
}

/// `miopenCreateOp…` of another kind.
pub(crate) fn plan_operation(
    plan: miopenFusionPlanDescriptor_t,
    operation: Operation,
) -> Add<impl FnOnce(&mut Conv)> {
    Add(plan as u64, move |conv: &mut Conv| {
        conv.operations = conv.operations.then(Operations::of(&[operation]));
    })
}

impl<F: FnOnce(&mut Conv)> Observed<miopenStatus_t> for Add<F> {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| process.problems.change(self.0, self.1));
        }
    }
}

/// Which of x, w, y a tensor argument is.
pub(super) fn place(id: miopenTensorArgumentId_t) -> Option<usize> {
    // miopen.h: ConvolutionX is 1, ConvolutionW 2, ConvolutionY 3.
    (1..=3).contains(&id).then(|| id as usize - 1)
}

/// `miopenFuseProblems`: the first becomes both.
pub(crate) struct Fuse {
    pub(crate) first: miopenProblem_t,
    pub(crate) second: miopenProblem_t,
}

impl Observed<miopenStatus_t> for Fuse {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| process.problems.fuse(self.first as u64, self.second as u64));
        }
    }
}

/// A problem, solution or plan is destroyed.
pub(crate) struct Destroy {
    handle: u64,
    /// Before the call: another thread may be given the same handle as soon as it is free.
    stamp: u64,
}

impl Destroy {
    /// The call is about to be made.
    pub(crate) fn now(handle: Pointer) -> Destroy {
        Destroy { handle: handle as u64, stamp: clock::now() }
    }
}

impl Observed<miopenStatus_t> for Destroy {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| {
                if process.problems.forget(self.handle, self.stamp) {
                    let (handle, solver, conv) = (self.handle, 0, None);
                    process.define(self.stamp, Definition::Solution { handle, solver, conv });
                }
            });
        }
    }
}
