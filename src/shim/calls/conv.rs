//! Convolution calls of MIOpen. The problem is read from its descriptors, results from the
//! program's arrays.
#![allow(unsafe_code)] // reads the arrays that the program passed

use super::descriptors::{convolution, stream, tensor};
use crate::abi::miopen::*;
use crate::hook::{Intercept, ReturnValue, first_calls};
use rocshim_ring::conv::{CONV_RESULTS, Conv, ConvResult, Operation, Operations};
use rocshim_ring::{CallGuard, Producer};

/// Which of a convolution's three computations.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Forward,
    BackwardData,
    BackwardWeights,
}

/// The direction, the descriptors of x, w and y, and the convolution descriptor.
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

/// Where a call stores its results. `room` is the length of the program's array.
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

/// A search for algorithms. `workspace` is in bytes.
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

/// A run of an algorithm that a search returned.
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

/// Immediate mode: a query for solutions.
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

/// Immediate mode: the compilation of a solution.
pub(crate) fn compile(handle: miopenHandle_t, problem: Problem, solution: u64) -> ConvCall {
    ConvCall { solution, ..ConvCall::new(handle, problem, Action::Compile) }
}

/// Immediate mode: a run of a solution.
pub(crate) fn immediate(
    handle: miopenHandle_t,
    problem: Problem,
    solution: u64,
    workspace: usize,
) -> ConvCall {
    ConvCall { solution, workspace, ..ConvCall::new(handle, problem, Action::Immediate) }
}

impl<R: ReturnValue> Intercept<R> for ConvCall {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.store_event(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, result: R) {
        let Some(span) = span else { return };
        if result.status() == 0 {
            let (returned, kept, results) = self.results();
            Conv::store_results(returned, &results[..kept], |index, value| span.put(index, value));
        }
        span.leave(returned, result.status());
    }
}

impl ConvCall {
    #[inline(never)]
    fn store_event(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
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
        first_calls::enter(thread, hook, &payload)
    }

    /// Returns how many results MIOpen returned, how many of them are kept, and those.
    fn results(&self) -> (u64, usize, [ConvResult; CONV_RESULTS]) {
        match self.results {
            Results::Found { count, first, room } if !count.is_null() && !first.is_null() => {
                // SAFETY: `count` is not NULL, and the call succeeded, so the library has stored an
                // int there.
                let returned = unsafe { *count }.clamp(0, room.max(0)) as usize;
                read_results(returned, first, |result| (result.algo, result.time, result.memory, 0))
            }
            Results::Solutions { count, first, room } if !count.is_null() && !first.is_null() => {
                // SAFETY: `count` is not NULL, and the call succeeded, so the library has stored a
                // size_t there.
                let returned = unsafe { *count }.min(room);
                read_results(returned, first, |r| (r.algorithm, r.time, r.workspace_size, r.solution_id))
            }
            _ => (0, 0, Default::default()),
        }
    }
}

/// Reads the first of the `returned` results that MIOpen has stored from `first` on.
fn read_results<T: Copy>(
    returned: usize,
    first: *const T,
    read: impl Fn(T) -> (u32, f32, usize, u64),
) -> (u64, usize, [ConvResult; CONV_RESULTS]) {
    let mut kept = [ConvResult::default(); CONV_RESULTS];
    for (i, place) in kept.iter_mut().enumerate().take(returned) {
        // SAFETY: `i < returned`, and the library has stored that many results from `first` on,
        // which is not NULL.
        let (algorithm, time, workspace, solution) = read(unsafe { first.wrapping_add(i).read() });
        *place = ConvResult { algorithm, time, workspace: workspace as u64, solution };
    }
    (returned as u64, returned.min(CONV_RESULTS), kept)
}
