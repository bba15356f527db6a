//! Synchronisation primitives of normal builds: std atomics, plain memory, real time. In models,
//! loom replaces them.
#![allow(unsafe_code)] // plain reads and writes of memory, whose contract the caller fulfils

pub(crate) use parking_lot::Mutex;
pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::{AtomicU64, AtomicU64 as Bits, fence};
use std::time::{Duration, Instant};

/// Writes a word of a slot: a plain store, published by a later release store.
///
/// # Safety
/// `to` is valid and aligned for a write, as for [`std::ptr::write`].
#[inline(always)]
pub(crate) unsafe fn write(to: *mut u64, value: u64) {
    // SAFETY: the caller guarantees that `to` is valid and aligned for a write.
    unsafe { to.write(value) };
}

/// Reads a word of a slot.
///
/// # Safety
/// As [`std::ptr::read`].
#[inline(always)]
pub(crate) unsafe fn read(from: *const u64) -> u64 {
    // SAFETY: the caller guarantees that `from` is valid and aligned for a read.
    unsafe { from.read() }
}

/// Copies words that another thread or process may be writing: the caller detects that and discards
/// the copy.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`].
#[inline(always)]
pub(crate) unsafe fn copy(from: *const u64, to: *mut u64, words: usize) {
    // SAFETY: the caller guarantees `words` valid words at both places, which do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(from, to, words) };
}

/// Announces to loom that `bytes` bytes from `at` on were written and will be published.
#[inline(always)]
pub(crate) fn wrote(_at: *const u8, _bytes: usize) {}

/// Announces to loom that `bytes` published bytes from `at` on are about to be read.
#[inline(always)]
pub(crate) fn reads(_at: *const u8, _bytes: usize) {}

/// Sleeps for `time`.
pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Pauses between two loads of a word that another thread is about to store.
pub(crate) fn relax() {
    std::hint::spin_loop();
}

/// The end of a wait.
pub(crate) struct Deadline {
    start: Instant,
    time: Duration,
}

impl Deadline {
    /// A deadline `time` from now.
    pub(crate) fn after(time: Duration) -> Deadline {
        Deadline { start: Instant::now(), time }
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.start.elapsed() >= self.time
    }
}
