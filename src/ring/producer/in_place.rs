//! The way of a launch: stored before the call in the slots where it stays, finished and published after it.
//!
//! Nothing else may take those slots meanwhile. A call inside (rare: what the runtime calls is its own business) moves the
//! event to a stage first, and it goes on as if it had been staged.
#![allow(unsafe_code)] // writes to slots past the head, which no consumer reads

use super::{Producer, STACK, Span};
use crate::clock;
use crate::page::{BUSY, COUNT, DEPTH, IN_PLACE};
use crate::payload::Payload;
use crate::slot::{
    BYTES_AT, FAR_PARENT, LONG_CALL, PARENT_BITS, SLOT_WORDS, bytes_at, head_word, payload_at,
    slots_with_bytes,
};
use crate::sync;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// What became of a call that was to be stored in its place.
pub(crate) enum Entered {
    /// It is.
    Is(Span),
    /// The HIP runtime makes it, inside a call of its own.
    Inside,
    /// It must be staged, or lost; or it lies in another that is stored in its place.
    Not,
}

impl Producer {
    /// Stores a call where it stays.
    #[inline(always)]
    pub(crate) fn enter_in_place<P: Payload>(self, hook: u16, payload: &P) -> Entered {
        let page = self.page();
        let open = page.open.load(Relaxed);
        if payload.is_wide() {
            return Entered::Not;
        }
        if open != 0 {
            if open >= DEPTH as u64 || self.was_left(open as usize) {
                return Entered::Not;
            }
            if self.is_open_runtime(open) {
                return Entered::Inside;
            }
        }
        self.begin(self.frame, open | BUSY);
        // Only now: until then a signal handler may have made calls of its own.
        let (head, id) = (page.head.load(Relaxed), page.calls.load(Relaxed) + 1);
        let distance = if open == 0 { 0 } else { id - self.innermost(open as usize) };
        if head >= page.limit.load(Relaxed) || distance >= FAR_PARENT {
            page.open.store(open, Release);
            return Entered::Not;
        }
        let (slot, call) = (self.slot(head), id << PARENT_BITS | distance);
        let put = |word: usize, value: u64| {
            debug_assert!(word < 2 * SLOT_WORDS, "words of the first two slots");
            // SAFETY: the slots from `head` on are this thread's, and from any slot on there is room for the longest event.
            unsafe { sync::write(slot.wrapping_add(word), value) };
        };
        Producer::fetch_ahead(slot);
        put(2, call);
        // SAFETY: the words from `payload_at(0)` to the end of the slot are five.
        unsafe { payload.store_in_place(slot.wrapping_add(payload_at(0))) };
        let mut slots = 1;
        if P::BYTES {
            // SAFETY: as in `put`.
            let bytes = unsafe { payload.store_bytes(slot.wrapping_add(payload_at(bytes_at(false))).cast()) };
            if bytes != 0 {
                slots = slots_with_bytes(false, bytes);
                (1..slots as usize)
                    .for_each(|more| Producer::fetch_ahead(slot.wrapping_add(more * SLOT_WORDS)));
                put(10, (bytes as u64) << BYTES_AT);
            }
        }
        put(0, head_word(P::KIND as u8, slots, hook));
        // A machine with another clock never comes here: see `limit_of`.
        put(1, clock::tsc());
        // Release: whoever sees the call counted, or reads the page after a crash, finds the event whole.
        page.open.store((open | IN_PLACE) + 1, Release);
        page.calls.store(id, Release);
        Entered::Is(Span::new(self, call))
    }

    /// Finishes and publishes the event in its place. False when it does not lie there (any more).
    #[inline(always)]
    pub(crate) fn leave_in_place(self, call: u64, returned: u64, status: i32) -> bool {
        let page = self.page();
        let open = page.open.load(Relaxed);
        if open & IN_PLACE == 0 {
            return false;
        }
        self.set_busy(open | BUSY);
        let head = page.head.load(Relaxed);
        let slot = self.slot(head);
        // SAFETY: the slots from `head` on are this thread's, and all of them are mapped.
        let word = |index: usize| unsafe { sync::read(slot.wrapping_add(index)) };
        if word(2) != call {
            // It is another's, that was left by a jump; or a signal handler has moved it since `open` was looked at.
            self.close_inner(call);
            return false;
        }
        let (first, ticks) = (word(0), returned.wrapping_sub(word(1)));
        if status != 0 || ticks >= LONG_CALL {
            self.leave_wider(ticks, status);
        } else {
            // SAFETY: as above.
            unsafe { sync::write(slot, first | ticks << 32) };
            // Release: the consumer that sees the new head sees the slots.
            page.head.store(head + (first >> 8 & 0xff), Release);
        }
        // Release: after the event was published.
        page.open.store((open & COUNT) - 1, Release);
        true
    }

    /// What does not fit slot 0 is told in slot 1.
    #[cold]
    #[inline(never)]
    fn leave_wider(self, ticks: u64, status: i32) {
        let open = self.move_out();
        self.complete(open as usize - 1, ticks, status, 0);
    }

    /// The stamp of entry of the call with this word 2.
    pub(crate) fn stamp(self, call: u64) -> u64 {
        match self.depth_of(call) {
            Some(depth) => self.stage(depth).words[1].load(Relaxed),
            // SAFETY: word 1 of a slot, all of which are mapped.
            None => unsafe { sync::read(self.slot(self.page().head.load(Relaxed)).wrapping_add(1)) },
        }
    }

    /// Moves the event that lies in its place to the stage that it would have had. Gives how many are staged then.
    #[cold]
    #[inline(never)]
    pub(crate) fn move_out(self) -> u64 {
        let page = self.page();
        let open = page.open.load(Relaxed) & COUNT;
        let stage = self.stage((open as usize).wrapping_sub(1));
        let from = self.slot(page.head.load(Relaxed));
        // SAFETY: word 2 of a slot, all of which are mapped.
        if unsafe { sync::read(from.wrapping_add(2)) } >> PARENT_BITS != page.calls.load(Relaxed) {
            // It was published, and a signal handler has jumped out of here before that was noted.
            page.open.store(open - 1, Release);
            return open - 1;
        }
        for (index, word) in stage.words[..STACK].iter().enumerate() {
            // SAFETY: from any slot on, the longest event lies within the mapping.
            word.store(unsafe { sync::read(from.wrapping_add(index)) }, Relaxed);
        }
        stage.words[STACK].store(page.frame.load(Relaxed), Relaxed);
        // Release: the stage is whole.
        page.open.store(open, Release);
        open
    }
}
