//! A chunk of ring memory: its header, its slots, and the linked list that the chunks of a ring
//! form.
//!
//! ```text
//!   page.first ─► chunk ─► chunk ─► chunk ◄─ page.chunk
//!                   ▲ tail             ▲ head
//! ```
//! The producer links a chunk behind a full one; the consumer follows the links and returns the
//! chunks that it has read. An event begins before [`CHUNK_SLOTS`] slots are used, so even the
//! longest one ends in the same chunk.

use crate::slot::{MAX_SLOTS, SLOT_WORDS};
use crate::sync::{AtomicU64, fence};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Size of a chunk in bytes, which is what an idle thread holds. (Smaller under loom, which
/// explores every way to fill it.)
pub const CHUNK_BYTES: usize = if cfg!(loom) { 1024 } else { 32 << 10 };
/// Size of a slot in bytes.
pub const SLOT_BYTES: usize = SLOT_WORDS * 8;
/// Slots per chunk; the header takes the space of one.
pub(crate) const ALL_SLOTS: u64 = (CHUNK_BYTES / SLOT_BYTES) as u64 - 1;
/// Slots in which an event may begin: the longest event fits from the last of them.
pub const CHUNK_SLOTS: u64 = ALL_SLOTS - (MAX_SLOTS as u64 - 1);
/// In `end`: no next chunk yet.
const NO_NEXT: u64 = u64::MAX;
/// In `start`: the header is being rewritten.
const REWRITING: u64 = u64::MAX;

/// The header of a chunk, written by the thread that has taken it.
#[repr(C, align(64))]
pub(crate) struct ChunkHead {
    /// The number of the ring that holds it, or held it last; 0 if it was never taken.
    pub(crate) owner: AtomicU64,
    /// The position of its first slot. A ring never begins two chunks at one position, so owner and
    /// start identify the contents.
    pub(crate) start: AtomicU64,
    /// Position of the next chunk; [`NO_NEXT`] while there is none.
    pub(crate) end: AtomicU64,
    /// Index of the next chunk in the pool, plus 1.
    pub(crate) next: AtomicU64,
    /// Number of events published before this chunk; used by rings that overwrite.
    pub(crate) events: AtomicU64,
    _line: [u64; 3],
}

const _: () = assert!(size_of::<ChunkHead>() == SLOT_BYTES);

/// A view of a chunk in a mapped pool.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) head: &'a ChunkHead,
    /// Its index in the pool, plus 1.
    pub(crate) number: u64,
}

impl Chunk<'_> {
    /// Initialises it as an empty chunk of ring `owner` at `position`.
    pub(crate) fn begin(&self, owner: u64, position: u64, events: u64) {
        let head = self.head;
        // Release: a reader that sees the new contents sees `first` moved to another chunk.
        head.start.store(REWRITING, Release);
        // A reader that loads any word stored after this fence, slots included, sees the changed
        // start when it checks again.
        fence(Release);
        head.owner.store(owner, Relaxed);
        head.end.store(NO_NEXT, Relaxed);
        head.next.store(0, Relaxed);
        head.events.store(events, Relaxed);
        // Release: after the other header fields.
        head.start.store(position, Release);
    }

    /// Position of its first slot; `None` while the header is being rewritten.
    pub(crate) fn start(&self) -> Option<u64> {
        // Acquire: pairs with the release stores in `begin`.
        Some(self.head.start.load(Acquire)).filter(|start| *start != REWRITING)
    }

    /// Links chunk `next`, which begins at `position`.
    pub(crate) fn link(&self, next: u64, position: u64) {
        self.head.next.store(next, Relaxed);
        // Release: a reader that sees the end sees the next chunk.
        self.head.end.store(position, Release);
    }

    /// True while it holds what ring `owner` stored from `position` on.
    pub(crate) fn is_of(&self, owner: u64, position: u64) -> bool {
        self.start() == Some(position) && self.head.owner.load(Relaxed) == owner
    }

    /// The next chunk's number and position; `None` if there is none yet.
    pub(crate) fn next(&self) -> Option<(u64, u64)> {
        // Acquire: pairs with the release in `link`.
        let end = self.head.end.load(Acquire);
        (end != NO_NEXT).then(|| (self.head.next.load(Relaxed), end))
    }

    /// Address of the slot at `position` in a chunk that begins at `start`; `None` if the position
    /// is outside.
    pub(crate) fn slot(&self, start: u64, position: u64) -> Option<*mut u64> {
        let slot = position.checked_sub(start).filter(|slot| *slot < ALL_SLOTS)?;
        Some(self.slots().wrapping_add(slot as usize * SLOT_WORDS))
    }

    /// Number of slots from `slot` to the end of the chunk.
    pub(crate) fn left(&self, slot: *const u64) -> usize {
        let before = (slot.addr() - self.slots().addr()) / SLOT_BYTES;
        (ALL_SLOTS as usize).saturating_sub(before)
    }

    /// Address of its first slot.
    pub(crate) fn slots(&self) -> *mut u64 {
        std::ptr::from_ref(self.head).cast_mut().cast::<u64>().wrapping_add(SLOT_WORDS)
    }
}
