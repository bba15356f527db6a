//! The shim's memory: one arena of mapped pages for all threads, with a lock whose wait is bounded.
//!
//! It shares nothing with the program's `malloc`: neither its locks, nor its pages, nor its
//! failures. dlmalloc manages the pages, as in Rust's own library for WebAssembly.
//!
//! ```text
//!   allocate: the arena ──► the reserve ──► NULL
//!             │  no page can be mapped, or the lock's holder cannot release it: recording ends
//!             └─ a signal handler that interrupted the thread in here; a sandbox
//! ```
//!
//! A child may be made while another thread holds the lock. A `fork` waits for it. In a child that
//! no fork handler sees, the arena is abandoned: nothing is taken from it, nothing returned to it.
#![allow(unsafe_code)] // an allocator

use crate::platform::pages::Pages;
use crate::platform::sched::sleep_briefly;
use dlmalloc::Dlmalloc;
use rocshim_ring::sandbox;
use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// Limits of the wait for the lock, which is held for less than a microsecond unless its holder is
/// not scheduled: polls in a row, then polls after sleeps of 50 µs. One second in total.
const SPINS: usize = 1000;
const SLEEPS: usize = 10_000;
/// The same in a sandbox, where no system call is made.
const SANDBOX_SPINS: usize = 10_000_000;

/// The arena.
pub(super) struct Arena {
    /// The thread that holds the lock, by its control block's address; 0: none.
    holder: AtomicUsize,
    /// Accessed only by the holder.
    blocks: UnsafeCell<Dlmalloc<Pages>>,
    /// Blocks freed while their thread held the lock already: a list through their first words.
    deferred: AtomicPtr<Deferred>,
    /// The holder is between the fork handlers, which may take seconds in a large process.
    is_forking: AtomicBool,
    /// The lock will not be released: the blocks are in an unknown state.
    is_abandoned: AtomicBool,
}

/// A free block. The smallest holds three words.
struct Deferred {
    next: *mut Deferred,
}

// SAFETY: `blocks` is accessed only while `holder` is the accessing thread, by `with`, which does
// not nest on a thread.
unsafe impl Sync for Arena {}

/// Why the arena returned no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No page could be mapped, or the lock could not be taken.
    Exhausted,
    /// Only this time: the thread holds the lock further down its stack, or may not map pages.
    Now,
}

impl Arena {
    pub(super) const fn new() -> Arena {
        Arena {
            holder: AtomicUsize::new(0),
            blocks: UnsafeCell::new(Dlmalloc::new_with_allocator(Pages::new())),
            deferred: AtomicPtr::new(null_mut()),
            is_forking: AtomicBool::new(false),
            is_abandoned: AtomicBool::new(false),
        }
    }

    /// Allocates a block, zeroed if `zeroed`.
    pub(super) fn allocate(&self, layout: Layout, zeroed: bool) -> Result<*mut u8, Refusal> {
        let block = self.with(|blocks| {
            if zeroed {
                // SAFETY: the alignment is a power of two, and any size is accepted.
                unsafe { blocks.calloc(layout.size(), layout.align()) }
            } else {
                // SAFETY: the alignment is a power of two, and any size is accepted.
                unsafe { blocks.malloc(layout.size(), layout.align()) }
            }
        })?;
        if !block.is_null() {
            return Ok(block);
        }
        Err(if sandbox::is_new() { Refusal::Now } else { Refusal::Exhausted })
    }

    /// Changes a block's size in place or by moving it; without success the block stays as it is.
    ///
    /// # Safety
    /// `block` was allocated by this arena with `layout`.
    pub(super) unsafe fn resize(&self, block: *mut u8, layout: Layout, size: usize) -> Option<*mut u8> {
        let moved = self.with(|blocks| {
            // SAFETY: the caller's contract: a block of this arena with this size and alignment.
            unsafe { blocks.realloc(block, layout.size(), layout.align(), size) }
        });
        moved.ok().filter(|block| !block.is_null())
    }

    /// Frees a block.
    ///
    /// # Safety
    /// `block` was allocated by this arena and is not used any more.
    pub(super) unsafe fn free(&self, block: *mut u8) {
        let freed = self.with(|blocks| {
            // SAFETY: the caller's contract: a block of this arena that is no longer used.
            unsafe { blocks.c_free(block) }
        });
        if freed == Err(Refusal::Now) {
            self.defer(block.cast());
        }
    }

    /// Runs `work` with the blocks.
    fn with<T>(&self, work: impl FnOnce(&mut Dlmalloc<Pages>) -> T) -> Result<T, Refusal> {
        self.acquire()?;
        // SAFETY: this thread is the holder, and it is not inside `with` already, for which
        // `acquire` would have returned `Now`.
        let blocks = unsafe { &mut *self.blocks.get() };
        if !self.deferred.load(Relaxed).is_null() {
            self.free_deferred(blocks);
        }
        let result = work(blocks);
        self.release();
        Ok(result)
    }

    /// Takes the lock.
    fn acquire(&self) -> Result<(), Refusal> {
        let this = this_thread();
        match self.holder.compare_exchange(0, this, Acquire, Relaxed) {
            _ if self.is_abandoned.load(Relaxed) => Err(Refusal::Exhausted),
            Ok(_) => Ok(()),
            Err(holder) if holder == this => Err(Refusal::Now),
            Err(_) => self.wait_for(this),
        }
    }

