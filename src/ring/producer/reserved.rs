//! The fast path of a launch: its event is reserved in the ring before the call, and completed and
//! published after it.
//!
//! No other event may take those slots meanwhile. A hooked call inside (rare, because the runtime's
//! internal calls are not recorded) first spills the event to an in-flight slot, where it
//! continues.
#![allow(unsafe_code)] // writes to slots past the head, which no consumer reads

use super::{CallGuard, Producer, STACK};
use crate::clock;
use crate::page::{COUNT, DEPTH, RESERVED, WRITING};
use crate::payload::Payload;
use crate::slot::{
    BYTES_AT, FAR_PARENT, LONG_CALL, PARENT_BITS, SLOT_WORDS, bytes_at, head_word, payload_at,
    slots_with_bytes,
};
use crate::sync;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// Result of the attempt to reserve a call in the ring.
pub(crate) enum Entered {
    /// It is reserved.
    Reserved(CallGuard),
    /// The HIP runtime makes it, inside a call of its own.
    InsideRuntime,
    /// It needs an in-flight slot, or is lost; or a reserved call encloses it.
    Refused,
}

impl Producer {
    /// Stores a call in slots reserved in the ring.
    #[inline(always)]
    pub(crate) fn enter_reserved<P: Payload>(self, hook: u16, payload: &P) -> Entered {
        let page = self.page();
        let depth_word = page.depth.load(Relaxed);
        if payload.is_wide() {
            return Entered::Refused;
        }
        if depth_word != 0 {
            if depth_word >= DEPTH as u64 || self.is_abandoned(depth_word as usize) {
                return Entered::Refused;
            }
            if self.is_inside_runtime_call(depth_word) {
                return Entered::InsideRuntime;
            }
        }
        self.begin(self.frame, depth_word | WRITING);
        // Not earlier: a signal handler may have made calls until here.
        let (head, id) = (page.head.load(Relaxed), page.calls.load(Relaxed) + 1);
        let distance = if depth_word == 0 { 0 } else { id - self.innermost(depth_word as usize) };
        if head >= page.limit.load(Relaxed) || distance >= FAR_PARENT {
            page.depth.store(depth_word, Release);
            return Entered::Refused;
        }
        let (slot, call) = (self.slot(head), id << PARENT_BITS | distance);
        let put = |word: usize, value: u64| {
            debug_assert!(word < 2 * SLOT_WORDS, "words of the first two slots");
            // SAFETY: the slots from `head` on belong to this thread, and the longest event fits
            // from any slot at which an event may begin.
            unsafe { sync::write(slot.wrapping_add(word), value) };
        };
        Producer::prefetch(slot);
        put(2, call);
        // SAFETY: from `payload_at(0)` to the end of the slot there are five words, all of this
        // thread's slot.
        unsafe { payload.store_reserved(slot.wrapping_add(payload_at(0))) };
        let mut slots = 1;
        if P::BYTES {
            // SAFETY: the slots from `head` on belong to this thread, and after the first two
            // slots' payload there are `ARGUMENT_BYTES`.
            let bytes = unsafe { payload.store_bytes(slot.wrapping_add(payload_at(bytes_at(false))).cast()) };
            if bytes != 0 {
                slots = slots_with_bytes(false, bytes);
                (1..slots as usize).for_each(|more| Producer::prefetch(slot.wrapping_add(more * SLOT_WORDS)));
                put(10, (bytes as u64) << BYTES_AT);
            }
        }
        put(0, head_word(P::KIND as u8, slots, hook));
        // Not reached on a machine without a TSC: see `limit_of`.
        put(1, clock::tsc());
        // Release: a reader that sees the call counted, or reads the page after a crash, finds the
        // event complete.
        page.depth.store((depth_word | RESERVED) + 1, Release);
        page.calls.store(id, Release);
        Entered::Reserved(CallGuard::new(self, call))
    }

    /// Completes and publishes the reserved event. False if it is not reserved (any more).
    #[inline(always)]
    pub(crate) fn leave_reserved(self, call: u64, returned: u64, status: i32) -> bool {
        let page = self.page();
        let depth_word = page.depth.load(Relaxed);
        if depth_word & RESERVED == 0 {
            return false;
        }
        self.set_writing(depth_word | WRITING);
        let head = page.head.load(Relaxed);
        let slot = self.slot(head);
        // SAFETY: the slots from `head` on belong to this thread and are mapped.
        let word = |index: usize| unsafe { sync::read(slot.wrapping_add(index)) };
        if word(2) != call {
            // It is the event of another call that was abandoned by `longjmp`; or a signal handler
            // has spilled this one since `depth` was loaded.
            self.close_inner(call);
            return false;
        }
        let (first, ticks) = (word(0), returned.wrapping_sub(word(1)));
        if status != 0 || ticks >= LONG_CALL {
            self.leave_wide(ticks, status);
        } else {
            // SAFETY: word 0 of the reserved slot, which belongs to this thread and is mapped.
            unsafe { sync::write(slot, first | ticks << 32) };
            // Release: the consumer that sees the new head sees the slots.
            page.head.store(head + (first >> 8 & 0xff), Release);
        }
        // Release: after the event was published.
        page.depth.store((depth_word & COUNT) - 1, Release);
        true
    }

    /// Completes an event whose status or duration does not fit slot 0.
    #[cold]
    #[inline(never)]
    fn leave_wide(self, ticks: u64, status: i32) {
        let depth_word = self.spill();
        self.complete(depth_word as usize - 1, ticks, status, 0);
    }

    /// The stamp of entry of the call with this word 2.
    pub(crate) fn stamp(self, call: u64) -> u64 {
        match self.depth_of(call) {
            Some(depth) => self.in_flight_slot(depth).words[1].load(Relaxed),
            // SAFETY: word 1 of the slot at the head, which is mapped.
            None => unsafe { sync::read(self.slot(self.page().head.load(Relaxed)).wrapping_add(1)) },
        }
    }

    /// Spills the reserved event to the in-flight slot of its depth. Returns how many calls are in
    /// in-flight slots then.
    #[cold]
    #[inline(never)]
    pub(crate) fn spill(self) -> u64 {
        let page = self.page();
        let depth_word = page.depth.load(Relaxed) & COUNT;
        let stage = self.in_flight_slot((depth_word as usize).wrapping_sub(1));
        let from = self.slot(page.head.load(Relaxed));
        // SAFETY: word 2 of the slot at the head, which is mapped.
        if unsafe { sync::read(from.wrapping_add(2)) } >> PARENT_BITS != page.calls.load(Relaxed) {
            // It was published, and a signal handler jumped out of here before `depth` was updated.
            page.depth.store(depth_word - 1, Release);
            return depth_word - 1;
        }
        for (index, word) in stage.words[..STACK].iter().enumerate() {
            // SAFETY: the longest event from this slot on is within the mapping.
            word.store(unsafe { sync::read(from.wrapping_add(index)) }, Relaxed);
        }
        stage.words[STACK].store(page.frame.load(Relaxed), Relaxed);
        // Release: the in-flight slot is complete.
        page.depth.store(depth_word, Release);
        depth_word
    }
}
