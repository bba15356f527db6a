//! Launches whose shape is not an argument: it is in a structure, in a list of structures, or was
//! set by an earlier call.
#![allow(unsafe_code)] // reads the structures that these launches are given

use super::launch::{LaunchWithArguments, NONE, blocks, note, with_arguments};
use crate::abi::Pointer;
use crate::abi::hip::*;
use crate::abi::hip_graph::*;
use crate::hook::Intercept;
use crate::symbols::binding::is_paused;
use rocshim_ring::event::Launch;
use rocshim_ring::{CallGuard, Producer};
use std::cell::Cell;

/// `hipLaunchKernelExC`.
pub(crate) fn configured(function: HostFn, config: *const hipLaunchConfig_t) -> Launch {
    // SAFETY: `config` is NULL or the structure that the program passes, valid for the real
    // function, which reads it as well.
    let Some(c) = (unsafe { config.as_ref() }) else { return unknown(function) };
    let launch = blocks(function, c.gridDim.into(), c.blockDim.into(), c.dynamicSmemBytes as u64, c.stream);
    Launch { cooperative: is_cooperative(c.attrs, c.numAttrs), ..launch }
}

/// `hipDrvLaunchKernelEx`.
pub(crate) fn driver_configured(function: hipFunction_t, config: *const HIP_LAUNCH_CONFIG) -> Launch {
    // SAFETY: `config` is NULL or the structure that the program passes, valid for the real
    // function, which reads it as well.
    let Some(c) = (unsafe { config.as_ref() }) else { return unknown(function) };
    let launch = blocks(function, c.gridDim.into(), c.blockDim.into(), c.sharedMemBytes.into(), c.hStream);
    Launch { cooperative: is_cooperative(c.attrs, c.numAttrs), ..launch }
}

fn is_cooperative(attributes: *const hipLaunchAttribute, count: u32) -> bool {
    let count = if attributes.is_null() { 0 } else { count as usize };
    (0..count).any(|at| {
        // SAFETY: `attributes` is not NULL and has `count` elements, as the program states, and
        // `at` is below that.
        let attribute = unsafe { &*attributes.wrapping_add(at) };
        attribute.id == hipLaunchAttributeCooperative && attribute.cooperative != 0
    })
}

/// A launch whose shape is unknown.
fn unknown(function: Pointer) -> Launch {
    blocks(function, [0; 3], [0; 3], 0, std::ptr::null())
}

/// One device's part of a multi-device launch.
pub(crate) trait DeviceLaunch {
    fn launch(&self) -> Launch;
    /// Returns the array of pointers to the arguments.
    fn params(&self) -> KernelParams;
}

impl DeviceLaunch for hipLaunchParams {
    fn launch(&self) -> Launch {
        blocks(self.func, self.gridDim.into(), self.blockDim.into(), self.sharedMem as u64, self.stream)
    }

    fn params(&self) -> KernelParams {
        self.args.cast()
    }
}

impl DeviceLaunch for hipFunctionLaunchParams {
    fn params(&self) -> KernelParams {
        self.kernelParams.cast()
    }

    fn launch(&self) -> Launch {
        let (grid, block) = (self.gridDim.into(), self.blockDim.into());
        blocks(self.function, grid, block, self.sharedMemBytes.into(), self.hStream)
    }
}

/// Limit of the number of devices. The real function rejects larger counts, and may do so before it
/// reads the list.
const MAX_DEVICES: i64 = 64;

/// A launch on several devices, an event for each. The first event has the call's times; the others
/// follow at the moment of its return, with no duration.
pub(crate) struct OnDevices<P> {
    first: *const P,
    count: usize,
    flags: u32,
    /// The thread's producer and the event's hook, set when the call is entered.
    recorder: Cell<Option<(Producer, u16)>>,
}

impl<P: DeviceLaunch> OnDevices<P> {
    pub(crate) fn new(first: *const P, count: i64, flags: u32) -> OnDevices<P> {
        let is_plausible = !first.is_null() && (1..=MAX_DEVICES).contains(&count);
        let count = if is_plausible { count as usize } else { 0 };
        OnDevices { first, count, flags, recorder: Cell::new(None) }
    }

