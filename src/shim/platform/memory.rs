//! The shim's allocator: the C library's memory, and a small reserve for when the program has none
//! left. Without the reserve Rust would abort the process.
//!
//! Once the reserve is used, nothing new is started: what is recorded stays in the ring files.
#![allow(unsafe_code)] // an allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Size of the reserve, bytes. Its pages are not touched before they are needed.
const RESERVE: usize = 1 << 20;

#[repr(align(4096))]
struct Reserve(UnsafeCell<[u8; RESERVE]>);

// SAFETY: `of_reserve` hands out each byte at most once, so no two users share a byte.
unsafe impl Sync for Reserve {}

static MEMORY: Reserve = Reserve(UnsafeCell::new([0; RESERVE]));
/// Bytes of the reserve that were handed out; they are not reused.
static USED: AtomicUsize = AtomicUsize::new(0);
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// Returns true once an allocation of the shim has failed.
pub(crate) fn is_short() -> bool {
    IS_SHORT.load(Relaxed)
}

/// Notes that an allocation failed: nothing new is started.
pub(crate) fn run_short() {
    IS_SHORT.store(true, Relaxed);
}

/// Returns true when `bytes` bytes can be allocated now.
pub(crate) fn has(bytes: usize) -> bool {
    // SAFETY: `malloc` has no preconditions. (`black_box` keeps the compiler from removing the
    // call.)
    let memory = std::hint::black_box(unsafe { libc::malloc(bytes) });
    // SAFETY: `memory` comes from `malloc`, or is NULL.
    unsafe { libc::free(memory) };
    !memory.is_null()
}

thread_local! {
    /// The thread may park forever on allocation failure instead of aborting.
    static MAY_PARK: Cell<bool> = const { Cell::new(false) };
}
static IS_RESTING: AtomicBool = AtomicBool::new(false);

/// Marks a helper thread that may park forever on allocation failure instead of aborting.
pub(crate) fn may_park() {
    MAY_PARK.set(true);
}

/// Returns true once such a thread is parked.
pub(crate) fn is_parked() -> bool {
    IS_RESTING.load(Relaxed)
}

struct Memory;

#[global_allocator]
static ALLOCATOR: Memory = Memory;

// SAFETY: every block comes from the system allocator with this layout, or is an aligned part of
// the reserve that is handed out once. No method unwinds.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract for `layout` is that of `System.alloc`.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() { of_reserve(layout) } else { memory }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract for `layout` is that of `System.alloc_zeroed`.
        let memory = unsafe { System.alloc_zeroed(layout) };
        // The reserve is a zeroed static of which each byte is handed out once.
        if memory.is_null() { of_reserve(layout) } else { memory }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !is_of_reserve(memory) {
            // SAFETY: `memory` is not in the reserve, so `System` has allocated it, with this
            // layout by the caller's contract.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_of_reserve(memory) {
            // SAFETY: `memory` is not in the reserve, so `System` has allocated it, with this
            // layout by the caller's contract; `size` is valid for its alignment.
            let moved = unsafe { System.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return std::ptr::null_mut() };
        let to = of_reserve(wanted);
        if !to.is_null() {
            // SAFETY: `memory` has `layout.size()` bytes and `to` has `size`, both allocated and
            // not overlapping, because `to` was handed out just now.
            unsafe { std::ptr::copy_nonoverlapping(memory, to, layout.size().min(size)) };
            // SAFETY: `memory` was allocated with `layout` by this allocator, by the caller's
            // contract, and is not used afterwards.
            unsafe { self.dealloc(memory, layout) };
        }
        to
    }
}

fn is_of_reserve(memory: *mut u8) -> bool {
    memory.addr().wrapping_sub(MEMORY.0.get().addr()) < RESERVE
}

#[cold]
fn of_reserve(layout: Layout) -> *mut u8 {
    run_short();
    let fits = |used: usize| {
        let from = used.checked_next_multiple_of(layout.align())?;
        Some((from, from.checked_add(layout.size())?))
            .filter(|(_, to)| *to <= RESERVE && layout.align() <= 4096)
    };
    match USED.fetch_update(Relaxed, Relaxed, |used| fits(used).map(|(_, to)| to)) {
        Ok(before) => fits(before)
            .map_or(std::ptr::null_mut(), |(from, _)| MEMORY.0.get().cast::<u8>().wrapping_add(from)),
        Err(_) if MAY_PARK.get() => rest(),
        Err(_) => std::ptr::null_mut(),
    }
}

fn rest() -> ! {
    IS_RESTING.store(true, Relaxed);
    loop {
        // SAFETY: `pause` has no preconditions.
        unsafe { libc::pause() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_hands_out_aligned_blocks_until_it_is_used_up() {
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let (first, second) = (of_reserve(layout(3, 1)), of_reserve(layout(100, 64)));
        assert!(is_of_reserve(first) && is_of_reserve(second) && is_short());
        assert_eq!((second.addr() % 64, second.addr() >= first.addr() + 3), (0, true));
        // SAFETY: `second` is a block of the reserve with this layout.
        let grown = unsafe { ALLOCATOR.realloc(second, layout(100, 64), 200) };
        assert!(is_of_reserve(grown) && grown != second);
        assert!(of_reserve(layout(RESERVE, 1)).is_null());
        // SAFETY: `grown` was allocated with this layout, and is not used afterwards.
        unsafe { ALLOCATOR.dealloc(grown, layout(200, 64)) };
        assert!(!is_of_reserve(Box::into_raw(Box::new(1_u64)).cast()));
    }
}
