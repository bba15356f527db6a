//! Pages for the shim's own memory: private mappings, up to a limit.
//!
//! In a sandbox of the program's no system call is made: nothing is mapped, nothing returned.
#![allow(unsafe_code)] // mappings

use dlmalloc::Allocator;
use rocshim_ring::sandbox;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Limit of the shim's memory, bytes. 400,000 kernels with six arguments take half of it.
const LIMIT: usize = 1 << 30;
/// Bytes mapped at once for small blocks; fewer near the limit.
const STEP: usize = 256 << 10;
const PAGE: usize = 4096;

/// The allocator's source of pages.
pub(super) struct Pages {
    /// Bytes that are mapped now.
    mapped: AtomicUsize,
}

impl Pages {
    pub(super) const fn new() -> Pages {
        Pages { mapped: AtomicUsize::new(0) }
    }

    /// Maps `bytes` bytes; `None` beyond the limit, or when the kernel refuses.
    fn map(&self, bytes: usize) -> Option<*mut u8> {
        if self.mapped.load(Relaxed).saturating_add(bytes) > LIMIT {
            return None;
        }
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address that the kernel chooses changes no other memory.
        let memory = unsafe { libc::mmap64(null_mut(), bytes, access, kind, -1, 0) };
        (memory != libc::MAP_FAILED).then(|| {
            self.mapped.fetch_add(bytes, Relaxed);
            memory.cast()
        })
    }

    fn unmap(&self, memory: *mut u8, bytes: usize) -> bool {
        // SAFETY: the allocator passes pages that it got from `map` and uses no more.
        let is_done = !sandbox::is_new() && unsafe { libc::munmap(memory.cast(), bytes) } == 0;
        if is_done {
            self.mapped.fetch_sub(bytes, Relaxed);
        }
        is_done
    }
}

// SAFETY: `alloc` returns new mappings, zeroed by the kernel, which stay mapped until the allocator
// returns them by one of the other methods.
unsafe impl Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        if sandbox::is_new() {
            return (null_mut(), 0, 0);
        }
        let of = |bytes| self.map(bytes).map(|memory| (memory, bytes, 0));
        of(size.max(STEP)).or_else(|| of(size)).unwrap_or((null_mut(), 0, 0))
    }

    fn remap(&self, memory: *mut u8, before: usize, after: usize, can_move: bool) -> *mut u8 {
        let grown = after.saturating_sub(before);
        if sandbox::is_new() || self.mapped.load(Relaxed).saturating_add(grown) > LIMIT {
            return null_mut();
        }
        let flags = if can_move { libc::MREMAP_MAYMOVE } else { 0 };
        // SAFETY: `memory` is a mapping of `before` bytes that the allocator got from `alloc`.
        let moved: *mut c_void = unsafe { libc::mremap(memory.cast(), before, after, flags) };
        if moved == libc::MAP_FAILED {
            return null_mut();
        }
        self.mapped.fetch_add(after.wrapping_sub(before), Relaxed);
        moved.cast()
    }

    fn free_part(&self, memory: *mut u8, before: usize, after: usize) -> bool {
        self.unmap(memory.wrapping_add(after), before - after)
    }

    fn free(&self, memory: *mut u8, size: usize) -> bool {
        self.unmap(memory, size)
    }

    fn can_release_part(&self, _flags: u32) -> bool {
        true
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}
