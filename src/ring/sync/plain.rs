//! As they are in every program.
#![allow(unsafe_code)] // plain reads and writes of memory, whose contract the caller fulfils

pub(crate) use parking_lot::Mutex;
pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::{AtomicU64, AtomicU64 as Bits, fence};
use std::time::{Duration, Instant};

/// Writes a word of a slot: a plain store, which the owner's other stores publish.
///
/// # Safety
/// As [`std::ptr::write`].
#[inline(always)]
pub(crate) unsafe fn write(to: *mut u64, value: u64) {
    // SAFETY: by this function's contract.
    unsafe { to.write(value) };
}

/// Reads a word of a slot.
///
/// # Safety
/// As [`std::ptr::read`].
#[inline(always)]
pub(crate) unsafe fn read(from: *const u64) -> u64 {
    // SAFETY: by this function's contract.
    unsafe { from.read() }
}

/// Copies words, which somebody may be writing: the caller finds out and throws them away then.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`].
#[inline(always)]
pub(crate) unsafe fn copy(from: *const u64, to: *mut u64, words: usize) {
    // SAFETY: by this function's contract.
    unsafe { std::ptr::copy_nonoverlapping(from, to, words) };
}

/// `bytes` bytes from `at` on were written, which nobody reads before they are published.
#[inline(always)]
pub(crate) fn wrote(_at: *const u8, _bytes: usize) {}

/// `bytes` bytes from `at` on are about to be read, which were published.
#[inline(always)]
pub(crate) fn reads(_at: *const u8, _bytes: usize) {}

/// Lets others go on for a while.
pub(crate) fn nap(time: Duration) {
    std::thread::sleep(time);
}

/// Between two looks at what another thread is about to store.
pub(crate) fn relax() {
    std::hint::spin_loop();
}

/// Until when to wait.
pub(crate) struct Deadline {
    start: Instant,
    time: Duration,
}

impl Deadline {
    /// So long from now.
    pub(crate) fn after(time: Duration) -> Deadline {
        Deadline { start: Instant::now(), time }
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.start.elapsed() >= self.time
    }
}
