//! Kernel launches with their arguments, by the unit of their grid.
#![allow(unsafe_code)] // passes on the program's pointers to the arguments

use crate::abi::Pointer;
use crate::abi::hip::{KernelParams, hipEvent_t, hipStream_t};
use crate::lifecycle::guarded;
use crate::state::layouts;
use rocshim_ring::arguments::{LaunchWith, Layout, Layouts};
use rocshim_ring::event::Launch;

/// Passed for an argument form that the function does not have.
pub(crate) const NONE: KernelParams = std::ptr::null();

/// A launch with its arguments.
pub(crate) type LaunchWithArguments = LaunchWith<KnownLayouts>;

/// A launch that passes its arguments in one of two forms.
#[inline(always)]
pub(crate) fn with_arguments(
    launch: Launch,
    params: KernelParams,
    extra: KernelParams,
) -> LaunchWithArguments {
    // SAFETY: `params` is NULL or the program's array of pointers to arguments of this kernel, as
    // its layout describes; `extra` is NULL or an `extra` list. Both are valid until the real call
    // returns, which reads them in the same way.
    unsafe { LaunchWith::new(launch, KnownLayouts, params.cast(), extra.cast()) }
}

/// Argument layouts, looked up at a function's first launch.
#[derive(Clone, Copy)]
pub(crate) struct KnownLayouts;

impl Layouts for KnownLayouts {
    #[inline(always)]
    fn layout(&self, function: u64) -> &Layout {
        layouts::find(function).unwrap_or_else(|| look_up(function))
    }
}

/// Looks up the layout at a function's first launch.
#[cold]
#[inline(never)]
fn look_up(function: u64) -> &'static Layout {
    let mut layout = &layouts::UNKNOWN;
    guarded(|process| layout = process.layout_of(function));
    layout
}

/// Looks a function up that is launched without arguments: at its first launch its code and its
/// callers are recorded.
pub(crate) fn note(function: Pointer) {
    KnownLayouts.layout(function as u64);
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

/// A launch whose grid is in work-items, with events and flags (the Ext and Hcc variants of module
/// launches).
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

/// A launch whose grid is in blocks, with events and flags (the Ext variant of host-stub launches).
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
