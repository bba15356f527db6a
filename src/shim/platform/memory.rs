//! The shim's allocator: an arena of its own, and a small reserve for when that is exhausted.
//! Without the reserve Rust would abort the process.
//!
//! Rust's runtime and the C code in this library call `malloc` by its name. They get the same
//! memory: functions of these names are in this library, which are hidden from all others. So
//! nothing here depends on the program's `malloc`, on what is in front of it, or on how it fails.
//!
//! Once the arena is exhausted nothing new is started: what is recorded stays in the ring files.
#![allow(unsafe_code)] // an allocator

use crate::platform::arena::{Arena, Refusal};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

static ARENA: Arena = Arena::new();

/// Size of the reserve, bytes. Its pages are not touched before they are needed.
const RESERVE: usize = 1 << 20;
/// Bytes before a block of the reserve that hold its size.
const HEAD: usize = size_of::<usize>();

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

/// Returns true when `bytes` bytes can be allocated now.
pub(crate) fn has(bytes: usize) -> bool {
    let Ok(layout) = Layout::from_size_align(bytes, HEAD) else { return false };
    let block = ARENA.allocate(layout, false);
    if let Ok(block) = block {
        // SAFETY: a block of the arena, which was not handed out.
        unsafe { ARENA.free(block) };
    }
    // `Refusal::Now` is temporary, and the reserve serves such requests.
    block != Err(Refusal::Exhausted)
}

/// Before a fork: takes the arena's lock, so that the child finds the arena consistent.
pub(super) fn begin_fork() {
    ARENA.begin_fork();
}

/// After a fork, in both processes.
pub(super) fn end_fork() {
    ARENA.end_fork();
}

/// Checks the arena in a child for which no fork handler ran. Returns false when it can no longer
/// be used.
pub(super) fn begin_child() -> bool {
    ARENA.begin_child()
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

// SAFETY: every block comes from the arena with this layout, or is an aligned part of the reserve
// that is handed out once. No method unwinds.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocate(layout, false)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocate(layout, true)
    }

    unsafe fn dealloc(&self, memory: *mut u8, _layout: Layout) {
        // SAFETY: by the caller's contract `memory` is a block of this allocator.
        unsafe { free(memory) };
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_of_reserve(memory) {
            // SAFETY: `memory` is not in the reserve, so the arena has allocated it, with this
            // layout by the caller's contract.
            if let Some(moved) = unsafe { ARENA.resize(memory, layout, size) } {
                return moved;
            }
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        let to = allocate(wanted, false);
        if !to.is_null() {
            // SAFETY: `memory` has `layout.size()` bytes and `to` has `size`, both allocated and
            // not overlapping, because `to` was handed out just now.
            unsafe { std::ptr::copy_nonoverlapping(memory, to, layout.size().min(size)) };
            // SAFETY: `memory` was allocated by this allocator, by the caller's contract, and is
            // not used afterwards.
            unsafe { free(memory) };
        }
        to
    }
}

fn allocate(layout: Layout, zeroed: bool) -> *mut u8 {
    match ARENA.allocate(layout, zeroed) {
        Ok(block) => block,
        // The reserve is a zeroed static of which each byte is handed out once.
        Err(refusal) => of_reserve(layout, refusal),
    }
}

/// Frees a block of the arena. What is of the reserve stays used.
///
/// # Safety
/// `memory` was returned by `allocate` or `resize` and is not used any more.
unsafe fn free(memory: *mut u8) {
    if !is_of_reserve(memory) {
        // SAFETY: not of the reserve, so by the caller's contract of the arena, and no longer used.
        unsafe { ARENA.free(memory) };
    }
}

fn is_of_reserve(memory: *mut u8) -> bool {
    memory.addr().wrapping_sub(MEMORY.0.get().addr()) < RESERVE
}

#[cold]
fn of_reserve(layout: Layout, refusal: Refusal) -> *mut u8 {
    let fits = |used: usize| {
        let from = used.checked_add(HEAD)?.checked_next_multiple_of(layout.align().max(HEAD))?;
        Some((from, from.checked_add(layout.size())?))
            .filter(|(_, to)| *to <= RESERVE && layout.align() <= 4096)
    };
    let taken = USED.fetch_update(Relaxed, Relaxed, |used| fits(used).map(|(_, to)| to));
    // Half of it is kept for the work in progress when the arena is exhausted.
    if refusal == Refusal::Exhausted || taken.is_err() || USED.load(Relaxed) > RESERVE / 2 {
        IS_SHORT.store(true, Relaxed);
    }
    match taken {
        Ok(before) => fits(before).map_or(null_mut(), |(from, _)| {
            let block = MEMORY.0.get().cast::<u8>().wrapping_add(from);
            // SAFETY: the word before the block is part of what was handed out, and aligned.
            unsafe { block.wrapping_sub(HEAD).cast::<usize>().write(layout.size()) };
            block
        }),
        Err(_) if MAY_PARK.get() => rest(),
        Err(_) => null_mut(),
    }
}

