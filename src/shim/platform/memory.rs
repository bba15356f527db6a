//! The shim's memory: the C library's, and a small reserve for what is being done when the program has none left. Without
//! it Rust would end the process.
//!
//! Once the reserve was touched nothing more is begun: what is recorded stays in the ring files.
#![allow(unsafe_code)] // an allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Bytes of it; no page is touched before it is needed.
const RESERVE: usize = 1 << 20;

#[repr(align(4096))]
struct Reserve(UnsafeCell<[u8; RESERVE]>);

// SAFETY: no byte is given out twice.
unsafe impl Sync for Reserve {}

static MEMORY: Reserve = Reserve(UnsafeCell::new([0; RESERVE]));
/// Bytes given out; they are not taken back.
static USED: AtomicUsize = AtomicUsize::new(0);
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// True once the program had no memory for us.
pub(crate) fn is_short() -> bool {
    IS_SHORT.load(Relaxed)
}

/// Memory could not be had: nothing more is begun.
pub(crate) fn run_short() {
    IS_SHORT.store(true, Relaxed);
}

/// True when so many bytes can be had.
pub(crate) fn has(bytes: usize) -> bool {
    // SAFETY: no preconditions. (Unseen, so that the compiler does not take it for had.)
    let memory = std::hint::black_box(unsafe { libc::malloc(bytes) });
    // SAFETY: it comes from malloc, or is NULL.
    unsafe { libc::free(memory) };
    !memory.is_null()
}

thread_local! {
    /// The thread rather stays where it is for ever than ends the process.
    static MAY_REST: Cell<bool> = const { Cell::new(false) };
}
static IS_RESTING: AtomicBool = AtomicBool::new(false);

/// The calling thread is ours, and needed by nobody: where even the reserve is used up, it stays where it is.
pub(crate) fn may_rest() {
    MAY_REST.set(true);
}

/// True once a thread stays where it is.
pub(crate) fn is_resting() -> bool {
    IS_RESTING.load(Relaxed)
}

struct Memory;

#[global_allocator]
static ALLOCATOR: Memory = Memory;

// SAFETY: every piece is the system's, or bytes of the reserve that nobody else has, aligned as asked.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's contract, which is the system's.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() { of_reserve(layout) } else { memory }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's contract, which is the system's.
        let memory = unsafe { System.alloc_zeroed(layout) };
        // The reserve's bytes were never used.
        if memory.is_null() { of_reserve(layout) } else { memory }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !is_of_reserve(memory) {
            // SAFETY: by the caller's contract it came from `alloc`, and so from the system.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_of_reserve(memory) {
            // SAFETY: by the caller's contract, as in `dealloc`.
            let moved = unsafe { System.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return std::ptr::null_mut() };
        let to = of_reserve(wanted);
        if !to.is_null() {
            // SAFETY: both pieces have so many bytes, and they are two.
            unsafe { std::ptr::copy_nonoverlapping(memory, to, layout.size().min(size)) };
            // SAFETY: by the caller's contract it came from here.
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
        Err(_) if MAY_REST.get() => rest(),
        Err(_) => std::ptr::null_mut(),
    }
}

fn rest() -> ! {
    IS_RESTING.store(true, Relaxed);
    loop {
        // SAFETY: no preconditions.
        unsafe { libc::pause() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_gives_out_aligned_pieces_until_nothing_is_left() {
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let (first, second) = (of_reserve(layout(3, 1)), of_reserve(layout(100, 64)));
        assert!(is_of_reserve(first) && is_of_reserve(second) && is_short());
        assert_eq!((second.addr() % 64, second.addr() >= first.addr() + 3), (0, true));
        // SAFETY: a piece of the reserve with this layout.
        let grown = unsafe { ALLOCATOR.realloc(second, layout(100, 64), 200) };
        assert!(is_of_reserve(grown) && grown != second);
        assert!(of_reserve(layout(RESERVE, 1)).is_null());
        // SAFETY: as above.
        unsafe { ALLOCATOR.dealloc(grown, layout(200, 64)) };
        assert!(!is_of_reserve(Box::into_raw(Box::new(1_u64)).cast()));
    }
}
