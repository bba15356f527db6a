//! Search, compilation and runs of MIOpen's solutions and fusion plans.
//!
//! Searches and compilations are rare, and may lock and allocate. A run only stores its handle; the
//! reader looks up what the handle meant at that time.
#![allow(unsafe_code)] // reads what the program passed to MIOpen and what MIOpen has stored

use super::conv::Action;
use super::descriptors::{cost, solver, stream, tensor};
use super::problem::{stored, tensor_index};
use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::hook::{Intercept, first_calls};
use crate::lifecycle::guarded;
use crate::session::process::Process;
use rocshim_ring::conv::{CONV_RESULTS, Conv, ConvResult};
use rocshim_ring::definition::Definition;
use rocshim_ring::{CallGuard, Producer};

/// Returns the known contents of problem or plan `handle`, as an event of `action` on the stream of
/// `miopen`.
fn event_of(action: Action, miopen: miopenHandle_t, handle: Pointer) -> Conv {
    let mut known = None;
    guarded(|process| known = process.problems.get(handle as u64));
    let conv = known.unwrap_or_default();
    Conv { action: action as u8, subject: handle as u64, stream: stream(miopen), ..conv }
}

/// Emits the contents of `handle`, unless they are emitted.
fn emit(process: &Process, stamp: u64, handle: u64, solver: u64, conv: Option<Conv>) {
    if process.problems.mark_emitted(handle, solver, conv) {
        process.define(stamp, Definition::Solution { handle, solver, conv: conv.map(Box::new) });
    }
}

/// `miopenFindSolutions`.
pub(crate) struct FindSolutions {
    pub(crate) handle: miopenHandle_t,
    pub(crate) problem: miopenProblem_t,
    pub(crate) solutions: *const miopenSolution_t,
    pub(crate) count: *const usize,
    pub(crate) room: usize,
}

impl FindSolutions {
    #[inline(never)]
    fn store_event(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        first_calls::enter(thread, hook, &event_of(Action::FindSolutions, self.handle, self.problem))
    }

    /// Returns the solutions that MIOpen has just stored.
    fn found(&self) -> impl Iterator<Item = miopenSolution_t> {
        let has_some = !self.count.is_null() && !self.solutions.is_null();
        // SAFETY: `count` is not NULL, and the call succeeded, so MIOpen has stored a count there.
        let count = if has_some { unsafe { *self.count }.min(self.room) } else { 0 };
        let first = self.solutions;
        // SAFETY: `i < count`, and MIOpen has stored that many solutions from `first` on, which is
        // not NULL.
        (0..count).map(move |i| unsafe { first.wrapping_add(i).read() })
    }
}

impl Intercept<miopenStatus_t> for FindSolutions {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.store_event(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        let mut results = [ConvResult::default(); CONV_RESULTS];
        let mut count = 0;
        if status == 0 {
            guarded(|process| {
                let conv = process.problems.get(self.problem as u64);
                for solution in self.found() {
                    let id = solver(solution);
                    if let Some(slot) = results.get_mut(count) {
                        let (workspace, time) = cost(solution);
                        *slot =
                            ConvResult { algorithm: ConvResult::BY_SOLVER, time, workspace, solution: id };
                    }
                    count += 1;
                    emit(process, returned, solution as u64, id, conv);
                }
            });
        }
        if let Some(span) = span {
            let kept = &results[..count.min(CONV_RESULTS)];
            Conv::store_results(count as u64, kept, |index, value| span.put(index, value));
            span.leave(returned, status);
        }
    }
}

/// `miopenLoadSolution`: a saved solution, whose problem only MIOpen knows.
pub(crate) struct LoadSolution(pub(crate) *const miopenSolution_t);

impl Intercept<miopenStatus_t> for LoadSolution {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        if status == 0 {
            let solution = stored(self.0);
            guarded(|process| emit(process, returned, solution, solver(solution as Pointer), None));
        }
    }
}

/// `miopenGetSolutionSolverId`: the solver is known from the result, even where MIOpen's accessors
/// are not called.
pub(crate) struct SolverQuery {
    pub(crate) solution: miopenSolution_t,
    pub(crate) id: *const u64,
}

