//! The head of a ring file: its owner, the read and write positions, losses, and the calls in
//! flight.

use crate::clock;
use crate::slot::MAX_WORDS;
use crate::sync::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How deep calls may nest (hipBLAS > rocBLAS > hipBLASLt > launch is 4); deeper ones are counted
/// as lost.
pub const DEPTH: usize = 8;
/// First word of a ring file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMR");
/// Layout version of ring files; raised when it changes.
pub const VERSION: u64 = 4;
/// Size of a ring file in bytes; the slots are in chunks of the process's pool.
pub const PAGE_BYTES: usize = 8192;

/// In `depth`: the number of calls in flight.
pub(crate) const COUNT: u64 = 0xff;
/// In `depth`: the owner is writing an event. A signal handler that sees this stores nothing.
pub(crate) const WRITING: u64 = 0x100;
/// In `depth`: the innermost call is reserved in the ring, in the slot at `head`; the others are in
/// in-flight slots.
pub(crate) const RESERVED: u64 = 0x200;

/// A call from entry to return: the event as it will be written, in the words of [`crate::slot`].
#[repr(C, align(64))]
pub struct InFlightSlot {
    pub(crate) words: [AtomicU64; MAX_WORDS],
}

/// The head of a ring file. The owning thread writes cache lines 1 and 2, the consumer line 3.
#[repr(C, align(4096))]
pub struct Page {
    // Line 0: written once, before the ring is shared.
    pub(crate) magic: AtomicU64,
    pub(crate) version: AtomicU64,
    pub(crate) tid: AtomicU64,
    /// Slots in all chunks of the pool.
    pub(crate) slots: AtomicU64,
    /// A [`WhenFull`], as a number.
    pub(crate) when_full: AtomicU64,
    /// The ring's number in its process, from 1; stored in its chunks.
    pub(crate) number: AtomicU64,
    /// Address of the process's [`Pool`](crate::pool::Pool); meaningless to other processes.
    pub(crate) pool: AtomicU64,
    _line0: [u64; 1],

    // Line 1: all that the hot path reads and writes beside the slots.
    /// Slots published since the beginning; the next one is in the current chunk. Release:
    /// publishes the slots before it.
    pub(crate) head: AtomicU64,
    /// Calls entered: the next call's id is one more.
    pub(crate) calls: AtomicU64,
    /// In-flight depth, with [`WRITING`] and [`RESERVED`]. The in-flight slots hold the calls,
    /// outermost first.
    pub(crate) depth: AtomicU64,
    /// Cached write limit: events may begin before this position without the slow path. 0 before
    /// the first chunk, and while unreported losses exist, so that the next event reports them.
    pub(crate) limit: AtomicU64,
    /// Frame of the call that is [`WRITING`] or [`RESERVED`].
    pub(crate) frame: AtomicU64,
    /// Address of position 0, extrapolated from the current chunk; valid in this process.
    pub(crate) origin: AtomicU64,
    /// 1 if stamps are read from the TSC.
    pub(crate) tsc: AtomicU64,
    /// `limit` without losses: the end of the current chunk.
    pub(crate) chunk_end: AtomicU64,

    // Line 2: the end, and the chain.
    /// 1 once the thread has ended and will never touch the ring again. Release: after its last
    /// event.
    pub(crate) ended: AtomicU64,
    /// The chunk being filled: its index in the pool, plus 1; 0: none yet.
    pub(crate) chunk: AtomicU64,
    /// The first chunk; in a ring that overwrites, the oldest. Release: after what leads to it.
    pub(crate) first: AtomicU64,
    /// Chunks taken since the beginning, without overwritten ones.
    pub(crate) taken: AtomicU64,
    _line2: [u64; 4],

    // Line 3: the consumer's.
    /// Slots read since the beginning; those before it may be reused. Release: after they were
    /// read.
    pub(crate) tail: AtomicU64,
    /// Events read since the beginning, as of the last two commits; see `folder`.
    pub(crate) written: [AtomicU64; 2],
    /// `tail` as of the last two commits.
    pub(crate) committed: [AtomicU64; 2],
    /// The loss reason used while the ring is full.
    pub(crate) why_full: AtomicU64,
    /// Chunks returned since the beginning.
    pub(crate) given: AtomicU64,
    _line3: [u64; 1],

    pub(crate) in_flight: [InFlightSlot; DEPTH],

    /// Losses by reason: the index in [`LOSS_REASONS`](crate::event::LOSS_REASONS).
    pub(crate) losses: [Loss; REASONS],
    /// The consumer's: losses reported by the gaps read since the beginning, by reason, as of the
    /// last two commits.
    pub(crate) reported: [[AtomicU64; REASONS]; 2],
    /// The consumer's: events and losses of finished segments, as of the last two commits.
    pub(crate) before: [[AtomicU64; 2]; 2],
    /// The consumer's: the chunk that holds `tail`, as of the last two commits; 0: the first.
    pub(crate) committed_chunk: [AtomicU64; 2],
}

/// Room for loss reasons.
pub const REASONS: usize = 16;

/// Losses for one reason. Written by the thread, or by a signal handler for its own.
#[repr(C)]
pub(crate) struct Loss {
    /// Count since the beginning. Release: after `first` and `last`.
    pub(crate) lost: AtomicU64,
    /// Stamps of the first and last loss that no gap event has reported.
    pub(crate) first: AtomicU64,
    pub(crate) last: AtomicU64,
    /// How many were reported by gap events.
    pub(crate) reported: AtomicU64,
}

impl Loss {
    /// How many no gap event has reported.
    pub(crate) fn unreported(&self) -> u64 {
        // In this order: what was reported was counted before.
        let reported = self.reported.load(Relaxed);
        self.lost.load(Relaxed).saturating_sub(reported)
    }
}

/// What happens to an event for which there is no ring memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u64)]
pub enum WhenFull {
    /// It is counted as lost.
    #[default]
    Drop = 0,
    /// Its thread waits for the collector, up to a second; then it is counted as lost.
    Wait = 1,
    /// It overwrites the oldest events: the newest are kept until they are read.
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

/// The value of [`Page::limit`] where the consumer's progress allows `limit`: 0 on a machine
/// without a TSC, because the fast path reads it.
pub(crate) fn limit_of(limit: u64) -> u64 {
    if clock::is_tsc() { limit } else { 0 }
}

const _: () = assert!(size_of::<Page>() == PAGE_BYTES);
const _: () = assert!(size_of::<InFlightSlot>() == 512);
const _: () = assert!(std::mem::offset_of!(Page, head) == 64);
const _: () = assert!(std::mem::offset_of!(Page, ended) == 128);
const _: () = assert!(std::mem::offset_of!(Page, tail) == 192);
const _: () = assert!(std::mem::offset_of!(Page, in_flight) == 256);
