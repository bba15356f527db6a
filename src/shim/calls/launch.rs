//! Kernel launches, by the unit of their grid, with what they pass to their kernels.
#![allow(unsafe_code)] // hands on the program's pointers to the arguments

use crate::abi::Pointer;
use crate::abi::hip::{KernelParams, hipEvent_t, hipStream_t};
use crate::lifecycle::guarded;
use crate::state::layouts;
use rocshim_ring::arguments::{LaunchWith, Layout, Layouts};
use rocshim_ring::event::Launch;

/// In the place of a list of arguments: the function takes none of this form.
pub(crate) const NONE: KernelParams = std::ptr::null();

/// A launch, with its arguments.
pub(crate) type Passing = LaunchWith<Known>;

/// A launch that passes its arguments in one of two forms.
#[inline(always)]
pub(crate) fn passing(launch: Launch, params: KernelParams, extra: KernelParams) -> Passing {
    // SAFETY: the program passes the launch a list of arguments for this kernel, whose explicit arguments the layout has, or
    // an `extra` list; the runtime is about to read them as we do.
    unsafe { LaunchWith::new(launch, Known, params.cast(), extra.cast()) }
}

/// The layouts that are known, or found at the first launch.
#[derive(Clone, Copy)]
pub(crate) struct Known;

impl Layouts for Known {
    #[inline(always)]
    fn layout(&self, function: u64) -> &Layout {
        layouts::find(function).unwrap_or_else(|| look_up(function))
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
