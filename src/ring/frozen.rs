//! A copy of a ring whose owner goes on writing: what of it is whole, and nothing else, can be read at leisure.
//!
//! ```text
//!   the calls in flight, the head  ─► copy all ─► look at the head again: what lies so far behind that it may have been
//!   written anew meanwhile, is not read
//! ```
#![allow(unsafe_code)] // a copy of memory that another process writes to; what was written meanwhile is thrown away

use crate::event::INTERRUPTED;
use crate::map::Mapping;
use crate::page::{BUSY, COUNT, MARKS, REASONS};
use crate::ring::Ring;
use crate::slot::{Event, MAX_SLOTS};
use crate::sync::{self, fence};
use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// How often it is tried to find the owner between two calls, or to copy before it has written too much.
const TRIES: usize = 10_000;
const COPIES: usize = 8;

/// A copy of a ring.
pub struct Frozen {
    /// The ring, in private memory, as it was.
    pub(crate) ring: Ring,
    /// The first position that is whole.
    pub(crate) from: u64,
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
    /// Copies a live ring of another process. The best of a few tries: the owner goes on.
    ///
    /// # Errors
    /// When there is no memory for the copy.
    pub fn freeze(&self) -> io::Result<Frozen> {
        let mut best = self.freeze_once(TRIES)?;
        for _ in 1..COPIES {
            if best.kept() >= self.slots().min(best.head()) / 2 {
                break;
            }
            let next = self.freeze_once(TRIES)?;
            best = if next.kept() > best.kept() { next } else { best };
        }
        Ok(best)
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

    pub(crate) fn freeze_once(&self, tries: usize) -> io::Result<Frozen> {
        let bytes = self.mapping().bytes();
        let memory = Mapping::anonymous(bytes)?;
        // Before the head is looked at, so that none of them lies behind it.
        let marked = self.page().marked.load(Acquire);
        let (moment, lost, in_flight) = self.at_rest(tries);
        // SAFETY: both mappings are `bytes` long and apart. Words may be torn: those that matter are set below, or lie before
        // `from`.
        unsafe { sync::copy(self.mapping().start().cast(), memory.start().cast(), bytes / 8) };
        // What was copied was copied before the head is looked at again.
        fence(Acquire);
        let reached = self.page().head.load(Acquire);
        let marked_since = self.page().marked.load(Acquire);
        let ring = Ring::of(memory, self.path());
        let page = ring.page();
        page.head.store(moment.head, Relaxed);
        page.calls.store(moment.calls, Relaxed);
        page.open.store(moment.open, Relaxed);
        page.losses.iter().zip(lost).for_each(|(loss, lost)| loss.lost.store(lost, Relaxed));
        // Those that a signal handler lost are not among the calls.
        let lost = lost.iter().sum::<u64>() - lost[INTERRUPTED as usize];
        let place = |mark: u64| &page.marks[mark as usize % MARKS];
        // A mark that was set anew meanwhile, or was about to be, leads nowhere.
        let ringed = MARKS as u64;
        for mark in marked.saturating_sub(ringed)..(marked_since + 1).saturating_sub(ringed) {
            place(mark).head.store(0, Relaxed);
        }
        // Where all of it was written anew: this is where it ends.
        place(marked).head.store(moment.head, Relaxed);
        place(marked).events.store(moment.calls.saturating_sub((moment.open & COUNT) + lost), Relaxed);
        page.marked.store(marked + 1, Relaxed);
        let from = (reached + MAX_SLOTS as u64).saturating_sub(self.slots());
        Ok(Frozen { ring, from, in_flight })
    }
}

impl Frozen {
    fn head(&self) -> u64 {
        self.ring.page().head.load(Relaxed)
    }

    /// Slots that are whole.
    fn kept(&self) -> u64 {
        self.head().saturating_sub(self.from)
    }

    /// Its thread.
    pub fn tid(&self) -> u32 {
        self.ring.tid()
    }
}
