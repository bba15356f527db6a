//! The ring memory of a process: chunks in one sparse file. A thread takes one when its last is
//! full; the consumer returns it after reading.
//!
//! ```text
//!            reserved, faulted in               taken by a thread
//!   COLD ──────────────────────────► READY ──────────────────────► in a ring's chain
//!     ▲   the collector, ahead of need │ ▲                           │
//!     └── memory given back ───────────┘ └──── read, returned ───────┘
//! ```
//! Two bitmaps mark the cold and the ready chunks, so that taking one is a compare-and-swap, and
//! the lowest are reused first. A thread that finds none ready reserves some itself: a system call
//! for [`PIECE`] chunks is better than lost events.
#![allow(unsafe_code)] // the address of a chunk in the mapping

use crate::chunk::{CHUNK_BYTES, CHUNK_SLOTS, Chunk, ChunkHead};
use crate::clock;
use crate::map::{Mapping, about, allocate_at, file_limit};
use crate::page::WhenFull;
use crate::sandbox;
use crate::sync::Bits;
use bits::{BITS, claim, first_run, last_run, mask};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

mod bits;
#[cfg(all(test, not(loom)))]
mod tests;

/// Chunks that a thread reserves at once: 1 MiB.
pub const PIECE: usize = 32;
/// Chunks that are ready when recording begins, and when it begins in a forked child, which may
/// launch a few times and exit.
const AT_FIRST: usize = 32;
const AT_FIRST_IN_CHILD: usize = 8;
/// The same where threads cannot reserve any: before Linux 5.14, and if the rings are not in
/// memory.
const AT_FIRST_ALLOCATED: usize = 512;
/// Chunks that every thread may take, whatever others hold.
const FEW: u64 = 4;
/// One chunk in this many is left for threads that hold fewer.
const SPARE: usize = 16;
/// For rings that overwrite: a ring takes a chunk only while this many times its own number is
/// free.
const FAIR: u64 = 8;
/// Fewest and most chunks of a pool: 64 KiB, 4 GiB.
const FEWEST: usize = 2;
const MOST: usize = (4 << 30) / CHUNK_BYTES;
/// Ticks until reservation is retried after it failed.
const RETRY_TICKS: u64 = 1 << 22;

/// How chunks get their memory.
enum Reserve {
    /// By madvise, which needs no file descriptor.
    Populate,
    /// By fallocate, after opening the file with this inode again: only the collector can.
    Allocate(Option<u64>),
}

/// The chunks of a process.
pub struct Pool {
    memory: Mapping,
    /// The file; `None` for private memory.
    path: Option<PathBuf>,
    reserve: Reserve,
    chunks: usize,
    /// A copy: its chunks are never taken.
    is_copy: bool,
    /// A bit per chunk that may be taken. Release: after it was read, or reserved.
    ready: Box<[Bits]>,
    /// A bit per chunk without memory.
    cold: Box<[Bits]>,
    /// Chunks in rings.
    in_use: AtomicU64,
    /// Chunks taken since the beginning.
    taken: AtomicU64,
    /// How many of them a thread had to reserve, not counting the rest of the piece.
    reserved: AtomicU64,
    /// Reservation failed: the stamp at which it is retried.
    retry: AtomicU64,
}

/// Usage of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// Chunks in rings.
    pub in_use: u64,
    /// Chunks that are ready.
    pub ready: u64,
    /// Maximum number of chunks.
    pub chunks: u64,
    /// Chunks taken since the beginning.
    pub taken: u64,
    /// How often a thread found none ready, and reserved some.
    pub reserved: u64,
}

impl Pool {
    /// Creates a pool of at most `bytes` bytes in a new file, or in private memory; smaller if the
    /// address space limit of the process is.
    ///
    /// # Errors
    /// If there is no memory for the first chunks.
    pub fn create(path: Option<&Path>, bytes: u64) -> io::Result<Pool> {
        Pool::begin(path, bytes, AT_FIRST)
    }

    /// The same for a forked child: fewer chunks are ready at first.
    ///
    /// # Errors
    /// As [`Pool::create`].
    pub fn create_in_child(path: Option<&Path>, bytes: u64) -> io::Result<Pool> {
        Pool::begin(path, bytes, AT_FIRST_IN_CHILD)
    }