    #[cold]
    fn wait_for(&self, this: usize) -> Result<(), Refusal> {
        let is_sandboxed = sandbox::is_new();
        let (spins, sleeps) = if is_sandboxed { (SANDBOX_SPINS, 0) } else { (SPINS, SLEEPS) };
        let mut turn = 0;
        while turn < spins + sleeps {
            if self.holder.load(Relaxed) == 0
                && self.holder.compare_exchange(0, this, Acquire, Relaxed).is_ok()
            {
                return Ok(());
            }
            if turn < spins {
                spin_loop()
            } else {
                sleep_briefly()
            }
            turn += usize::from(turn < spins || !self.is_forking.load(Relaxed));
        }
        self.is_abandoned.store(true, Relaxed);
        Err(Refusal::Exhausted)
    }

    fn release(&self) {
        self.holder.store(0, Release);
    }

    /// Keeps a block to be freed by the next thread that takes the lock.
    fn defer(&self, block: *mut Deferred) {
        let mut next = self.deferred.load(Relaxed);
        loop {
            // SAFETY: the block is free, at least three words long, and aligned to two.
            unsafe { block.write(Deferred { next }) };
            // Release: the thread that takes the list sees the word written above.
            match self.deferred.compare_exchange_weak(next, block, Release, Relaxed) {
                Ok(_) => return,
                Err(other) => next = other,
            }
        }
    }

    #[cold]
    fn free_deferred(&self, blocks: &mut Dlmalloc<Pages>) {
        let mut block = self.deferred.swap(null_mut(), Acquire);
        while !block.is_null() {
            // SAFETY: `defer` has written the word, and the block is in no other list.
            let next = unsafe { block.read() }.next;
            // SAFETY: a block of this arena that nothing uses, by the contract of `free`.
            unsafe { blocks.c_free(block.cast()) };
            block = next;
        }
    }

    /// Before a fork: takes the lock, so that the child finds the blocks consistent; unless this
    /// thread holds it already, further down its stack, where the child's thread continues.
    pub(super) fn begin_fork(&self) {
        self.is_forking.store(self.acquire().is_ok(), Relaxed);
    }

    /// After a fork, in both processes.
    pub(super) fn end_fork(&self) {
        if self.is_forking.swap(false, Relaxed) {
            self.release();
        }
    }

    /// Abandons the arena, in a child for which no fork handler ran, if another thread of the
    /// parent held the lock. Returns false then.
    pub(super) fn begin_child(&self) -> bool {
        let holder = self.holder.load(Relaxed);
        if holder != 0 && holder != this_thread() {
            self.is_abandoned.store(true, Relaxed);
        }
        !self.is_abandoned.load(Relaxed)
    }
}

fn this_thread() -> usize {
    // SAFETY: has no preconditions. It returns the address of the thread's control block.
    unsafe { libc::pthread_self() as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn blocks_are_aligned_zeroed_on_request_and_reused() {
        let arena = Arena::new();
        let (first, second) =
            (arena.allocate(layout(3, 1), false).unwrap(), arena.allocate(layout(100, 64), true));
        let second = second.unwrap();
        assert_eq!(second.addr() % 64, 0);
        // SAFETY: `second` has 100 bytes.
        assert_eq!(unsafe { std::slice::from_raw_parts(second, 100) }, [0; 100]);
        // SAFETY: `second` was allocated with this layout.
        let grown = unsafe { arena.resize(second, layout(100, 64), 1 << 20) }.unwrap();
        assert_eq!(grown.addr() % 64, 0);
        for block in [first, grown] {
            // SAFETY: a block of this arena, not used any more.
            unsafe { arena.free(block) };
        }
        // Four times the limit in total.
        for _ in 0..4096 {
            let block = arena.allocate(layout(1 << 20, 1), false).expect("what was freed is reused");
            // SAFETY: a block of this arena, not used any more.
            unsafe { arena.free(block) };
        }
        assert_eq!(arena.allocate(layout(1 << 31, 1), false), Err(Refusal::Exhausted), "beyond the limit");
    }

    #[test]
    fn a_thread_that_holds_the_lock_is_refused_and_what_it_frees_is_freed_later() {
        let arena = Arena::new();
        let block = arena.allocate(layout(64, 8), false).unwrap();
        arena.acquire().unwrap();
        assert_eq!(arena.allocate(layout(64, 8), false), Err(Refusal::Now));
        // SAFETY: a block of this arena, not used any more.
        unsafe { arena.free(block) };
        arena.begin_fork();
        arena.end_fork();
        assert!(arena.begin_child(), "the child's thread continues where this one was");
        assert_eq!(arena.allocate(layout(8, 8), false), Err(Refusal::Now), "and holds the lock");
        arena.release();
        assert!(!arena.deferred.load(Relaxed).is_null());
        assert_eq!(arena.allocate(layout(64, 8), false), Ok(block), "freed first");
    }

    #[test]
    fn a_lock_that_is_never_released_ends_the_use_of_the_arena() {
        let arena = &Arena::new();
        let block = arena.allocate(layout(64, 8), false).unwrap();
        std::thread::scope(|scope| scope.spawn(|| arena.acquire().unwrap()).join().unwrap());
        assert_eq!(arena.allocate(layout(8, 8), false), Err(Refusal::Exhausted), "after a second");
        // SAFETY: a block of this arena, not used any more.
        unsafe { arena.free(block) };
        assert_eq!(arena.allocate(layout(8, 8), false), Err(Refusal::Exhausted), "at once");
        assert!(!arena.begin_child());
    }
}
