//! Construction of MIOpen's problems and fusion plans, whose handles represent a convolution or
//! another operation.
//!
//! These calls are rare, and may lock and allocate. MIOpen copies each descriptor that it is given,
//! so contents read at that time stay valid.
#![allow(unsafe_code)] // reads the handles that MIOpen has stored

use super::descriptors::{convolution, tensor};
use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use rocshim_ring::conv::{Conv, Operation, Operations};
use rocshim_ring::definition::Definition;
use rocshim_ring::{CallGuard, clock};

/// Reads the handle that a successful call has stored at `out`; 0 for NULL.
pub(super) fn stored(out: *const Pointer) -> u64 {
    // SAFETY: `out` is not NULL, and the call succeeded, so it points to the handle that the call
    // stored.
    if out.is_null() { 0 } else { unsafe { *out as u64 } }
}

/// `miopenCreate…Problem`, `miopenCreateFusionPlan`: creates a handle.
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

/// A problem of another operation.
pub(crate) fn other_problem(
    out: *const miopenProblem_t,
    operation: Operation,
) -> Begin<impl FnOnce() -> Conv> {
    Begin(out, move || Conv { operations: Operations::of(&[operation]), ..Conv::default() })
}

/// A fusion plan, to which operations are added.
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

impl<F: FnOnce() -> Conv> Intercept<miopenStatus_t> for Begin<F> {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| process.problems.insert(stored(self.0), (self.1)()));
        }
    }
}

/// An addition to a problem or plan.
pub(crate) struct Add<F>(u64, F);

/// `miopenSetProblemTensorDescriptor`.
pub(crate) fn problem_tensor(
    problem: miopenProblem_t,
    id: miopenTensorArgumentId_t,
    descriptor: miopenTensorDescriptor_t,
) -> Add<impl FnOnce(&mut Conv)> {
    Add(problem as u64, move |conv: &mut Conv| {
        if let Some(index) = tensor_index(id) {
            conv.tensors[index] = tensor(descriptor);
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

/// `miopenCreateOp…` of another operation.
pub(crate) fn plan_operation(
    plan: miopenFusionPlanDescriptor_t,
    operation: Operation,
) -> Add<impl FnOnce(&mut Conv)> {
    Add(plan as u64, move |conv: &mut Conv| {
        conv.operations = conv.operations.then(Operations::of(&[operation]));
    })
}

impl<F: FnOnce(&mut Conv)> Intercept<miopenStatus_t> for Add<F> {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| process.problems.change(self.0, self.1));
        }
    }
}

/// Returns the index of a tensor argument among x, w, y.
pub(super) fn tensor_index(id: miopenTensorArgumentId_t) -> Option<usize> {
    // miopen.h: ConvolutionX is 1, ConvolutionW 2, ConvolutionY 3.
    (1..=3).contains(&id).then(|| id as usize - 1)
}

/// `miopenFuseProblems`: appends the second to the first.
pub(crate) struct Fuse {
    pub(crate) first: miopenProblem_t,
    pub(crate) second: miopenProblem_t,
}

impl Intercept<miopenStatus_t> for Fuse {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| process.problems.fuse(self.first as u64, self.second as u64));
        }
    }
}

/// Destruction of a problem, solution or plan.
pub(crate) struct Destroy {
    handle: u64,
    /// Taken before the call, because another thread may be given the same handle as soon as it is
    /// free.
    stamp: u64,
}

impl Destroy {
    /// Takes the stamp, right before the call.
    pub(crate) fn before_call(handle: Pointer) -> Destroy {
        Destroy { handle: handle as u64, stamp: clock::now() }
    }
}

impl Intercept<miopenStatus_t> for Destroy {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: miopenStatus_t) {
        if status == 0 {
            guarded(|process| {
                if process.problems.remove(self.handle, self.stamp) {
                    let (handle, solver, conv) = (self.handle, 0, None);
                    process.define(self.stamp, Definition::Solution { handle, solver, conv });
                }
            });
        }
    }
}
