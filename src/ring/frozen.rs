//! A copy of a ring whose owner goes on writing: what of it is whole, and nothing else, can be read at leisure.
//!
//! ```text
//!   the calls in flight, the head  ─► copy chunk by chunk, from the oldest on ─► look at each again: one that was taken for
//!   newer events meanwhile is left out, and what came before it
//! ```
#![allow(unsafe_code)] // a copy of memory that another process writes to; what was written meanwhile is thrown away

use crate::chunk::ALL_SLOTS;
use crate::consumer::Consumer;
use crate::event::INTERRUPTED;
use crate::map::Mapping;
use crate::page::{BUSY, COUNT, PAGE_BYTES, REASONS};
use crate::pool::Pool;
use crate::ring::Ring;
use crate::slot::{Event, SLOT_WORDS};
use crate::sync::{self, fence};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// How often it is tried to find the owner between two calls, and to find a chunk that is not overwritten at once.
const TRIES: usize = 10_000;
const OVERTAKEN: usize = if cfg!(loom) { 3 } else { 1_000 };
/// How often all is copied again when the owner has overwritten it before it was copied.
const COPIES: usize = 8;

/// A copy of a ring.
pub struct Frozen {
    /// The ring, in private memory, as it was.
    ring: Ring,
    /// Some of it was not overwritten before it was copied.
    is_whole: bool,
    /// The calls that were being made then, outermost first.
    pub in_flight: Vec<Event>,
}

/// How far the owner had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) head: u64,
    pub(crate) calls: u64,
    pub(crate) open: u64,
}

impl Ring {
    /// Copies a live ring that is overwritten, of another process: its owner goes on.
    ///
    /// # Errors
    /// When there is no memory for the copy.
    pub fn freeze(&self) -> io::Result<Frozen> {
        for _ in 1..COPIES {
            let frozen = self.freeze_after(TRIES)?;
            if frozen.is_whole {
                return Ok(frozen);
            }
        }
        self.freeze_after(TRIES)
    }

    fn moment(&self) -> Moment {
        let page = self.page();
        // Acquire: each is not older than the one before.
        let (head, calls) = (page.head.load(Acquire), page.calls.load(Acquire));
        Moment { head, calls, open: page.open.load(Acquire) }
    }

    /// True when the owner has not moved since `moment`.
    fn is_still(&self, moment: Moment) -> bool {
        let page = self.page();
        // Acquire, and in this order: what is open comes to be as it was, but a call that came and went in between is counted.
        let (open, calls) = (page.open.load(Acquire), page.calls.load(Acquire));
        Moment { head: page.head.load(Acquire), calls, open } == moment
    }

    /// A moment with the calls that were in flight, between two calls of the owner if it can be found there, else those that
    /// last; and what it had lost.
    pub(crate) fn at_rest(&self, tries: usize) -> (Moment, [u64; REASONS], Vec<Event>) {
        let lost = || self.page().losses.each_ref().map(|loss| loss.lost.load(Acquire));
        for round in 0..tries {
            let (moment, lost) = (self.moment(), lost());
            // It may have been stopped there.
            if moment.open & BUSY != 0 && round < tries / 2 {
                continue;
            }
            let in_flight = self.open_calls(moment.open, moment.calls);
            // What was read was read before the owner is looked at again.
            fence(Acquire);
            if self.is_still(moment) {
                // A call is open a moment before it is counted.
                let newest = in_flight.last().map_or(0, |event| event.id);
                return (Moment { calls: moment.calls.max(newest), ..moment }, lost, in_flight);
            }
        }
        let (lost, moment) = (lost(), self.moment());
        (moment, lost, self.lasting_calls(moment.calls))
    }

    /// The same after so many tries to find the owner between two calls.
    pub(crate) fn freeze_after(&self, tries: usize) -> io::Result<Frozen> {
        let (memory, pool) = (Mapping::anonymous(PAGE_BYTES)?, Arc::new(Pool::copy_of(self.pool())?));
        let (moment, lost, in_flight) = self.at_rest(tries);
        // SAFETY: both mappings are so long and apart. Words may be torn: those that matter are set below.
        unsafe { sync::copy(self.mapping().start().cast(), memory.start().cast(), PAGE_BYTES / 8) };
        let ring = Ring::of(memory, pool, self.path());
        let page = ring.page();
        page.head.store(moment.head, Relaxed);
        page.calls.store(moment.calls, Relaxed);
        page.open.store(moment.open, Relaxed);
        page.losses.iter().zip(lost).for_each(|(loss, lost)| loss.lost.store(lost, Relaxed));
        // Those that a signal handler lost are not among the calls.
        let lost = lost.iter().sum::<u64>() - lost[INTERRUPTED as usize];
        let events = moment.calls.saturating_sub((moment.open & COUNT) + lost);
        let first = self.copy_chain(&ring, moment.head);
        page.first.store(first.unwrap_or(1), Relaxed);
        // Where all of it was overwritten, this is where it ends.
        if let (None, Some(end)) = (first, ring.pool().chunk(1)) {
            end.begin(self.number(), moment.head, events);
        }
        Ok(Frozen { ring, is_whole: first.is_some() || moment.head == 0, in_flight })
    }

    /// Copies the chunks that hold what lies before `head` to `to`; gives the first of those that are whole.
    fn copy_chain(&self, to: &Ring, head: u64) -> Option<u64> {
        let (mut first, mut overtaken) = (None, 0);
        // Acquire: the chunk is begun. The start of a chunk is known from the one before.
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

    /// Copies the chunk with this number, which begins there; gives what comes after it. `None`: it was overwritten.
    fn copy_chunk(&self, to: &Ring, (number, start): (u64, u64)) -> Option<(u64, u64)> {
        let (from, to) = (self.pool().chunk(number)?, to.pool().chunk(number)?);
        let (next, end) = from.next().unwrap_or((0, u64::MAX));
        let events = from.head.events.load(Relaxed);
        // SAFETY: the slots of two chunks, apart. What was stored meanwhile lies past the head, or the chunk is found to be
        // another's below.
        unsafe { sync::copy(from.slots(), to.slots(), ALL_SLOTS as usize * SLOT_WORDS) };
        // What was copied was copied before the chunk is looked at again.
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

impl Frozen {
    /// Its thread.
    pub fn tid(&self) -> u32 {
        self.ring.tid()
    }

    /// To read it.
    pub fn consumer(self) -> Consumer {
        Consumer::new(Arc::new(self.ring))
    }
}
