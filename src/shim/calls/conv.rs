//! Convolution calls of MIOpen: the problem is read from its descriptors, the results from where MIOpen put them.
#![allow(unsafe_code)] // calls MIOpen's accessors and reads the arrays that the program passed

use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::hook::{Answer, Observed};
use crate::real::Accessor;
use rocshim_ring::conv::{CONV_RESULTS, Conv, ConvResult, SPATIAL_DIMS, TENSOR_DIMS, Tensor};
use rocshim_ring::{Frame, Producer, Span};

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
enum Action {
    Find,
    Run,
    GetSolution,
    Compile,
    Immediate,
}

/// Where a call puts its results.
enum Results {
    None,
    Found { count: *const i32, first: *const miopenConvAlgoPerf_t, room: i32 },
    Solutions { count: *const usize, first: *const miopenConvSolution_t, room: usize },
}

/// A convolution call.
pub(crate) struct ConvCall {
    problem: Problem,
    action: Action,
    algorithm: u32,
    solution: u64,
    workspace: usize,
    exhaustive: bool,
    results: Results,
}

impl ConvCall {
    fn new(problem: Problem, action: Action) -> ConvCall {
        let results = Results::None;
        ConvCall { problem, action, algorithm: 0, solution: 0, workspace: 0, exhaustive: false, results }
    }
}

/// A search.
pub(crate) fn find(
    problem: Problem,
    count: *const i32,
    first: *const miopenConvAlgoPerf_t,
    room: i32,
    workspace: usize,
    exhaustive: bool,
) -> ConvCall {
    let results = Results::Found { count, first, room };
    ConvCall { workspace, exhaustive, results, ..ConvCall::new(problem, Action::Find) }
}

/// A run of the algorithm that a search gave.
pub(crate) fn run(problem: Problem, algorithm: miopenConvAlgorithm_t, workspace: usize) -> ConvCall {
    ConvCall { algorithm, workspace, ..ConvCall::new(problem, Action::Run) }
}

/// Immediate mode: which solutions there are.
pub(crate) fn get_solution(
    problem: Problem,
    count: *const usize,
    first: *const miopenConvSolution_t,
    room: usize,
) -> ConvCall {
    ConvCall {
        results: Results::Solutions { count, first, room },
        ..ConvCall::new(problem, Action::GetSolution)
    }
}

/// Immediate mode: a solution is compiled.
pub(crate) fn compile(problem: Problem, solution: u64) -> ConvCall {
    ConvCall { solution, ..ConvCall::new(problem, Action::Compile) }
}

/// Immediate mode: a solution is run.
pub(crate) fn immediate(problem: Problem, solution: u64, workspace: usize) -> ConvCall {
    ConvCall { solution, workspace, ..ConvCall::new(problem, Action::Immediate) }
}

impl<R: Answer> Observed<R> for ConvCall {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<Span> {
        self.stage(Frame::own(), thread, hook)
    }

    fn finish(self, span: Option<Span>, returned: u64, answer: R) {
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
    fn stage(&self, frame: Frame, thread: Producer, hook: u16) -> Option<Span> {
        let Problem(direction, tensors, conv) = &self.problem;
        let tensors = tensors.map(read_tensor);
        let mut payload = Conv {
            action: self.action as u8,
            direction: *direction as u8,
            tensors,
            algorithm: self.algorithm,
            solution: self.solution,
            workspace: self.workspace as u64,
            exhaustive: self.exhaustive,
            ..Conv::default()
        };
        read_convolution(*conv, &mut payload);
        thread.enter_from(frame, hook, &payload)
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

// MIOpen's accessors read a descriptor and do nothing else (MIOpen, tensor_api.cpp and convolution_api.cpp), so calling
// them inside a hook changes nothing.
static TENSOR_SIZE: Accessor = Accessor::new("libMIOpen.so", "miopenGetTensorDescriptorSize");
static TENSOR: Accessor = Accessor::new("libMIOpen.so", "miopenGetTensorDescriptor");
static CONVOLUTION: Accessor = Accessor::new("libMIOpen.so", "miopenGetConvolutionNdDescriptor");
static GROUPS: Accessor = Accessor::new("libMIOpen.so", "miopenGetConvolutionGroupCount");

type TensorSize = unsafe extern "C" fn(Pointer, *mut i32) -> miopenStatus_t;
type GetTensor = unsafe extern "C" fn(Pointer, *mut u32, *mut i32, *mut i32) -> miopenStatus_t;
type GetConvolution =
    unsafe extern "C" fn(Pointer, i32, *mut i32, *mut i32, *mut i32, *mut i32, *mut u32) -> miopenStatus_t;
type GetGroups = unsafe extern "C" fn(Pointer, *mut i32) -> miopenStatus_t;

fn read_tensor(descriptor: miopenTensorDescriptor_t) -> Tensor {
    let (mut tensor, mut rank) = (Tensor::default(), 0);
    let (Some(size), Some(get)) = (TENSOR_SIZE.get(), TENSOR.get()) else { return tensor };
    // SAFETY: MIOpen's function of this name, whose type miopen.h states.
    let size: TensorSize = unsafe { std::mem::transmute(size) };
    // SAFETY: as above.
    let get: GetTensor = unsafe { std::mem::transmute(get) };
    // SAFETY: the program passed this descriptor to MIOpen itself; MIOpen checks NULL.
    let status = unsafe { size(descriptor, &mut rank) };
    if status != 0 || !(1..=TENSOR_DIMS as i32).contains(&rank) {
        return tensor;
    }
    let (dims, strides) = (tensor.dims.as_mut_ptr(), tensor.strides.as_mut_ptr());
    // SAFETY: both arrays have room for the `rank` values that MIOpen writes.
    let status = unsafe { get(descriptor, &mut tensor.element, dims, strides) };
    tensor.rank = if status == 0 { rank as u32 } else { 0 };
    tensor
}

fn read_convolution(descriptor: miopenConvolutionDescriptor_t, to: &mut Conv) {
    // n and c are not spatial; the descriptor of a convolution has as many dimensions as its tensors leave.
    let spatial = (to.tensors[0].rank as usize).saturating_sub(2);
    if let Some(groups) = GROUPS.get() {
        // SAFETY: MIOpen's function of this name, whose type miopen.h states.
        let groups: GetGroups = unsafe { std::mem::transmute(groups) };
        // SAFETY: as in `read_tensor`.
        unsafe { groups(descriptor, &mut to.groups) };
    }
    let Some(get) = CONVOLUTION.get() else { return };
    // SAFETY: as above.
    let get: GetConvolution = unsafe { std::mem::transmute(get) };
    let mut actual = 0;
    let (pads, strides, dilations) =
        (to.pads.as_mut_ptr(), to.strides.as_mut_ptr(), to.dilations.as_mut_ptr());
    if !(1..=SPATIAL_DIMS).contains(&spatial) {
        return;
    }
    // SAFETY: the arrays have room for the `spatial` values that are asked for.
    let status =
        unsafe { get(descriptor, spatial as i32, &mut actual, pads, strides, dilations, &mut to.mode) };
    to.spatial = if status == 0 { spatial as u32 } else { 0 };
}
