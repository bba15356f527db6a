//! The head of a ring file: who owns it, how far it is written and read, what was lost, which calls are in flight.

use crate::slot::MAX_WORDS;
use std::sync::atomic::AtomicU64;

/// How deep calls may nest (hipBLAS > rocBLAS > hipBLASLt > launch is 4); deeper ones are counted as lost.
pub const DEPTH: usize = 8;
/// First word of a ring file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMR");
/// Layout of ring files; raised when it changes.
pub const VERSION: u64 = 1;
/// Bytes before the first slot.
pub const PAGE_BYTES: usize = 8192;

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
    /// Slots in the ring, a power of two.
    pub(crate) slots: AtomicU64,
    _line0: [u64; 4],

    // Line 1: all that the hot path reads and writes beside the slots.
    /// Slots published since the beginning; the next one goes to `head % slots`. Release: publishes the slots before it.
    pub(crate) head: AtomicU64,
    /// Calls entered: the next call's id is one more.
    pub(crate) calls: AtomicU64,
    /// Calls in flight: `stages[..depth]` hold them.
    pub(crate) depth: AtomicU64,
    /// `head` may reach this without looking at `tail`. 0 while losses wait to be written, so that the next event looks.
    pub(crate) limit: AtomicU64,
    _line1: [u64; 4],

    // Line 2: losses that no gap event tells of yet, and the end.
    pub(crate) lost: AtomicU64,
    pub(crate) lost_first: AtomicU64,
    pub(crate) lost_last: AtomicU64,
    pub(crate) lost_reason: AtomicU64,
    /// 1 once the thread has ended and will never touch the ring again. Release: after its last event.
    pub(crate) ended: AtomicU64,
    _line2: [u64; 3],

    // Line 3: the consumer's.
    /// Slots read since the beginning; those before it may be written again. Release: after they were read.
    pub(crate) tail: AtomicU64,
    /// Events read since the beginning, as of the two last commits; see `folder`.
    pub(crate) written: [AtomicU64; 2],
    /// Losses told by the gaps read since the beginning, as of the two last commits.
    pub(crate) told: [AtomicU64; 2],
    /// `tail` as of the two last commits.
    pub(crate) committed: [AtomicU64; 2],
    _line3: [u64; 1],

    pub(crate) stages: [Stage; DEPTH],
}

const _: () = assert!(size_of::<Page>() == PAGE_BYTES);
const _: () = assert!(size_of::<Stage>() == 512);
const _: () = assert!(std::mem::offset_of!(Page, head) == 64);
const _: () = assert!(std::mem::offset_of!(Page, lost) == 128);
const _: () = assert!(std::mem::offset_of!(Page, tail) == 192);
const _: () = assert!(std::mem::offset_of!(Page, stages) == 256);
