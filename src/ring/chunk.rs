//! A piece of ring memory: its head, its slots, and the chain that the chunks of a thread make.
//!
//! ```text
//!   page.first ─► chunk ─► chunk ─► chunk ◄─ page.chunk
//!                   ▲ tail             ▲ head
//! ```
//! The thread links a chunk behind its last one when that is full; the consumer follows, and gives back what it has read.
//! An event begins before [`CHUNK_SLOTS`] slots are full, and whatever its length it ends in the same chunk.

use crate::slot::{MAX_SLOTS, SLOT_WORDS};
use crate::sync::{AtomicU64, fence};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Bytes of a chunk: what an idle thread takes. (Fewer in a model, which looks at every way to fill them.)
pub const CHUNK_BYTES: usize = if cfg!(loom) { 1024 } else { 32 << 10 };
/// Bytes of a slot.
pub const SLOT_BYTES: usize = SLOT_WORDS * 8;
/// Slots of a chunk, whose head takes the place of one.
pub(crate) const ALL_SLOTS: u64 = (CHUNK_BYTES / SLOT_BYTES) as u64 - 1;
/// Slots in which an event may begin: the longest one fits behind the last of them.
pub const CHUNK_SLOTS: u64 = ALL_SLOTS - (MAX_SLOTS as u64 - 1);
/// In `end`: nothing comes after this chunk yet.
const OPEN: u64 = u64::MAX;
/// In `start`: it is being begun.
const NOWHERE: u64 = u64::MAX;

/// The head of a chunk, which the thread writes that has taken it.
#[repr(C, align(64))]
pub(crate) struct ChunkHead {
    /// The number of the ring that it belongs to, or belonged to last; 0: none has ever had it.
    pub(crate) owner: AtomicU64,
    /// The position of its first slot. No ring takes two chunks at one position: owner and start tell what it holds.
    pub(crate) start: AtomicU64,
    /// Where the next chunk begins; [`OPEN`] while there is none.
    pub(crate) end: AtomicU64,
    /// The next chunk: its index in the pool, and 1.
    pub(crate) next: AtomicU64,
    /// Of a ring that is overwritten: events published before it.
    pub(crate) events: AtomicU64,
    _line: [u64; 3],
}

const _: () = assert!(size_of::<ChunkHead>() == SLOT_BYTES);

/// A chunk, wherever it is mapped.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) head: &'a ChunkHead,
    /// Its index in the pool, and 1.
    pub(crate) number: u64,
}

impl Chunk<'_> {
    /// Makes it an empty chunk of ring `owner` at `position`.
    pub(crate) fn begin(&self, owner: u64, position: u64, events: u64) {
        let head = self.head;
        // Release: whoever sees that it holds something else sees that the chain begins elsewhere.
        head.start.store(NOWHERE, Release);
        // Who reads a word of it that is stored from here on, slots included, finds that when it looks again.
        fence(Release);
        head.owner.store(owner, Relaxed);
        head.end.store(OPEN, Relaxed);
        head.next.store(0, Relaxed);
        head.events.store(events, Relaxed);
        // Release: after the rest.
        head.start.store(position, Release);
    }

    /// Where it begins; `None` while it is about to hold something else.
    pub(crate) fn start(&self) -> Option<u64> {
        // Acquire: as in `begin`.
        Some(self.head.start.load(Acquire)).filter(|start| *start != NOWHERE)
    }

    /// The chain goes on in `next` at `position`.
    pub(crate) fn link(&self, next: u64, position: u64) {
        self.head.next.store(next, Relaxed);
        // Release: whoever sees the end sees what comes next.
        self.head.end.store(position, Release);
    }

    /// True while it holds what ring `owner` stored from `position` on.
    pub(crate) fn is_of(&self, owner: u64, position: u64) -> bool {
        self.start() == Some(position) && self.head.owner.load(Relaxed) == owner
    }

    /// What comes after it, and at which position.
    pub(crate) fn next(&self) -> Option<(u64, u64)> {
        // Acquire: as in `link`.
        let end = self.head.end.load(Acquire);
        (end != OPEN).then(|| (self.head.next.load(Relaxed), end))
    }

    /// Where the slot of `position` lies in a chunk that begins at `start`; `None` when that is in another.
    pub(crate) fn slot(&self, start: u64, position: u64) -> Option<*mut u64> {
        let slot = position.checked_sub(start).filter(|slot| *slot < ALL_SLOTS)?;
        Some(self.slots().wrapping_add(slot as usize * SLOT_WORDS))
    }

    /// How many slots there are from `slot` to its end.
    pub(crate) fn left(&self, slot: *const u64) -> usize {
        let passed = (slot.addr() - self.slots().addr()) / SLOT_BYTES;
        (ALL_SLOTS as usize).saturating_sub(passed)
    }

    /// Its first slot.
    pub(crate) fn slots(&self) -> *mut u64 {
        std::ptr::from_ref(self.head).cast_mut().cast::<u64>().wrapping_add(SLOT_WORDS)
    }
}
