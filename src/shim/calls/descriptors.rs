//! Reads the contents of MIOpen's handles through MIOpen's own accessors, which only read a field.
//!
//! Two things would make this visible. A call that fails prints to standard error (`miopen::try_`),
//! so only queries that cannot fail are made: never for NULL, and never for more dimensions than
//! there are. And when MIOpen logs calls, its log would include ours; then no accessor is called,
//! and the trace has no descriptors.
#![allow(unsafe_code)] // calls MIOpen's accessors with the handles that the program has just passed

use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::platform::signals::keeping_errno;
use crate::symbols::real::Accessor;
use rocshim_ring::conv::{Conv, SPATIAL_DIMS, TENSOR_DIMS, Tensor};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Whether accessors may be called: 0 not determined yet, 1 yes, 2 no.
static MAY_CALL: AtomicU8 = AtomicU8::new(0);

/// Returns true unless MIOpen logs calls. MIOpen reads these variables once, at about the same
/// time.
fn may_call() -> bool {
    // Relaxed: every thread computes the same value.
    match MAY_CALL.load(Relaxed) {
        0 => {
            let logs =
                ["MIOPEN_ENABLE_LOGGING", "MIOPEN_ENABLE_LOGGING_ROCTX"].into_iter().any(is_switched_on);
            MAY_CALL.store(if logs { 2 } else { 1 }, Relaxed);
            !logs
        }
        known => known == 1,
    }
}

/// Parses a switch as MIOpen does (env.hpp). A value that MIOpen would reject counts as on.
fn is_switched_on(variable: &str) -> bool {
    const OFF: [&str; 7] = ["", "0", "disable", "disabled", "no", "off", "false"];
    let value = std::env::var_os(variable).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    !OFF.contains(&value.as_str())
}

/// Returns the address of an accessor; `None` when it must not be called or does not exist.
fn address_of(accessor: &Accessor) -> Option<*mut c_void> {
    may_call().then(|| accessor.get()).flatten()
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

/// Calls an accessor of one value for `handle`.
///
/// # Safety
/// The accessor takes such a handle and stores a `T`.
unsafe fn value<T: Default>(accessor: &Accessor, handle: Pointer) -> Option<T> {
    let get = (!handle.is_null()).then(|| address_of(accessor)).flatten()?;
    // SAFETY: by the contract `get` is MIOpen's function of this name, which takes a handle and a
    // pointer to a `T` (miopen.h).
    let get: Get<T> = unsafe { std::mem::transmute(get) };
    let mut value = T::default();
    // SAFETY: `handle` is not NULL, the program is passing it to MIOpen itself, and `value` has
    // room for the `T`.
    let status = keeping_errno(|| unsafe { get(handle, &mut value) });
    (status == 0).then_some(value)
}

/// Reads a tensor descriptor; rank 0 when it cannot be read.
pub(crate) fn tensor(descriptor: miopenTensorDescriptor_t) -> Tensor {
    let mut tensor = Tensor::default();
    // SAFETY: `miopenGetTensorDescriptorSize` takes a tensor descriptor and stores an int.
    let rank: i32 = unsafe { value(&TENSOR_SIZE, descriptor) }.unwrap_or(0);
    let is_read = (1..=TENSOR_DIMS as i32).contains(&rank);
    let Some(get) = is_read.then(|| address_of(&TENSOR)).flatten() else { return tensor };
    // SAFETY: `get` is MIOpen's `miopenGetTensorDescriptor`, whose C type in miopen.h is
    // `GetTensor`.
    let get: GetTensor = unsafe { std::mem::transmute(get) };
    let (dims, strides) = (tensor.dims.as_mut_ptr(), tensor.strides.as_mut_ptr());
    // SAFETY: `descriptor` is valid, as the query for its rank has shown, and both arrays have room
    // for the `rank` values that MIOpen stores.
    let status = keeping_errno(|| unsafe { get(descriptor, &mut tensor.element, dims, strides) });
    tensor.rank = if status == 0 { rank as u32 } else { 0 };
    tensor
}

/// Reads a convolution descriptor into `to`; no spatial dimensions when it cannot be read.
pub(crate) fn convolution(descriptor: miopenConvolutionDescriptor_t, to: &mut Conv) {
    // SAFETY: `miopenGetConvolutionGroupCount` takes a convolution descriptor and stores an int.
    let Some(groups) = (unsafe { value(&GROUPS, descriptor) }) else { return };
    to.groups = groups;
    let Some(get) = address_of(&CONVOLUTION) else { return };
    // SAFETY: `get` is MIOpen's `miopenGetConvolutionNdDescriptor`, whose C type in miopen.h is
    // `GetConvolution`.
    let get: GetConvolution = unsafe { std::mem::transmute(get) };
    let (pads, strides, dilations) =
        (to.pads.as_mut_ptr(), to.strides.as_mut_ptr(), to.dilations.as_mut_ptr());
    // First request no values, then as many as there are: MIOpen fails only for more than that.
    let mut read = |requested: i32| {
        let mut spatial = 0;
        // SAFETY: `descriptor` is valid, as the query for its groups has shown, and the arrays have
        // room for the `requested` values that MIOpen stores.
        let get =
            || unsafe { get(descriptor, requested, &mut spatial, pads, strides, dilations, &mut to.mode) };
        (keeping_errno(get) == 0).then_some(spatial)
    };
    let spatial = read(0).filter(|spatial| (1..=SPATIAL_DIMS as i32).contains(spatial));
    to.spatial = spatial.and_then(read).unwrap_or(0) as u32;
}

/// Returns the stream of a MIOpen handle; 0 when it cannot be read.
pub(crate) fn stream(handle: miopenHandle_t) -> u64 {
    // SAFETY: `miopenGetStream` takes a MIOpen handle and stores a pointer.
    unsafe { value::<usize>(&STREAM, handle) }.unwrap_or(0) as u64
}

/// Returns the solver id of a solution; 0 when it cannot be read.
pub(crate) fn solver(solution: miopenSolution_t) -> u64 {
    // SAFETY: `miopenGetSolutionSolverId` takes a solution and stores a uint64_t.
    unsafe { value(&SOLVER, solution) }.unwrap_or(0)
}

/// Returns a solution's workspace in bytes and its time in ms as measured by MIOpen.
pub(crate) fn cost(solution: miopenSolution_t) -> (u64, f32) {
    // SAFETY: `miopenGetSolutionWorkspaceSize` takes a solution and stores a size_t.
    let workspace = unsafe { value::<usize>(&WORKSPACE, solution) }.unwrap_or(0);
    // SAFETY: `miopenGetSolutionTime` takes a solution and stores a float.
    let time = unsafe { value(&TIME, solution) }.unwrap_or(f32::NAN);
    (workspace as u64, time)
}
