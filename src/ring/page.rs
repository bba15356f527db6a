//! The head of a ring file: who owns it, how far it is written and read, what was lost, which calls are in flight.

use crate::clock;
use crate::slot::MAX_WORDS;
use crate::sync::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How deep calls may nest (hipBLAS > rocBLAS > hipBLASLt > launch is 4); deeper ones are counted as lost.
pub const DEPTH: usize = 8;
/// First word of a ring file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMR");
/// Layout of ring files; raised when it changes.
pub const VERSION: u64 = 4;
/// Bytes of a ring file: the slots lie in chunks of the process's pool.
pub const PAGE_BYTES: usize = 8192;

/// In `open`: how many calls are in flight.
pub(crate) const COUNT: u64 = 0xff;
/// In `open`: the owner is storing an event. A signal handler that finds it so keeps away.
pub(crate) const BUSY: u64 = 0x100;
/// In `open`: the innermost call lies in the ring, in the slot at `head`, and the others in the stages.
pub(crate) const IN_PLACE: u64 = 0x200;

/// A call from entry to return: the event as it will be written, in the words of [`crate::slot`].
#[repr(C, align(64))]
pub struct Stage {
    pub(crate) words: [AtomicU64; MAX_WORDS],
}

/// The head of a ring file. The thread that owns the ring writes lines 1 and 2, the consumer line 3.
#[repr(C, align(4096))]
pub struct Page {
    // Line 0: written once, before anyone else sees the ring.
    pub(crate) magic: AtomicU64,
    pub(crate) version: AtomicU64,
    pub(crate) tid: AtomicU64,
    /// Slots in all chunks of the pool.
    pub(crate) slots: AtomicU64,
    /// A [`WhenFull`], as a number.
    pub(crate) when_full: AtomicU64,
    /// The ring's number in its process, from 1: its chunks bear it.
    pub(crate) number: AtomicU64,
    /// Where the process has its [`Pool`](crate::pool::Pool): of no meaning to others.
    pub(crate) pool: AtomicU64,
    _line0: [u64; 1],

    // Line 1: all that the hot path reads and writes beside the slots.
    /// Slots published since the beginning; the next one lies in the current chunk. Release: publishes the slots before it.
    pub(crate) head: AtomicU64,
    /// Calls entered: the next call's id is one more.
    pub(crate) calls: AtomicU64,
    /// Calls in flight: their number, with [`BUSY`] and [`IN_PLACE`]. The stages hold them, outermost first.
    pub(crate) open: AtomicU64,
    /// Events may begin before this position without another look. 0 before the first chunk, and while losses wait to be
    /// written, so that the next event looks.
    pub(crate) limit: AtomicU64,
    /// Where the frame of the call lies that is [`BUSY`] or [`IN_PLACE`].
    pub(crate) frame: AtomicU64,
    /// Where position 0 would lie, if the current chunk had begun there: an address of the process.
    pub(crate) origin: AtomicU64,
    /// 1 when stamps are read from the time-stamp counter.
    pub(crate) tsc: AtomicU64,
    /// What `limit` is without losses: the end of the current chunk.
    pub(crate) chunk_end: AtomicU64,

    // Line 2: the end, and the chain.
    /// 1 once the thread has ended and will never touch the ring again. Release: after its last event.
    pub(crate) ended: AtomicU64,
    /// The chunk that is being filled; 0: none yet. (An index in the pool, and 1.)
    pub(crate) chunk: AtomicU64,
    /// The first chunk; of a ring that is overwritten, the oldest. Release: after what leads to it.
    pub(crate) first: AtomicU64,
    /// Chunks taken since the beginning, without those that were overwritten.
    pub(crate) taken: AtomicU64,
    _line2: [u64; 4],

    // Line 3: the consumer's.
    /// Slots read since the beginning; those before it may be written again. Release: after they were read.
    pub(crate) tail: AtomicU64,
    /// Events read since the beginning, as of the two last commits; see `folder`.
    pub(crate) written: [AtomicU64; 2],
    /// `tail` as of the two last commits.
    pub(crate) committed: [AtomicU64; 2],
    /// Why an event is lost that finds no room: the ring is full because of this.
    pub(crate) why_full: AtomicU64,
    /// Chunks given back since the beginning.
    pub(crate) given: AtomicU64,
    _line3: [u64; 1],

    pub(crate) stages: [Stage; DEPTH],

    /// What was lost, by reason: the index in [`LOSS_REASONS`](crate::event::LOSS_REASONS).
    pub(crate) losses: [Loss; REASONS],
    /// The consumer's: losses told by the gaps read since the beginning, by reason, as of the two last commits.
    pub(crate) told: [[AtomicU64; REASONS]; 2],
    /// The consumer's: events and losses that finished parts of the trace tell of, as of the two last commits.
    pub(crate) before: [[AtomicU64; 2]; 2],
    /// The consumer's: the chunk in which `tail` lies, as of the two last commits; 0: the first.
    pub(crate) committed_chunk: [AtomicU64; 2],
}

/// Room for reasons why events are lost.
pub const REASONS: usize = 16;

/// What was lost for one reason. The thread writes it, and a signal handler what it loses itself.
#[repr(C)]
pub(crate) struct Loss {
    /// Since the beginning. Release: after the two that follow.
    pub(crate) lost: AtomicU64,
    /// When losses began and ended that no gap event tells of yet.
    pub(crate) first: AtomicU64,
    pub(crate) last: AtomicU64,
    /// How many the gap events tell of.
    pub(crate) told: AtomicU64,
}

impl Loss {
    /// How many no gap event tells of yet.
    pub(crate) fn untold(&self) -> u64 {
        // In this order: what is told was counted before.
        let told = self.told.load(Relaxed);
        self.lost.load(Relaxed).saturating_sub(told)
    }
}

/// What becomes of an event for which there is no ring memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u64)]
pub enum WhenFull {
    /// It is counted as lost.
    #[default]
    Drop = 0,
    /// Its thread waits for the collector, up to a second; then it is counted as lost.
    Wait = 1,
    /// It takes the place of the oldest: what was made last is kept, until somebody reads.
    Overwrite = 2,
}

impl WhenFull {
    pub(crate) fn of(page: &Page) -> WhenFull {
        match page.when_full.load(Relaxed) {
            1 => WhenFull::Wait,
            2 => WhenFull::Overwrite,
            _ => WhenFull::Drop,
        }
    }
}

/// What [`Page::limit`] is to be where the consumer's progress allows `limit`: on a machine without a time-stamp counter the
/// short ways are never taken, which read it.
pub(crate) fn limit_of(limit: u64) -> u64 {
    if clock::is_tsc() { limit } else { 0 }
}

const _: () = assert!(size_of::<Page>() == PAGE_BYTES);
const _: () = assert!(size_of::<Stage>() == 512);
const _: () = assert!(std::mem::offset_of!(Page, head) == 64);
const _: () = assert!(std::mem::offset_of!(Page, ended) == 128);
const _: () = assert!(std::mem::offset_of!(Page, tail) == 192);
const _: () = assert!(std::mem::offset_of!(Page, stages) == 256);
