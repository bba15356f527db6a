//! Types of miopen.h, as the hooked functions take and return them.
#![allow(non_camel_case_types, non_upper_case_globals)]

use super::Pointer;

pub(crate) type miopenStatus_t = i32;
/// Returned by a hook when no loaded library has the real function.
pub(crate) const miopenStatusNotImplemented: miopenStatus_t = 6;
pub(crate) type miopenHandle_t = Pointer;
pub(crate) type miopenTensorDescriptor_t = Pointer;
pub(crate) type miopenConvolutionDescriptor_t = Pointer;
pub(crate) type miopenProblem_t = Pointer;
pub(crate) type miopenSolution_t = Pointer;
pub(crate) type miopenFusionPlanDescriptor_t = Pointer;
pub(crate) type miopenProblemDirection_t = u32;
pub(crate) type miopenTensorArgumentId_t = u32;
/// One of the three `miopenConv*Algorithm_t` enums.
pub(crate) type miopenConvAlgorithm_t = u32;

/// One result of a find call: no solver id, time in ms, memory in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct miopenConvAlgoPerf_t {
    pub(crate) algo: miopenConvAlgorithm_t,
    pub(crate) time: f32,
    pub(crate) memory: usize,
}

const _: () = assert!(size_of::<miopenConvAlgoPerf_t>() == 16);
const _: () = assert!(std::mem::offset_of!(miopenConvAlgoPerf_t, memory) == 8);

/// One solution of immediate mode: time in ms, workspace in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct miopenConvSolution_t {
    pub(crate) time: f32,
    pub(crate) workspace_size: usize,
    pub(crate) solution_id: u64,
    pub(crate) algorithm: miopenConvAlgorithm_t,
}

const _: () = assert!(size_of::<miopenConvSolution_t>() == 32);
const _: () = assert!(std::mem::offset_of!(miopenConvSolution_t, workspace_size) == 8);
const _: () = assert!(std::mem::offset_of!(miopenConvSolution_t, solution_id) == 16);
const _: () = assert!(std::mem::offset_of!(miopenConvSolution_t, algorithm) == 24);

/// A tensor of a run. Without a descriptor, the problem's descriptor applies.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct miopenTensorArgument_t {
    pub(crate) id: miopenTensorArgumentId_t,
    pub(crate) descriptor: *const miopenTensorDescriptor_t,
    pub(crate) buffer: Pointer,
}

const _: () = assert!(size_of::<miopenTensorArgument_t>() == 24);
const _: () = assert!(std::mem::offset_of!(miopenTensorArgument_t, descriptor) == 8);