impl Intercept<miopenStatus_t> for SolverQuery {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        if status == 0 && !self.id.is_null() {
            // SAFETY: `id` is not NULL, and the call succeeded, so MIOpen has stored the id there.
            let (handle, solver) = (self.solution as u64, unsafe { *self.id });
            guarded(|process| {
                if process.problems.mark_solver(handle, solver) {
                    process.define(returned, Definition::SolutionSolver { handle, solver });
                }
            });
        }
    }
}

/// `miopenCompileFusionPlan`.
pub(crate) struct CompilePlan {
    pub(crate) handle: miopenHandle_t,
    pub(crate) plan: miopenFusionPlanDescriptor_t,
}

impl CompilePlan {
    #[inline(never)]
    fn store_event(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        first_calls::enter(thread, hook, &event_of(Action::CompilePlan, self.handle, self.plan))
    }
}

impl Intercept<miopenStatus_t> for CompilePlan {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.store_event(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        let plan = self.plan as u64;
        if status == 0 {
            guarded(|process| emit(process, returned, plan, 0, process.problems.get(plan)));
        }
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// A run of a solution or a plan, which the reader identifies by its handle.
pub(crate) struct RunHandle {
    action: Action,
    handle: miopenHandle_t,
    subject: Pointer,
    tensors: Tensors,
    workspace: usize,
}

/// Source of a run's tensor descriptors.
enum Tensors {
    /// An array of tensor arguments and its length. An argument without a descriptor uses the
    /// problem's.
    Arguments(*const miopenTensorArgument_t, usize),
    /// Input and output of a plan.
    Ends([miopenTensorDescriptor_t; 2]),
}

/// `miopenRunSolution`.
pub(crate) fn run_solution(
    handle: miopenHandle_t,
    solution: miopenSolution_t,
    tensors: *const miopenTensorArgument_t,
    count: usize,
    workspace: usize,
) -> RunHandle {
    let tensors = Tensors::Arguments(tensors, count);
    RunHandle { action: Action::RunSolution, handle, subject: solution, tensors, workspace }
}

/// `miopenExecuteFusionPlan`.
pub(crate) fn execute_plan(
    handle: miopenHandle_t,
    plan: miopenFusionPlanDescriptor_t,
    ends: [miopenTensorDescriptor_t; 2],
) -> RunHandle {
    RunHandle {
        action: Action::ExecutePlan,
        handle,
        subject: plan,
        tensors: Tensors::Ends(ends),
        workspace: 0,
    }
}

impl RunHandle {
    #[inline(never)]
    fn store_event(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        let mut conv = Conv {
            action: self.action as u8,
            subject: self.subject as u64,
            stream: stream(self.handle),
            workspace: self.workspace as u64,
            ..Conv::default()
        };
        match self.tensors {
            Tensors::Ends([input, output]) => {
                (conv.tensors[0], conv.tensors[2]) = (tensor(input), tensor(output));
            }
            Tensors::Arguments(first, count) => {
                conv.solution = solver(self.subject);
                read_arguments(first, count, &mut conv);
            }
        }
        first_calls::enter(thread, hook, &conv)
    }
}

/// Limit of the tensor arguments that are read: a convolution has three, a fused one a few more.
const MAX_ARGUMENTS: usize = 16;

fn read_arguments(first: *const miopenTensorArgument_t, count: usize, conv: &mut Conv) {
    if first.is_null() {
        return;
    }
    for i in 0..count.min(MAX_ARGUMENTS) {
        // SAFETY: `first` is not NULL, `i < count`, and MIOpen itself begins by copying that many
        // arguments.
        let argument = unsafe { first.wrapping_add(i).read() };
        if let Some(index) = tensor_index(argument.id).filter(|_| !argument.descriptor.is_null()) {
            // SAFETY: `descriptor` is not NULL, and MIOpen reads it as well.
            conv.tensors[index] = tensor(unsafe { *argument.descriptor });
        }
    }
}

impl Intercept<miopenStatus_t> for RunHandle {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.store_event(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}
