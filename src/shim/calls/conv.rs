//! Convolution calls of MIOpen: the problem is read from its descriptors, the results from where MIOpen put them.
#![allow(unsafe_code)] // reads the arrays that the program passed

use super::descriptors::{convolution, stream, tensor};
use crate::abi::miopen::*;
use crate::hook::{Answer, Observed};
use rocshim_ring::conv::{CONV_RESULTS, Conv, ConvResult, Operation, Operations};
use rocshim_ring::{CallGuard, Producer};

/// Which of the three products of a convolution.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Forward,
    BackwardData,
    BackwardWeights,
}

/// The direction, the descriptors of x, w and y, and the convolution's.
pub(crate) struct Problem(
    pub(crate) Direction,
    pub(crate) [miopenTensorDescriptor_t; 3],
    pub(crate) miopenConvolutionDescriptor_t,
);

/// Indices of `rocshim_drain::CONV_ACTIONS`.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    Find,
    Run,
    GetSolution,
    Compile,
    Immediate,
    FindSolutions,
    RunSolution,
    CompilePlan,
    ExecutePlan,
}

/// Where a call puts its results.
enum Results {
    None,
    Found { count: *const i32, first: *const miopenConvAlgoPerf_t, room: i32 },
    Solutions { count: *const usize, first: *const miopenConvSolution_t, room: usize },
}

/// A convolution call.
pub(crate) struct ConvCall {
    handle: miopenHandle_t,
    problem: Problem,
    action: Action,
    algorithm: u32,
    solution: u64,
    workspace: usize,
    exhaustive: bool,
    operations: Operations,
    results: Results,
}

impl ConvCall {
    fn new(handle: miopenHandle_t, problem: Problem, action: Action) -> ConvCall {
        let (algorithm, solution, workspace, exhaustive) = (0, 0, 0, false);
        let (operations, results) = (Operations::default(), Results::None);
        ConvCall { handle, problem, action, algorithm, solution, workspace, exhaustive, operations, results }
    }
}

/// A search.
pub(crate) fn find(
    handle: miopenHandle_t,
    problem: Problem,
    count: *const i32,
    first: *const miopenConvAlgoPerf_t,
    room: i32,
    workspace: usize,
    exhaustive: bool,
) -> ConvCall {
    let results = Results::Found { count, first, room };
    ConvCall { workspace, exhaustive, results, ..ConvCall::new(handle, problem, Action::Find) }
}

/// A run of the algorithm that a search gave.
pub(crate) fn run(
    handle: miopenHandle_t,
    problem: Problem,
    algorithm: miopenConvAlgorithm_t,
    workspace: usize,
) -> ConvCall {
    ConvCall { algorithm, workspace, ..ConvCall::new(handle, problem, Action::Run) }
}

/// A run of an algorithm with bias and activation fused to it.
pub(crate) fn run_fused(
    handle: miopenHandle_t,
    problem: Problem,
    algorithm: miopenConvAlgorithm_t,
    workspace: usize,
) -> ConvCall {
    let operations = Operations::of(&[Operation::Convolution, Operation::Bias, Operation::Activation]);
    ConvCall { operations, ..run(handle, problem, algorithm, workspace) }
}

/// Immediate mode: which solutions there are.
pub(crate) fn get_solution(
    handle: miopenHandle_t,
    problem: Problem,
    count: *const usize,
    first: *const miopenConvSolution_t,
    room: usize,
) -> ConvCall {
    ConvCall {
        results: Results::Solutions { count, first, room },
        ..ConvCall::new(handle, problem, Action::GetSolution)
    }
}

/// Immediate mode: a solution is compiled.
pub(crate) fn compile(handle: miopenHandle_t, problem: Problem, solution: u64) -> ConvCall {
    ConvCall { solution, ..ConvCall::new(handle, problem, Action::Compile) }
}

/// Immediate mode: a solution is run.
pub(crate) fn immediate(
    handle: miopenHandle_t,
    problem: Problem,
    solution: u64,
    workspace: usize,
) -> ConvCall {
    ConvCall { solution, workspace, ..ConvCall::new(handle, problem, Action::Immediate) }
}

impl<R: Answer> Observed<R> for ConvCall {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.stage(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, answer: R) {
        let Some(span) = span else { return };
        if answer.code() == 0 {
            let (returned, kept, results) = self.results();
            Conv::store_results(returned, &results[..kept], |index, value| span.put(index, value));
        }
        span.leave(returned, answer.code());
    }
}

impl ConvCall {
    #[inline(never)]
    fn stage(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        let Problem(direction, tensors, conv) = &self.problem;
        let tensors = tensors.map(tensor);
        let mut payload = Conv {
            action: self.action as u8,
            direction: *direction as u8,
            is_convolution: true,
            operations: self.operations,
            tensors,
            algorithm: self.algorithm,
            solution: self.solution,
            workspace: self.workspace as u64,
            exhaustive: self.exhaustive,
            stream: stream(self.handle),
            ..Conv::default()
        };
        convolution(*conv, &mut payload);
        thread.enter(hook, &payload)
    }

    /// What MIOpen returned: how many, how many of them are kept, and these.
    fn results(&self) -> (u64, usize, [ConvResult; CONV_RESULTS]) {
        match self.results {
            Results::Found { count, first, room } if !count.is_null() && !first.is_null() => {
                // SAFETY: the call succeeded, so the library has stored a count here.
                let returned = unsafe { *count }.clamp(0, room.max(0)) as usize;
                keep(returned, first, |result| (result.algo, result.time, result.memory, 0))
            }
            Results::Solutions { count, first, room } if !count.is_null() && !first.is_null() => {
                // SAFETY: as above.
                let returned = unsafe { *count }.min(room);
                keep(returned, first, |r| (r.algorithm, r.time, r.workspace_size, r.solution_id))
            }
            _ => (0, 0, Default::default()),
        }
    }
}

/// The first results of the program's array at `first`, into which MIOpen has just put `returned` of them.
fn keep<T: Copy>(
    returned: usize,
    first: *const T,
    read: impl Fn(T) -> (u32, f32, usize, u64),
) -> (u64, usize, [ConvResult; CONV_RESULTS]) {
    let mut kept = [ConvResult::default(); CONV_RESULTS];
    for (i, place) in kept.iter_mut().enumerate().take(returned) {
        // SAFETY: `i < returned`, and the library has filled that many.
        let (algorithm, time, workspace, solution) = read(unsafe { first.wrapping_add(i).read() });
        *place = ConvResult { algorithm, time, workspace: workspace as u64, solution };
    }
    (returned as u64, returned.min(CONV_RESULTS), kept)
}