    fn begin(path: Option<&Path>, bytes: u64, at_first: usize) -> io::Result<Pool> {
        let most = path.map_or(u64::MAX, |_| file_limit()).min(address_limit() / 16);
        let mut chunks = (bytes.min(most) / CHUNK_BYTES as u64).clamp(FEWEST as u64, MOST as u64) as usize;
        let map = |chunks: usize| match path {
            Some(path) => Mapping::create_sparse(path, chunks * CHUNK_BYTES),
            None => Mapping::anonymous_sparse(chunks * CHUNK_BYTES),
        };
        let memory = loop {
            match map(chunks) {
                Err(_) if chunks > FEWEST => chunks = (chunks / 2).max(FEWEST),
                memory => break memory?,
            }
        };
        let mut pool = Pool::of(memory, path, chunks);
        if let Some(path) = path {
            let (in_memory, inode) = about(path)?;
            pool.reserve = if in_memory { Reserve::Populate } else { Reserve::Allocate(inode) };
            if in_memory && pool.populate(0, 1).is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL))
            {
                pool.reserve = Reserve::Allocate(inode);
            }
        }
        let at_first = if pool.is_by_descriptor() { AT_FIRST_ALLOCATED } else { at_first };
        pool.warm(at_first);
        if pool.state().ready == 0 {
            if let Some(path) = path {
                let _ = std::fs::remove_file(path);
            }
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Ok(pool)
    }

    fn of(memory: Mapping, path: Option<&Path>, chunks: usize) -> Pool {
        let bits = |set: bool| {
            let word = |i: usize| if set { mask(chunks.saturating_sub(i * BITS)) } else { 0 };
            (0..chunks.div_ceil(BITS)).map(|i| Bits::new(word(i))).collect::<Box<[Bits]>>()
        };
        let [in_use, taken, reserved, retry] = [const { AtomicU64::new(0) }; 4];
        let (path, reserve) = (path.map(Path::to_path_buf), Reserve::Populate);
        let (ready, cold) = (bits(false), bits(true));
        Pool { memory, path, reserve, chunks, is_copy: false, ready, cold, in_use, taken, reserved, retry }
    }

    /// A pool for copies of the chunks of `pool`, with the same indices.
    ///
    /// # Errors
    /// If there is no address space for it.
    pub(crate) fn copy_of(pool: &Pool) -> io::Result<Pool> {
        let memory = Mapping::anonymous_sparse(pool.memory.bytes())?;
        Ok(Pool { is_copy: true, ..Pool::of(memory, pool.path.as_deref(), pool.chunks) })
    }

    /// The pool of a dead process.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> io::Result<Pool> {
        Ok(Pool::dead(Mapping::read_sparse(path, MOST * CHUNK_BYTES, CHUNK_BYTES)?))
    }

    /// The same from its bytes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Pool> {
        let memory = Mapping::anonymous_sparse(bytes.len().next_multiple_of(CHUNK_BYTES).max(CHUNK_BYTES))?;
        // SAFETY: the mapping has `bytes.len()` bytes at least, and is not shared yet.
        unsafe { bytes.as_ptr().copy_to_nonoverlapping(memory.start(), bytes.len()) };
        Ok(Pool::dead(memory))
    }

    fn dead(memory: Mapping) -> Pool {
        let chunks = memory.bytes() / CHUNK_BYTES;
        Pool { is_copy: true, ..Pool::of(memory, None, chunks) }
    }

    /// The pool of a live process, shared.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Pool> {
        let memory = Mapping::open(path, false)?;
        let chunks = memory.bytes() / CHUNK_BYTES;
        Ok(Pool::of(memory, Some(path), chunks))
    }

    /// Slots in all its chunks.
    pub fn slots(&self) -> u64 {
        self.chunks as u64 * CHUNK_SLOTS
    }

    /// Its usage now.
    pub fn state(&self) -> PoolState {
        let ready = self.ready.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum();
        let [in_use, taken, reserved] = [&self.in_use, &self.taken, &self.reserved].map(|n| n.load(Relaxed));
        PoolState { in_use, ready, chunks: self.chunks as u64, taken, reserved }
    }

    /// The chunk with this number, if it exists.
    pub(crate) fn chunk(&self, number: u64) -> Option<Chunk<'_>> {
        let index = number.checked_sub(1).filter(|index| *index < self.chunks as u64)?;
        let at = self.memory.start().wrapping_add(index as usize * CHUNK_BYTES).cast::<ChunkHead>();
        // SAFETY: `at` is a whole chunk of the mapping, page-aligned; all fields of its header are
        // atomics.
        Some(Chunk { head: unsafe { &*at }, number })
    }

    /// Takes a chunk for a ring that holds `own` chunks; `None` if there is none, or it is left for
    /// others.
    pub(crate) fn take(&self, own: u64, when_full: WhenFull) -> Option<Chunk<'_>> {
        let free = (self.chunks as u64).saturating_sub(self.in_use.load(Relaxed));
        let is_fair = match when_full {
            WhenFull::Overwrite => own <= free / FAIR,
            WhenFull::Drop | WhenFull::Wait => free > (self.chunks / SPARE) as u64,
        };
        if free == 0 || !(is_fair || own < FEW) {
            return None;
        }
        let index = self.pop().or_else(|| self.reserve_some())?;
        // Relaxed: counters.
        self.in_use.fetch_add(1, Relaxed);
        self.taken.fetch_add(1, Relaxed);
        self.chunk(index as u64 + 1)
    }

    /// True for the pool of a dead process, and for a copy.
    pub(crate) fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// Returns a chunk that nothing reads or writes any more.
    pub(crate) fn give(&self, number: u64) {
        if self.is_copy {
            return;
        }
        let Some(index) = number.checked_sub(1).filter(|index| *index < self.chunks as u64) else { return };
        self.in_use.fetch_sub(1, Relaxed);
        self.set_ready(index as usize / BITS, 1 << (index as usize % BITS));
    }

    fn set_ready(&self, word: usize, bits: u64) {
        // Release: a thread that takes them sees them read.
        self.ready[word].fetch_or(bits, Release);
    }

    /// Takes the first chunk that is ready.
    fn pop(&self) -> Option<usize> {
        self.ready.iter().enumerate().find_map(|(i, word)| {
            // Acquire: pairs with the release in `set_ready`.
            claim(word, |bits| bits & bits.wrapping_neg()).map(|bit| i * BITS + bit.trailing_zeros() as usize)
        })
    }

    /// Reserves a piece for a thread that found nothing ready, and takes its first chunk.
    #[cold]
    fn reserve_some(&self) -> Option<usize> {
        // Under the program's own seccomp filter, a system call may kill it.
        if self.is_by_descriptor() || clock::now() < self.retry.load(Relaxed) || sandbox::is_new() {
            return None;
        }
        // Where there is no room for a piece, there may be some for a chunk.
        let piece = self.warm_piece(PIECE).or_else(|| {
            self.retry.store(0, Relaxed);
            self.warm_piece(1)
        });
        let (word, mut bits) = piece?;
        let first = bits & bits.wrapping_neg();
        bits &= !first;
        self.set_ready(word, bits);
        self.reserved.fetch_add(1, Relaxed);
        Some(word * BITS + first.trailing_zeros() as usize)
    }

    /// Makes about `wanted` more chunks ready.
    pub fn warm(&self, wanted: usize) {
        let mut left = wanted;
        while left > 0 && clock::now() >= self.retry.load(Relaxed) {
            let Some((word, bits)) = self.warm_piece(left) else { return };
            self.set_ready(word, bits);
            left -= bits.count_ones() as usize;
        }
    }

    /// Returns the memory of about `wanted` ready chunks: those that would be used last.
    pub fn cool(&self, wanted: usize) {
        let mut left = wanted;
        for (i, word) in self.ready.iter().enumerate().rev() {
            while left > 0 {
                // Acquire: the chunks whose memory is returned were read.
                let Some(bits) = claim(word, |bits| last_run(bits, left)) else { break };
                left -= bits.count_ones() as usize;
                let (from, bytes) = range(i, bits);
                // If that fails, they stay ready.
                match self.memory.remove(from, bytes, self.path.is_some()) {
                    Ok(()) => self.cold[i].fetch_or(bits, Release),
                    Err(_) => {
                        self.set_ready(i, bits);
                        return;
                    }
                };
            }
        }
    }

    /// Reserves a run of at most `most` cold chunks; returns its bitmap word and bits.
    fn warm_piece(&self, most: usize) -> Option<(usize, u64)> {
        let claimed =
            |(i, word): (usize, &Bits)| claim(word, |bits| first_run(bits, most)).map(|bits| (i, bits));
        let (word, bits) = self.cold.iter().enumerate().find_map(claimed)?;
        let (from, bytes) = range(word, bits);
        if self.reserve(from, bytes).is_err() {
            self.cold[word].fetch_or(bits, Release);
            self.retry.store(clock::now() + RETRY_TICKS, Relaxed);
            return None;
        }
        Some((word, bits))
    }

    fn is_by_descriptor(&self) -> bool {
        matches!(self.reserve, Reserve::Allocate(_))
    }

    fn reserve(&self, from: usize, bytes: usize) -> io::Result<()> {
        if let (Reserve::Allocate(inode), Some(path)) = (&self.reserve, &self.path) {
            allocate_at(path, *inode, from, bytes)?;
        }
        match self.populate(from, bytes) {
            // It is reserved; threads fault it in.
            Err(_) if self.is_by_descriptor() => Ok(()),
            // Before Linux 5.14; private memory is allocated on first touch.
            Err(error) if self.path.is_none() && error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            result => result,
        }
    }

    fn populate(&self, from: usize, bytes: usize) -> io::Result<()> {
        // Under loom, chunks are smaller than pages.
        if cfg!(loom) { Ok(()) } else { self.memory.reserve(from, bytes) }
    }
}

/// Offset and length in bytes of a run of chunks.
fn range(word: usize, run: u64) -> (usize, usize) {
    let first = word * BITS + run.trailing_zeros() as usize;
    (first * CHUNK_BYTES, run.count_ones() as usize * CHUNK_BYTES)
}

/// The address space limit of the process, bytes (`ulimit -v`).
fn address_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a local structure for the result.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    limit.rlim_cur
}
