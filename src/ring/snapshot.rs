//! A snapshot copy of a ring that its owner keeps writing: only chunks that were copied whole are
//! kept, so the copy can be read at leisure.
//!
//! ```text
//!   calls in flight, head  ─► copy the chunks, oldest first
//!                          ─► check each again: drop one that was reused, and all before it
//! ```
#![allow(unsafe_code)] // copies memory that another process writes; what changed meanwhile is dropped

use crate::chunk::ALL_SLOTS;
use crate::consumer::Consumer;
use crate::event::INTERRUPTED;
use crate::map::Mapping;
use crate::page::{COUNT, PAGE_BYTES, REASONS, WRITING};
use crate::pool::Pool;
use crate::ring::Ring;
use crate::slot::{Event, SLOT_WORDS};
use crate::sync::{self, fence};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Attempts to find the owner between two calls, and to find a chunk that is not overwritten at
/// once.
const TRIES: usize = 10_000;
const OVERTAKEN: usize = if cfg!(loom) { 3 } else { 1_000 };
/// Attempts to copy everything if the owner overwrote it before it was copied.
const COPIES: usize = 8;

/// A snapshot copy of a ring.
pub struct RingSnapshot {
    /// The copied ring, in private memory.
    ring: Ring,
    /// At least one chunk was copied before it was overwritten.
    is_whole: bool,
    /// The calls in flight at that moment, outermost first.
    pub in_flight: Vec<Event>,
}

/// The owner's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerProgress {
    pub(crate) head: u64,
    pub(crate) calls: u64,
    pub(crate) depth_word: u64,
}

impl Ring {
    /// Copies a live ring of another process, which continues to write (and, if so configured, to
    /// overwrite) it.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    pub fn snapshot(&self) -> io::Result<RingSnapshot> {
        for _ in 1..COPIES {
            let copy = self.snapshot_after(TRIES)?;
            if copy.is_whole {
                return Ok(copy);
            }
        }
        self.snapshot_after(TRIES)
    }

    fn moment(&self) -> OwnerProgress {
        let page = self.page();
        // Acquire: each value is at least as new as the one before.
        let (head, calls) = (page.head.load(Acquire), page.calls.load(Acquire));
        OwnerProgress { head, calls, depth_word: page.depth.load(Acquire) }
    }

    /// True if the owner has made no progress since `moment`.
    fn is_still(&self, moment: OwnerProgress) -> bool {
        let page = self.page();
        // Acquire, and in this order: `depth` may return to the same value, but a call that began
        // and ended in between changes `calls`.
        let (depth_word, calls) = (page.depth.load(Acquire), page.calls.load(Acquire));
        OwnerProgress { head: page.head.load(Acquire), calls, depth_word } == moment
    }

    /// The owner's progress, losses and calls in flight: between two calls of the owner if such a
    /// moment is found, else those that stayed in flight.
    pub(crate) fn at_rest(&self, tries: usize) -> (OwnerProgress, [u64; REASONS], Vec<Event>) {
        let lost = || self.page().losses.each_ref().map(|loss| loss.lost.load(Acquire));
        for round in 0..tries {
            let (moment, lost) = (self.moment(), lost());
            // The owner may be stopped while it writes.
            if moment.depth_word & WRITING != 0 && round < tries / 2 {
                continue;
            }
            let in_flight = self.calls_in_flight(moment.depth_word, moment.calls);
            // The loads above complete before the owner's progress is checked again.
            fence(Acquire);
            if self.is_still(moment) {
                // `depth` is stored a moment before the call is counted.
                let newest = in_flight.last().map_or(0, |event| event.id);
                return (OwnerProgress { calls: moment.calls.max(newest), ..moment }, lost, in_flight);
            }
        }
        let (lost, moment) = (lost(), self.moment());
        (moment, lost, self.lasting_calls(moment.calls))
    }

    /// The same after `tries` attempts to find the owner between two calls.
    pub(crate) fn snapshot_after(&self, tries: usize) -> io::Result<RingSnapshot> {
        let (memory, pool) = (Mapping::anonymous(PAGE_BYTES)?, Arc::new(Pool::copy_of(self.pool())?));
        let (moment, lost, in_flight) = self.at_rest(tries);
        // SAFETY: both mappings are `PAGE_BYTES` long and do not overlap. Words may be torn: those
        // that matter are set below.
        unsafe { sync::copy(self.mapping().start().cast(), memory.start().cast(), PAGE_BYTES / 8) };
        let ring = Ring::of(memory, pool, self.path());
        let page = ring.page();
        page.head.store(moment.head, Relaxed);
        page.calls.store(moment.calls, Relaxed);
        page.depth.store(moment.depth_word, Relaxed);
        page.losses.iter().zip(lost).for_each(|(loss, lost)| loss.lost.store(lost, Relaxed));
        // Losses in signal handlers are not counted in `calls`.
        let lost = lost.iter().sum::<u64>() - lost[INTERRUPTED as usize];
        let events = moment.calls.saturating_sub((moment.depth_word & COUNT) + lost);
        let first = self.copy_chain(&ring, moment.head);
        page.first.store(first.unwrap_or(1), Relaxed);
        // If all of it was overwritten, the copy ends here.
        if let (None, Some(end)) = (first, ring.pool().chunk(1)) {
            end.begin(self.number(), moment.head, events);
        }
        Ok(RingSnapshot { ring, is_whole: first.is_some() || moment.head == 0, in_flight })
    }

    /// Copies the chunks before `head` to `to`; returns the first one that is whole.
    fn copy_chain(&self, to: &Ring, head: u64) -> Option<u64> {
        let (mut first, mut overtaken) = (None, 0);
        // Acquire: the chunk is initialised. A chunk's start is known from the one before.
        let oldest = || {
            let number = self.page().first.load(Acquire);
            Some((number, self.pool().chunk(number)?.start().unwrap_or(0)))
        };
        let mut at = oldest()?;
        while overtaken < OVERTAKEN && at.1 < head {
            let Some((next, end)) = self.copy_chunk(to, at) else {
                // It was overwritten, and so were those before it.
                sync::relax();
                (first, overtaken) = (None, overtaken + 1);
                at = oldest()?;
                continue;
            };
            first = first.or(Some(at.0));
            if end >= head {
                return first;
            }
            at = (next, end);
        }
        None
    }

    /// Copies the chunk with this number and start; returns the next one. `None`: it was
    /// overwritten.
    fn copy_chunk(&self, to: &Ring, (number, start): (u64, u64)) -> Option<(u64, u64)> {
        let (from, to) = (self.pool().chunk(number)?, to.pool().chunk(number)?);
        let (next, end) = from.next().unwrap_or((0, u64::MAX));
        let events = from.head.events.load(Relaxed);
        // SAFETY: the slots of two different chunks, `ALL_SLOTS` each. What was stored meanwhile is
        // past the head, or the check below finds that the chunk was reused.
        unsafe { sync::copy(from.slots(), to.slots(), ALL_SLOTS as usize * SLOT_WORDS) };
        // The copy completes before the chunk is checked again.
        fence(Acquire);
        if !from.is_of(self.number(), start) {
            return None;
        }
        to.begin(self.number(), start, events);
        if end != u64::MAX {
            to.link(next, end);
        }
        Some((next, end))
    }
}

impl RingSnapshot {
    /// The thread id of the ring's owner.
    pub fn tid(&self) -> u32 {
        self.ring.tid()
    }

    /// A consumer of the copy.
    pub fn consumer(self) -> Consumer {
        Consumer::new(Arc::new(self.ring))
    }
}
