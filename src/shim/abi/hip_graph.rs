//! Types of hip_runtime_api.h for launch configurations, graphs and stream capture.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

use super::Pointer;
use super::hip::{KernelParams, dim3, hipError_t, hipFunction_t, hipStream_t};
use std::mem::offset_of;

pub(crate) type hipGraph_t = Pointer;
pub(crate) type hipGraphExec_t = Pointer;
pub(crate) type hipGraphNode_t = Pointer;
/// 0 global, 1 thread-local, 2 relaxed.
pub(crate) type hipStreamCaptureMode = u32;
pub(crate) type hipGraphNodeType = u32;

pub(crate) const hipErrorGraphExecUpdateFailure: hipError_t = 910;
/// A `hipGraphExecUpdateResult`: the topologies differ, and nothing was changed.
pub(crate) const hipGraphExecUpdateErrorTopologyChanged: u32 = 2;

pub(crate) const hipGraphNodeTypeKernel: hipGraphNodeType = 0;
pub(crate) const hipGraphNodeTypeGraph: hipGraphNodeType = 4;

/// Parameters of a kernel node.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct hipKernelNodeParams {
    pub(crate) blockDim: dim3,
    pub(crate) extra: Pointer,
    pub(crate) func: Pointer,
    pub(crate) gridDim: dim3,
    pub(crate) kernelParams: KernelParams,
    pub(crate) sharedMemBytes: u32,
}

const _: () = assert!(size_of::<hipKernelNodeParams>() == 64);
const _: () = assert!(offset_of!(hipKernelNodeParams, func) == 24);
const _: () = assert!(offset_of!(hipKernelNodeParams, gridDim) == 32);
const _: () = assert!(offset_of!(hipKernelNodeParams, sharedMemBytes) == 56);

/// Parameters of a node of any type. Of the union, only the kernel variant is read.
#[repr(C)]
pub(crate) struct hipGraphNodeParams {
    pub(crate) r#type: hipGraphNodeType,
    pub(crate) reserved0: [i32; 3],
    pub(crate) kernel: hipKernelNodeParams,
    pub(crate) rest_of_union: [u8; 168],
    pub(crate) reserved2: i64,
}

const _: () = assert!(size_of::<hipGraphNodeParams>() == 256);
const _: () = assert!(offset_of!(hipGraphNodeParams, kernel) == 16);
const _: () = assert!(offset_of!(hipGraphNodeParams, reserved2) == 248);

pub(crate) const hipLaunchAttributeCooperative: u32 = 2;

/// An attribute of a launch. Of the values, only the `int` of the cooperative attribute is read.
#[repr(C, align(8))]
pub(crate) struct hipLaunchAttribute {
    pub(crate) id: u32,
    pub(crate) pad: [u8; 4],
    pub(crate) cooperative: i32,
    pub(crate) rest_of_value: [u8; 60],
}

const _: () = assert!(size_of::<hipLaunchAttribute>() == 72);
const _: () = assert!(offset_of!(hipLaunchAttribute, cooperative) == 8);

/// The argument of `hipLaunchKernelExC`.
#[repr(C)]
pub(crate) struct hipLaunchConfig_t {
    pub(crate) gridDim: dim3,
    pub(crate) blockDim: dim3,
    pub(crate) dynamicSmemBytes: usize,
    pub(crate) stream: hipStream_t,
    pub(crate) attrs: *const hipLaunchAttribute,
    pub(crate) numAttrs: u32,
}

const _: () = assert!(size_of::<hipLaunchConfig_t>() == 56);
const _: () = assert!(offset_of!(hipLaunchConfig_t, dynamicSmemBytes) == 24);
const _: () = assert!(offset_of!(hipLaunchConfig_t, attrs) == 40);

/// The argument of `hipDrvLaunchKernelEx`.
#[repr(C)]
pub(crate) struct HIP_LAUNCH_CONFIG {
    pub(crate) gridDim: dim3,
    pub(crate) blockDim: dim3,
    pub(crate) sharedMemBytes: u32,
    pub(crate) hStream: hipStream_t,
    pub(crate) attrs: *const hipLaunchAttribute,
    pub(crate) numAttrs: u32,
}

const _: () = assert!(size_of::<HIP_LAUNCH_CONFIG>() == 56);
const _: () = assert!(offset_of!(HIP_LAUNCH_CONFIG, sharedMemBytes) == 24);
const _: () = assert!(offset_of!(HIP_LAUNCH_CONFIG, attrs) == 40);

/// One device's launch in `hipLaunchCooperativeKernelMultiDevice`.
#[repr(C)]
pub(crate) struct hipLaunchParams {
    pub(crate) func: Pointer,
    pub(crate) gridDim: dim3,
    pub(crate) blockDim: dim3,
    pub(crate) args: KernelParams,
    pub(crate) sharedMem: usize,
    pub(crate) stream: hipStream_t,
}

const _: () = assert!(size_of::<hipLaunchParams>() == 56);
const _: () = assert!(offset_of!(hipLaunchParams, args) == 32);

/// One device's launch in `hipModuleLaunchCooperativeKernelMultiDevice`.
#[repr(C)]
pub(crate) struct hipFunctionLaunchParams {
    pub(crate) function: hipFunction_t,
    pub(crate) gridDim: dim3,
    pub(crate) blockDim: dim3,
    pub(crate) sharedMemBytes: u32,
    pub(crate) hStream: hipStream_t,
    pub(crate) kernelParams: KernelParams,
}

const _: () = assert!(size_of::<hipFunctionLaunchParams>() == 56);
const _: () = assert!(offset_of!(hipFunctionLaunchParams, hStream) == 40);
