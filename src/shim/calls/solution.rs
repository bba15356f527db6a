//! Solutions and fusion plans of MIOpen: searched for, compiled, run.
//!
//! A search or compilation is rare, and may lock and allocate. A run only notes its handle: what that stood for at the
//! time is found where the events are read.
#![allow(unsafe_code)] // reads what the program passed to MIOpen and what MIOpen has stored

use super::conv::Action;
use super::descriptors::{cost, solver, stream, tensor};
use super::problem::{place, stored};
use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::session::process::Process;
use rocshim_ring::conv::{CONV_RESULTS, Conv, ConvResult};
use rocshim_ring::definition::Definition;
use rocshim_ring::{CallGuard, Producer};

/// What is known of problem or plan `handle`, as an event that does `action` with it on the stream of `miopen`.
fn event_of(action: Action, miopen: miopenHandle_t, handle: Pointer) -> Conv {
    let mut known = None;
    guarded(|process| known = process.problems.get(handle as u64));
    let conv = known.unwrap_or_default();
    Conv { action: action as u8, subject: handle as u64, stream: stream(miopen), ..conv }
}

/// Tells what `handle` stands for from now on, unless that was told.
fn tell(process: &Process, stamp: u64, handle: u64, solver: u64, conv: Option<Conv>) {
    if process.problems.is_news(handle, solver, conv) {
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
    fn stage(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &event_of(Action::FindSolutions, self.handle, self.problem))
    }

    /// The solutions that MIOpen has just stored.
    fn found(&self) -> impl Iterator<Item = miopenSolution_t> {
        let has_some = !self.count.is_null() && !self.solutions.is_null();
        // SAFETY: the call succeeded, so MIOpen has stored a count here.
        let count = if has_some { unsafe { *self.count }.min(self.room) } else { 0 };
        let first = self.solutions;
        // SAFETY: `i < count`, and MIOpen has filled that many.
        (0..count).map(move |i| unsafe { first.wrapping_add(i).read() })
    }
}

impl Observed<miopenStatus_t> for FindSolutions {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.stage(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        let mut results = [ConvResult::default(); CONV_RESULTS];
        let mut count = 0;
        if status == 0 {
            guarded(|process| {
                let conv = process.problems.get(self.problem as u64);
                for solution in self.found() {
                    let id = solver(solution);
                    if let Some(place) = results.get_mut(count) {
                        let (workspace, time) = cost(solution);
                        *place =
                            ConvResult { algorithm: ConvResult::BY_SOLVER, time, workspace, solution: id };
                    }
                    count += 1;
                    tell(process, returned, solution as u64, id, conv);
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

/// `miopenLoadSolution`: a solution that was saved, whose problem only MIOpen knows.
pub(crate) struct LoadSolution(pub(crate) *const miopenSolution_t);

impl Observed<miopenStatus_t> for LoadSolution {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        if status == 0 {
            let solution = stored(self.0);
            guarded(|process| tell(process, returned, solution, solver(solution as Pointer), None));
        }
    }
}

/// `miopenGetSolutionSolverId`: what the program is told, we may know, even where we do not ask ourselves.
pub(crate) struct SolverAsked {
    pub(crate) solution: miopenSolution_t,
    pub(crate) id: *const u64,
}

impl Observed<miopenStatus_t> for SolverAsked {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        if status == 0 && !self.id.is_null() {
            // SAFETY: the call succeeded, so MIOpen has stored the id here.
            let (handle, solver) = (self.solution as u64, unsafe { *self.id });
            guarded(|process| {
                if process.problems.is_new_solver(handle, solver) {
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
    fn stage(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &event_of(Action::CompilePlan, self.handle, self.plan))
    }
}

impl Observed<miopenStatus_t> for CompilePlan {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.stage(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        let plan = self.plan as u64;
        if status == 0 {
            guarded(|process| tell(process, returned, plan, 0, process.problems.get(plan)));
        }
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// A run of a solution or a plan, which the reader of the event knows by its handle.
pub(crate) struct RunHandle {
    action: Action,
    handle: miopenHandle_t,
    subject: Pointer,
    tensors: Tensors,
    workspace: usize,
}

/// Where the descriptors of a run are.
enum Tensors {
    /// An array of tensor arguments; each may leave its descriptor to the problem.
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
    fn stage(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
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
        thread.enter(hook, &conv)
    }
}

/// The most tensor arguments that are looked at: a convolution has three, a fused one a few more.
const ARGUMENTS: usize = 16;

fn read_arguments(first: *const miopenTensorArgument_t, count: usize, conv: &mut Conv) {
    if first.is_null() {
        return;
    }
    for i in 0..count.min(ARGUMENTS) {
        // SAFETY: `i < count`, and MIOpen copies that many from here first of all.
        let argument = unsafe { first.wrapping_add(i).read() };
        if let Some(place) = place(argument.id).filter(|_| !argument.descriptor.is_null()) {
            // SAFETY: MIOpen reads the descriptor of an argument that has one.
            conv.tensors[place] = tensor(unsafe { *argument.descriptor });
        }
    }
}

impl Observed<miopenStatus_t> for RunHandle {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.stage(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: miopenStatus_t) {
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}
