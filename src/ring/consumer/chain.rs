//! Finds the next event along the chain of chunks, and resynchronises with a ring that was
//! overwritten.
#![allow(unsafe_code)] // copies of slots in chunks of the pool

use super::Consumer;
use crate::event::{Gap, OVERWRITTEN};
use crate::slot::{Event, SLOT_WORDS};
use crate::sync::{self, fence};
use std::sync::atomic::Ordering::{Acquire, Relaxed};

impl Consumer {
    /// Address of the next event, and the number of slots from there to the end of its chunk.
    /// `None` if no chunk of this ring leads there.
    pub(super) fn place(&mut self) -> Option<(*const u64, usize)> {
        let (pool, number) = (self.ring.pool(), self.ring.number());
        if self.now.chunk == 0 {
            // Acquire: the chunk is initialised.
            let first = self.ring.page().first.load(Acquire);
            let start = pool.chunk(first)?.start()?;
            (self.now.chunk, self.now.start) = (first, start);
        }
        if pool.chunk(self.now.chunk)?.is_of(number, self.now.tail) {
            // The producer may have refilled the chunk after all of it was read.
            self.now.start = self.now.tail;
        }
        loop {
            let chunk = pool.chunk(self.now.chunk).filter(|chunk| chunk.is_of(number, self.now.start))?;
            match chunk.next() {
                // In a damaged chain, the next chunk may be this one.
                Some((next, end)) if end == self.now.tail && end > self.now.start => {
                    (self.now.chunk, self.now.start) = (next, end);
                }
                _ => {
                    let slot = chunk.slot(self.now.start, self.now.tail)?;
                    return Some((slot, chunk.left(slot)));
                }
            }
        }
    }

    /// True if the producer may have begun to overwrite the chunk being read.
    pub(super) fn is_overwritten(&self) -> bool {
        // The copy completes before the chunk is checked.
        fence(Acquire);
        let chunk = self.ring.pool().chunk(self.now.chunk);
        !chunk.is_some_and(|chunk| chunk.is_of(self.ring.number(), self.now.start))
    }

    /// Continues at the oldest chunk that is still whole, and delivers to `each` a gap for what was
    /// overwritten before it; returns the result of `each`. `None` if no chunk is whole.
    pub(super) fn resync(&mut self, head: u64, each: &mut impl FnMut(&Event) -> bool) -> Option<bool> {
        // Acquire: a reader that found a chunk overwritten sees the chunk that is first now.
        let first = self.ring.page().first.load(Acquire);
        let chunk = self.ring.pool().chunk(first)?;
        let start = chunk.start().unwrap_or(u64::MAX);
        let (events, mut words) = (chunk.head.events.load(Relaxed), [0; SLOT_WORDS]);
        // SAFETY: `chunk.slots()` is the first slot of a chunk of the pool; `words` has room for
        // one slot.
        unsafe { sync::copy(chunk.slots(), words.as_mut_ptr(), SLOT_WORDS) };
        // The copy completes before the chunk, and whether it is the first, are checked again.
        fence(Acquire);
        let is_whole =
            chunk.is_of(self.ring.number(), start) && self.ring.page().first.load(Relaxed) == first;
        if !is_whole {
            // It is being overwritten: the next iteration finds another first chunk. In a damaged
            // ring, none.
            sync::relax();
            return (!self.ring.pool().is_copy()).then_some(true);
        }
        (self.now.chunk, self.now.start) = (first, start);
        // The gap has no duration if nothing follows it yet.
        let stamp = if start < head { words[1] } else { 0 };
        let lost = events.saturating_sub(self.consumed());
        let gap = Gap { lost, first: stamp, last: stamp, reason: OVERWRITTEN };
        (self.now.tail, self.now.skipped) = (start.max(self.now.tail), self.now.skipped.wrapping_add(lost));
        if lost == 0 {
            return Some(true);
        }
        Some(Event::from_words(&gap.words()).is_none_or(|event| each(&event)))
    }
}
