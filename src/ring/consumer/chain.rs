//! Where the next event lies: along the chain of chunks, or, of a ring that is overwritten, from its new beginning on.
#![allow(unsafe_code)] // copies of slots, which lie in chunks of the pool

use super::Consumer;
use crate::event::{Gap, OVERWRITTEN};
use crate::slot::{Event, SLOT_WORDS};
use crate::sync::{self, fence};
use std::sync::atomic::Ordering::{Acquire, Relaxed};

impl Consumer {
    /// Where the event lies that comes next, and how many slots there are from there to the end of its chunk. `None` where
    /// no chunk of this ring leads there.
    pub(super) fn place(&mut self) -> Option<(*const u64, usize)> {
        let (pool, number) = (self.ring.pool(), self.ring.number());
        if self.now.chunk == 0 {
            // Acquire: the chunk is begun.
            let first = self.ring.page().first.load(Acquire);
            let start = pool.chunk(first)?.start()?;
            (self.now.chunk, self.now.start) = (first, start);
        }
        if pool.chunk(self.now.chunk)?.is_of(number, self.now.tail) {
            // It may have been filled again after all of it was read.
            self.now.start = self.now.tail;
        }
        loop {
            let chunk = pool.chunk(self.now.chunk).filter(|chunk| chunk.is_of(number, self.now.start))?;
            match chunk.next() {
                // In a damaged chain, the next may be this one.
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

    /// True when the producer may have begun to write where this end reads.
    pub(super) fn is_overwritten(&self) -> bool {
        // What was copied must have been copied before the chunk is looked at.
        fence(Acquire);
        let chunk = self.ring.pool().chunk(self.now.chunk);
        !chunk.is_some_and(|chunk| chunk.is_of(self.ring.number(), self.now.start))
    }

    /// Goes on at the oldest chunk that is still whole, and tells `each` what was overwritten before it; gives its answer.
    /// `None` where no chunk is.
    pub(super) fn catch_up(&mut self, head: u64, each: &mut impl FnMut(&Event) -> bool) -> Option<bool> {
        // Acquire: who found a chunk overwritten finds here what came after it.
        let first = self.ring.page().first.load(Acquire);
        let chunk = self.ring.pool().chunk(first)?;
        let start = chunk.start().unwrap_or(u64::MAX);
        let (events, mut words) = (chunk.head.events.load(Relaxed), [0; SLOT_WORDS]);
        // SAFETY: the first slot of a chunk of the pool.
        unsafe { sync::copy(chunk.slots(), words.as_mut_ptr(), SLOT_WORDS) };
        // What was read was read before the chunk, and whether it is the first, are looked at again.
        fence(Acquire);
        let is_whole =
            chunk.is_of(self.ring.number(), start) && self.ring.page().first.load(Relaxed) == first;
        if !is_whole {
            // It is being overwritten: another is the first by the next look. Of a damaged ring, none is.
            sync::relax();
            return (!self.ring.pool().is_copy()).then_some(true);
        }
        (self.now.chunk, self.now.start) = (first, start);
        // The gap has no length where nothing lies behind it yet.
        let stamp = if start < head { words[1] } else { 0 };
        let lost = events.saturating_sub(self.passed_by());
        let gap = Gap { lost, first: stamp, last: stamp, reason: OVERWRITTEN };
        (self.now.tail, self.now.passed) = (start.max(self.now.tail), self.now.passed.wrapping_add(lost));
        if lost == 0 {
            return Some(true);
        }
        Some(Event::from_words(&gap.words()).is_none_or(|event| each(&event)))
    }
}