fn rest() -> ! {
    IS_RESTING.store(true, Relaxed);
    loop {
        // SAFETY: `pause` has no preconditions.
        unsafe { libc::pause() };
    }
}

/// The C library's functions by name, for Rust's runtime and the C code in this library. (In a test
/// they would be the whole program's.)
#[cfg(not(test))]
mod c {
    use super::{ARENA, HEAD, allocate, free, is_of_reserve};
    use std::alloc::Layout;
    use std::ffi::{c_int, c_void};
    use std::ptr::null_mut;

    /// Alignment of what `malloc` returns.
    const ALIGN: usize = 16;

    core::arch::global_asm!(
        ".irp name, malloc, calloc, realloc, posix_memalign, free",
        ".globl \\name",
        ".hidden \\name",
        ".type \\name, @function",
        ".endr",
        "malloc: jmp {malloc}",
        "calloc: jmp {calloc}",
        "realloc: jmp {realloc}",
        "posix_memalign: jmp {posix_memalign}",
        "free: jmp {free}",
        malloc = sym own_malloc,
        calloc = sym own_calloc,
        realloc = sym own_realloc,
        posix_memalign = sym own_posix_memalign,
        free = sym own_free,
    );

    fn of(size: usize, align: usize, zeroed: bool) -> *mut c_void {
        Layout::from_size_align(size, align).map_or(null_mut(), |layout| allocate(layout, zeroed).cast())
    }

    extern "C" fn own_malloc(size: usize) -> *mut c_void {
        of(size, ALIGN, false)
    }

    extern "C" fn own_calloc(count: usize, size: usize) -> *mut c_void {
        count.checked_mul(size).map_or(null_mut(), |bytes| of(bytes, ALIGN, true))
    }

    unsafe extern "C" fn own_posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
        let block = of(size, align, false);
        if block.is_null() {
            return libc::ENOMEM;
        }
        // SAFETY: by the caller's contract `to` has room for a pointer.
        unsafe { to.write(block) };
        0
    }

    unsafe extern "C" fn own_realloc(memory: *mut c_void, size: usize) -> *mut c_void {
        if memory.is_null() {
            return own_malloc(size);
        }
        let memory = memory.cast::<u8>();
        let Ok(layout) = Layout::from_size_align(size, ALIGN) else { return null_mut() };
        if !is_of_reserve(memory) {
            // SAFETY: by the caller's contract a block of these functions, so of the arena; its
            // size is not needed at this alignment.
            return unsafe { ARENA.resize(memory, layout, size) }.unwrap_or(null_mut()).cast();
        }
        let to = allocate(layout, false);
        if !to.is_null() {
            // SAFETY: a block of the reserve is preceded by its size.
            let before = unsafe { memory.wrapping_sub(HEAD).cast::<usize>().read() };
            // SAFETY: `memory` has `before` bytes and `to` has `size`, and they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(memory, to, before.min(size)) };
        }
        to.cast()
    }

    unsafe extern "C" fn own_free(memory: *mut c_void) {
        if !memory.is_null() {
            // SAFETY: by the caller's contract a block of these functions that is not used any
            // more. (What the C library allocates for its callers, nothing here takes.)
            unsafe { free(memory.cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_hands_out_aligned_blocks_until_it_is_used_up() {
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let (first, second) =
            (of_reserve(layout(3, 1), Refusal::Now), of_reserve(layout(100, 64), Refusal::Now));
        assert!(is_of_reserve(first) && is_of_reserve(second) && !is_short());
        assert_eq!((second.addr() % 64, second.addr() >= first.addr() + 3), (0, true));
        // SAFETY: `second` is a block of the reserve with this layout.
        let grown = unsafe { ALLOCATOR.realloc(second, layout(100, 64), 200) };
        assert!(!is_of_reserve(grown), "the arena is not exhausted");
        assert!(of_reserve(layout(RESERVE, 1), Refusal::Now).is_null());
        assert!(is_short());
        for (block, size) in [(second, 100), (grown, 200)] {
            // SAFETY: `block` was allocated with this layout, and is not used afterwards.
            unsafe { ALLOCATOR.dealloc(block, layout(size, 64)) };
        }
        assert!(!is_of_reserve(Box::into_raw(Box::new(1_u64)).cast()));
    }
}
