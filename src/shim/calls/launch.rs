//! Kernel launches, by the unit of their grid.

use crate::abi::Pointer;
use crate::abi::hip::{hipEvent_t, hipStream_t};
use rocshim_ring::event::Launch;

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
