//! What MIOpen's handles hold: asked of MIOpen's own accessors, which read a field and do nothing else.
//!
//! Two things would show that somebody asked. A call that fails is told on standard error (`miopen::try_`), so only what
//! cannot fail is asked: NULL never, and no more dimensions than there are. And where MIOpen logs calls, the accessors
//! are in that log too; then nothing is asked, and the trace has no descriptors.
#![allow(unsafe_code)] // calls MIOpen's accessors with the handles that the program has just passed

use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::platform::signals::keeping_errno;
use crate::symbols::real::Accessor;
use rocshim_ring::conv::{Conv, SPATIAL_DIMS, TENSOR_DIMS, Tensor};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Whether asking stays unseen: 0 not known yet, 1 yes, 2 no.
static ASK: AtomicU8 = AtomicU8::new(0);

/// True unless MIOpen logs the calls that it gets. It reads these variables once, at about the same time.
fn may_ask() -> bool {
    // Relaxed: everyone who works it out stores the same.
    match ASK.load(Relaxed) {
        0 => {
            let logs = ["MIOPEN_ENABLE_LOGGING", "MIOPEN_ENABLE_LOGGING_ROCTX"].into_iter().any(is_on);
            ASK.store(if logs { 2 } else { 1 }, Relaxed);
            !logs
        }
        known => known == 1,
    }
}

/// As MIOpen reads a switch (env.hpp); what it would not understand counts as on.
fn is_on(variable: &str) -> bool {
    const OFF: [&str; 7] = ["", "0", "disable", "disabled", "no", "off", "false"];
    let value = std::env::var_os(variable).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    !OFF.contains(&value.as_str())
}

/// The address of an accessor; `None` when it is not to be called or not there.
fn ask(accessor: &Accessor) -> Option<*mut c_void> {
    may_ask().then(|| accessor.get()).flatten()
}

static TENSOR_SIZE: Accessor = Accessor::new("libMIOpen.so", "miopenGetTensorDescriptorSize");
static TENSOR: Accessor = Accessor::new("libMIOpen.so", "miopenGetTensorDescriptor");
static CONVOLUTION: Accessor = Accessor::new("libMIOpen.so", "miopenGetConvolutionNdDescriptor");
static GROUPS: Accessor = Accessor::new("libMIOpen.so", "miopenGetConvolutionGroupCount");
static STREAM: Accessor = Accessor::new("libMIOpen.so", "miopenGetStream");
static SOLVER: Accessor = Accessor::new("libMIOpen.so", "miopenGetSolutionSolverId");
static WORKSPACE: Accessor = Accessor::new("libMIOpen.so", "miopenGetSolutionWorkspaceSize");
static TIME: Accessor = Accessor::new("libMIOpen.so", "miopenGetSolutionTime");

type Get<T> = unsafe extern "C" fn(Pointer, *mut T) -> miopenStatus_t;
type GetTensor = unsafe extern "C" fn(Pointer, *mut u32, *mut i32, *mut i32) -> miopenStatus_t;
type GetConvolution =
    unsafe extern "C" fn(Pointer, i32, *mut i32, *mut i32, *mut i32, *mut i32, *mut u32) -> miopenStatus_t;

/// What an accessor of one value gives for `handle`.
///
/// # Safety
/// The accessor takes such a handle and stores a `T`.
unsafe fn value<T: Default>(accessor: &Accessor, handle: Pointer) -> Option<T> {
    let get = (!handle.is_null()).then(|| ask(accessor)).flatten()?;
    // SAFETY: MIOpen's function of this name, which takes a handle and a place for its answer (miopen.h).
    let get: Get<T> = unsafe { std::mem::transmute(get) };
    let mut value = T::default();
    // SAFETY: the program passes this handle to MIOpen itself.
    let status = keeping_errno(|| unsafe { get(handle, &mut value) });
    (status == 0).then_some(value)
}

/// A tensor descriptor's contents; rank 0 where they cannot be had.
pub(crate) fn tensor(descriptor: miopenTensorDescriptor_t) -> Tensor {
    let mut tensor = Tensor::default();
    // SAFETY: miopenGetTensorDescriptorSize stores an int.
    let rank: i32 = unsafe { value(&TENSOR_SIZE, descriptor) }.unwrap_or(0);
    let is_read = (1..=TENSOR_DIMS as i32).contains(&rank);
    let Some(get) = is_read.then(|| ask(&TENSOR)).flatten() else { return tensor };
    // SAFETY: MIOpen's function of this name, whose type miopen.h states.
    let get: GetTensor = unsafe { std::mem::transmute(get) };
    let (dims, strides) = (tensor.dims.as_mut_ptr(), tensor.strides.as_mut_ptr());
    // SAFETY: both arrays have room for the `rank` values that MIOpen writes.
    let status = keeping_errno(|| unsafe { get(descriptor, &mut tensor.element, dims, strides) });
    tensor.rank = if status == 0 { rank as u32 } else { 0 };
    tensor
}

/// A convolution descriptor's contents, into `to`; no spatial dimensions where they cannot be had.
pub(crate) fn convolution(descriptor: miopenConvolutionDescriptor_t, to: &mut Conv) {
    // SAFETY: miopenGetConvolutionGroupCount stores an int.
    let Some(groups) = (unsafe { value(&GROUPS, descriptor) }) else { return };
    to.groups = groups;
    let Some(get) = ask(&CONVOLUTION) else { return };
    // SAFETY: MIOpen's function of this name, whose type miopen.h states.
    let get: GetConvolution = unsafe { std::mem::transmute(get) };
    let (pads, strides, dilations) =
        (to.pads.as_mut_ptr(), to.strides.as_mut_ptr(), to.dilations.as_mut_ptr());
    // None are asked for, then as many as there are: MIOpen refuses only to give more than that.
    let mut read = |asked: i32| {
        let mut spatial = 0;
        // SAFETY: the arrays have room for the `asked` values that MIOpen writes.
        let get = || unsafe { get(descriptor, asked, &mut spatial, pads, strides, dilations, &mut to.mode) };
        (keeping_errno(get) == 0).then_some(spatial)
    };
    let spatial = read(0).filter(|spatial| (1..=SPATIAL_DIMS as i32).contains(spatial));
    to.spatial = spatial.and_then(read).unwrap_or(0) as u32;
}

/// The stream of a MIOpen handle; 0 where it cannot be had.
pub(crate) fn stream(handle: miopenHandle_t) -> u64 {
    // SAFETY: miopenGetStream stores a pointer.
    unsafe { value::<usize>(&STREAM, handle) }.unwrap_or(0) as u64
}

/// The solver id of a solution; 0 where it cannot be had.
pub(crate) fn solver(solution: miopenSolution_t) -> u64 {
    // SAFETY: miopenGetSolutionSolverId stores a uint64_t.
    unsafe { value(&SOLVER, solution) }.unwrap_or(0)
}

/// Workspace in bytes and time in ms of a solution, as MIOpen has measured it.
pub(crate) fn cost(solution: miopenSolution_t) -> (u64, f32) {
    // SAFETY: miopenGetSolutionWorkspaceSize stores a size_t.
    let workspace = unsafe { value::<usize>(&WORKSPACE, solution) }.unwrap_or(0);
    // SAFETY: miopenGetSolutionTime stores a float.
    let time = unsafe { value(&TIME, solution) }.unwrap_or(f32::NAN);
    (workspace as u64, time)
}
