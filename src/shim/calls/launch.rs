//! Kernel launches, by the unit of their grid, with what they pass to their kernels.
#![allow(unsafe_code)] // hands on the program's pointers to the arguments

use crate::abi::Pointer;
use crate::abi::hip::{KernelParams, hipError_t, hipEvent_t, hipStream_t};
use crate::hook::Observed;
use crate::layouts;
use crate::lifecycle::guarded;
use rocshim_ring::arguments::{LaunchWith, Layout};
use rocshim_ring::event::Launch;
use rocshim_ring::{Producer, Span};

/// In the place of a list of arguments: the function takes none of this form.
pub(crate) const NONE: KernelParams = std::ptr::null();

/// A launch, and where its arguments are.
pub(crate) struct Passing {
    launch: Launch,
    /// A pointer to each.
    params: KernelParams,
    /// A list that names a buffer with all.
    extra: KernelParams,
}

/// A launch that passes its arguments in one of two forms.
#[inline(always)]
pub(crate) fn passing(launch: Launch, params: KernelParams, extra: KernelParams) -> Passing {
    Passing { launch, params, extra }
}

impl Observed<hipError_t> for Passing {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<Span> {
        let function = self.launch.function;
        let layout = layouts::find(function).unwrap_or_else(|| look_up(function));
        // SAFETY: the program passes the launch a list of arguments for this kernel, whose explicit arguments `layout`
        // has, or an `extra` list; the runtime is about to read them as we do.
        let launch = unsafe { LaunchWith::new(self.launch, layout, self.params.cast(), self.extra.cast()) };
        thread.enter(hook, &launch)
    }

    #[inline(always)]
    fn finish(self, span: Option<Span>, returned: u64, status: hipError_t) {
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// The first launch of a function.
#[cold]
#[inline(never)]
fn look_up(function: u64) -> &'static Layout {
    let mut layout = &layouts::UNKNOWN;
    guarded(|process| layout = process.layout_of(function));
    layout
}

/// A launch whose grid is in blocks.
#[inline(always)]
pub(crate) fn blocks(
    function: Pointer,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u64,
    stream: hipStream_t,
) -> Launch {
    let (function, stream) = (function as u64, stream as u64);
    Launch {
        function,
        stream,
        grid,
        block,
        shared,
        start: 0,
        stop: 0,
        flags: 0,
        items: false,
        cooperative: false,
    }
}

/// A launch whose grid is in work-items, with events and flags (the Ext and Hcc forms of module launches).
#[inline(always)]
pub(crate) fn items(
    function: Pointer,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u64,
    stream: hipStream_t,
    events: [hipEvent_t; 2],
    flags: u32,
) -> Launch {
    Launch { items: true, ..stub(function, grid, block, shared, stream, events, flags) }
}

/// A launch whose grid is in blocks, with events and flags (the Ext form of host-stub launches).
#[inline(always)]
pub(crate) fn stub(
    function: Pointer,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u64,
    stream: hipStream_t,
    [start, stop]: [hipEvent_t; 2],
    flags: u32,
) -> Launch {
    Launch { start: start as u64, stop: stop as u64, flags, ..blocks(function, grid, block, shared, stream) }
}