    fn launch(&self, at: usize) -> LaunchWithArguments {
        if at >= self.count {
            return with_arguments(unknown(std::ptr::null()), NONE, NONE);
        }
        // SAFETY: `first` is not NULL and has `count` elements, as the program states, and `at` is
        // below that. The real function reads the same list.
        let device = unsafe { &*self.first.wrapping_add(at) };
        with_arguments(Launch { flags: self.flags, ..device.launch() }, device.params(), NONE)
    }
}

impl<P: DeviceLaunch> Intercept<hipError_t> for OnDevices<P> {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.recorder.set(Some((thread, hook)));
        thread.enter(hook, &self.launch(0))
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let Some(span) = span else { return };
        span.leave(returned, status);
        let Some((thread, hook)) = self.recorder.get() else { return };
        for at in 1..self.count {
            if let Some(span) = thread.enter(hook, &self.launch(at)) {
                let now = span.entered();
                span.leave(now, status);
            }
        }
    }
}

/// `hipConfigureCall`, for the `hipLaunchByPtr` that follows.
#[derive(Clone, Copy)]
pub(crate) struct Configure {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u64,
    pub(crate) stream: u64,
}

/// Depth of the stack of configured calls: more than one only when computing a launch's arguments
/// launches as well.
const MAX_DEPTH: usize = 4;

thread_local! {
    /// Per thread, as in the runtime.
    static CALLS: Cell<([Option<Configure>; MAX_DEPTH], usize)> = const { Cell::new(([None; MAX_DEPTH], 0)) };
}

impl Intercept<hipError_t> for Configure {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipError_t) {
        // While recording is paused the matching launch is not intercepted, and would not pop it.
        if status == 0 && !is_paused() {
            let _ = CALLS.try_with(|calls| {
                let (mut known, depth) = calls.get();
                if let Some(place) = known.get_mut(depth) {
                    *place = Some(self);
                }
                calls.set((known, depth + 1));
            });
        }
    }
}

/// `hipLaunchByPtr`, which launches the call configured last. The runtime pops that even if the
/// launch fails.
pub(crate) struct ByPtr(pub(crate) HostFn);

impl ByPtr {
    fn launch(&self) -> Launch {
        let last = CALLS.try_with(|calls| {
            let (known, depth) = calls.get();
            let depth = depth.checked_sub(1)?;
            calls.set((known, depth));
            known.get(depth).copied().flatten()
        });
        match last.ok().flatten() {
            Some(c) => blocks(self.0, c.grid, c.block, c.shared, c.stream as hipStream_t),
            None => unknown(self.0),
        }
    }
}

impl Intercept<hipError_t> for ByPtr {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        note(self.0);
        thread.enter(hook, &self.launch())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(grid: u32) -> Launch {
        ByPtr(grid as HostFn).launch()
    }

    #[test]
    fn a_launch_by_pointer_has_the_shape_that_was_configured_last() {
        let configure = |grid: u32| {
            let call = Configure { grid: [grid, 1, 1], block: [64, 1, 1], shared: 7, stream: 9 };
            call.finish(None, 0, 0);
        };
        (1..=3).for_each(configure);
        assert_eq!((launch(5).function, launch(5).grid, launch(5).stream), (5, [2, 1, 1], 9));
        assert_eq!(launch(5).grid, [0; 3], "there is none left");
        (1..=6).for_each(configure);
        let deep: Vec<u32> = (0..6).map(|_| launch(5).grid[0]).collect();
        assert_eq!(deep, [0, 0, 4, 3, 2, 1], "a call beyond the depth limit is not known");
    }

    #[test]
    fn an_implausible_list_is_not_read() {
        let nowhere = std::ptr::dangling::<hipLaunchParams>();
        for (first, count) in [(std::ptr::null(), 1), (nowhere, 0), (nowhere, -1), (nowhere, MAX_DEVICES + 1)]
        {
            assert_eq!(OnDevices::new(first, count, 3).count, 0);
        }
    }

    #[test]
    fn an_attribute_makes_a_launch_cooperative() {
        let attribute =
            |id, cooperative| hipLaunchAttribute { id, pad: [0; 4], cooperative, rest_of_value: [0; 60] };
        let list = [attribute(8, 1), attribute(hipLaunchAttributeCooperative, 1)];
        assert!(is_cooperative(list.as_ptr(), 2) && !is_cooperative(list.as_ptr(), 1));
        assert!(!is_cooperative(&attribute(hipLaunchAttributeCooperative, 0), 1));
        assert!(!is_cooperative(std::ptr::null(), 9));
    }
}
