//! The application thread's end of a ring: `enter` before the program's own call, `leave` after it.
//!
//! ```text
//!   enter ──► stage in the page (what a crash leaves) ──► the program's own call ──► leave ──► slots ──► head
//!                                                                                      └─ no room: counted, told
//!                                                                                         by a gap event later
//! ```
#![allow(unsafe_code)] // slots are raw memory shared with the consumer; the protocol is head (release), tail (release)

use crate::arguments::ARGUMENT_BYTES;
use crate::clock;
use crate::event::{INTERRUPTED, NESTED_TOO_DEEP, RING_FULL};
use crate::page::{DEPTH, PAGE_BYTES, Page, Stage};
use crate::payload::Payload;
use crate::ring::SLOT_BYTES;
use crate::slot::{
    BYTES_AT, FAR_PARENT, Kind, LONG_CALL, MAX_WORDS, PARENT_BITS, RUNTIME, SLOT_WORDS, UNWOUND, WIDE,
    bytes_at, head_word, payload_at, slots_for, slots_with_bytes,
};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Word of a stage that no event uses: the stack pointer of the call's frame. A call whose frame lies no higher than that
/// of the next one was left by `longjmp`. (A jump may stay unnoticed until a hook with no larger a frame is called.)
const STACK: usize = MAX_WORDS - 1;
const _: () = assert!((STACK - payload_at(bytes_at(true))) * 8 >= ARGUMENT_BYTES);

/// Where a hook's frame lies. One that is taken deeper in the stack than the program's own call runs would make what is
/// called inside look like what follows a jump.
#[derive(Clone, Copy)]
pub struct Frame(u64);

impl Frame {
    /// A frame whose lowest address is `stack`.
    #[inline(always)]
    pub fn at(stack: u64) -> Frame {
        Frame(stack)
    }

    /// The frame of the function that this is inlined into.
    #[inline(always)]
    pub fn own() -> Frame {
        Frame(stack_pointer())
    }
}

#[inline(always)]
fn stack_pointer() -> u64 {
    let value;
    // SAFETY: copies a register.
    unsafe { core::arch::asm!("mov {}, rsp", out(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// The owning thread's end of its ring.
#[derive(Clone, Copy)]
pub struct Producer {
    page: NonNull<Page>,
}

impl Producer {
    /// # Safety
    /// `page` heads a ring whose mapping outlives every use of this producer, and the calling thread is the ring's only
    /// producer.
    #[inline(always)]
    pub unsafe fn new(page: NonNull<Page>) -> Producer {
        Producer { page }
    }

    #[inline(always)]
    fn page<'a>(self) -> &'a Page {
        // SAFETY: by the contract of `new`, the mapping outlives this producer and what it hands out.
        unsafe { self.page.as_ref() }
    }

    /// True while the thread's innermost call is one of the HIP runtime: what the runtime calls meanwhile is its own
    /// business, whichever door it comes through.
    #[inline(always)]
    pub fn is_inside_runtime(self) -> bool {
        let page = self.page();
        let depth = page.depth.load(Relaxed) as usize;
        if depth == 0 || depth > DEPTH {
            return false;
        }
        let words = &page.stages[depth - 1].words;
        // A call that was left by a jump is over.
        words[0].load(Relaxed) as u8 & RUNTIME != 0 && words[STACK].load(Relaxed) > stack_pointer()
    }

    /// Stages a call that is about to be made. `None`: too deep, and counted as lost.
    #[inline(always)]
    pub fn enter<P: Payload>(self, hook: u16, payload: &P) -> Option<Span> {
        self.enter_from(Frame::own(), hook, payload)
    }

    /// As `enter`, for a caller that is not inlined into the hook: `frame` is the hook's.
    #[inline(always)]
    pub fn enter_from<P: Payload>(self, Frame(stack): Frame, hook: u16, payload: &P) -> Option<Span> {
        let page = self.page();
        let mut depth = page.depth.load(Relaxed) as usize;
        if depth != 0 && depth <= DEPTH && page.stages[depth - 1].words[STACK].load(Relaxed) <= stack {
            depth = self.reap(stack);
        }
        let id = page.calls.load(Relaxed) + 1;
        if depth >= DEPTH {
            page.calls.store(id, Release);
            self.lose(NESTED_TOO_DEEP);
            return None;
        }
        let words = &page.stages[depth].words;
        let parent =
            if depth == 0 { 0 } else { page.stages[depth - 1].words[2].load(Relaxed) >> PARENT_BITS };
        let distance = if parent == 0 { 0 } else { (id - parent).min(FAR_PARENT) };
        let wide = P::SHORT && payload.is_wide();
        let mut bytes = 0;
        if P::BYTES {
            let to = words[payload_at(bytes_at(wide))..STACK].as_ptr().cast_mut().cast::<u8>();
            // SAFETY: `to` has the words of this thread's own stage up to `STACK`, at least `ARGUMENT_BYTES`.
            bytes = unsafe { payload.store_bytes(to) };
        }
        let slots = match bytes {
            0 if P::SHORT && !wide && distance != FAR_PARENT => 1,
            0 => slots_for(payload.words()),
            bytes => slots_with_bytes(wide, bytes),
        };
        words[0].store(head_word(P::KIND as u8 | if wide { WIDE } else { 0 }, slots, hook), Relaxed);
        words[2].store(id << PARENT_BITS | distance, Relaxed);
        words[STACK].store(stack, Relaxed);
        if slots > 1 {
            words[8].store(0, Relaxed);
            words[9].store(parent, Relaxed);
            words[10].store((bytes as u64) << BYTES_AT, Relaxed);
        }
        payload.store(|index, value| words[payload_at(index)].store(value, Relaxed));
        words[1].store(clock::now(), Relaxed);
        // Release: whoever reads the page after a crash finds the stage whole.
        page.depth.store(depth as u64 + 1, Release);
        // Release: whoever sees the call counted sees it in flight as well, until it has returned and is published.
        page.calls.store(id, Release);
        Some(Span { producer: self, depth, id })
    }

    /// Records the calls that were left by a jump: their frames lay deeper than `stack`, where another call begins now.
    #[cold]
    #[inline(never)]
    fn reap(self, stack: u64) -> usize {
        let page = self.page();
        let mut depth = page.depth.load(Relaxed).min(DEPTH as u64) as usize;
        while depth != 0 && page.stages[depth - 1].words[STACK].load(Relaxed) <= stack {
            depth -= 1;
            let id = page.stages[depth].words[2].load(Relaxed) >> PARENT_BITS;
            self.unwound(depth, id);
        }
        depth
    }

    /// Marks the ring as ended: the thread is going away and will not touch it again. Calls that are still open were left
    /// by a jump.
    pub fn end(self) {
        self.reap(u64::MAX);
        // Release: after the thread's last event.
        self.page().ended.store(1, Release);
    }

    #[cold]
    #[inline(never)]
    fn lose(self, reason: u64) {
        let page = self.page();
        let (lost, now) = (page.lost.load(Relaxed), clock::now());
        if lost == 0 {
            page.lost_first.store(now, Relaxed);
            page.lost_reason.store(reason, Relaxed);
        }
        page.lost_last.store(now, Relaxed);
        // Release: a reader that sees the count sees its span. Until then the call counts as in flight.
        page.lost.store(lost + 1, Release);
        page.limit.store(0, Relaxed);
    }

    /// Copies `slots` staged slots into the ring and publishes them.
    #[inline(always)]
    fn publish(self, stage: &Stage, slots: u64) {
        let page = self.page();
        let head = page.head.load(Relaxed);
        if head + slots > page.limit.load(Relaxed) {
            return self.publish_slowly(stage, slots);
        }
        self.write(stage, head, slots);
        // Release: the consumer that sees the new head sees the slots.
        page.head.store(head + slots, Release);
    }

    /// Word by word: a wider load would wait for the stores that have just filled the stage.
    #[inline(always)]
    fn write(self, stage: &Stage, head: u64, slots: u64) {
        let mask = self.page().slots.load(Relaxed) - 1;
        for i in 0..slots {
            let from = &stage.words[i as usize * SLOT_WORDS..][..SLOT_WORDS];
            let to = self.slot((head + i) & mask);
            for (word, from) in from.iter().enumerate() {
                // SAFETY: `to` is a slot of this ring, `SLOT_WORDS` words, that the consumer does not read (it lies at or
                // past `head`, and `limit` keeps it out of what was not read yet).
                unsafe { to.wrapping_add(word).write(from.load(Relaxed)) };
            }
        }
    }

    #[inline(always)]
    fn slot(self, index: u64) -> *mut u64 {
        let first = self.page.as_ptr().cast::<u8>().wrapping_add(PAGE_BYTES);
        first.wrapping_add(index as usize * SLOT_BYTES).cast()
    }

    /// Looks how far the consumer has come; tells of losses first; counts the event as lost if there is no room.
    #[cold]
    #[inline(never)]
    fn publish_slowly(self, stage: &Stage, slots: u64) {
        let page = self.page();
        // Acquire: the consumer has read what lies before `tail`.
        let (tail, capacity) = (page.tail.load(Acquire), page.slots.load(Relaxed));
        let lost = page.lost.load(Relaxed);
        let (mut head, limit) = (page.head.load(Relaxed), tail + capacity);
        if head + slots + (lost != 0) as u64 > limit {
            return self.lose(RING_FULL);
        }
        if lost != 0 {
            self.write_gap(head, lost);
            head += 1;
        }
        page.limit.store(limit, Relaxed);
        self.write(stage, head, slots);
        // Release: as in `publish`. Only then are the losses told; a reader knows a gap that it has read by its stamp.
        page.head.store(head + slots, Release);
        page.lost.store(0, Release);
    }

    /// The way of every event that takes more than one slot.
    #[inline(never)]
    fn complete(self, depth: usize, ticks: u64, status: i32, flags: u32) {
        let stage = self.stage(depth);
        let words = &stage.words;
        let head = words[0].load(Relaxed);
        let mut slots = head >> 8 & 0xff;
        if slots == 1 {
            slots = 2;
            let word2 = words[2].load(Relaxed);
            let distance = word2 & FAR_PARENT;
            let parent = if distance == 0 { 0 } else { (word2 >> PARENT_BITS) - distance };
            words[9].store(parent, Relaxed);
            words[10].store(0, Relaxed);
            words[11..16].iter().for_each(|word| word.store(0, Relaxed));
        }
        words[0].store((head & 0xffff_00ff) | slots << 8 | ticks.min(LONG_CALL) << 32, Relaxed);
        words[8].store(ticks, Relaxed);
        let bytes = words[10].load(Relaxed) >> BYTES_AT << BYTES_AT;
        words[10].store(status as u32 as u64 | (flags as u64) << 32 | bytes, Relaxed);
        self.publish(stage, slots);
    }

    /// The call at `depth` was left by an exception or a jump.
    #[cold]
    #[inline(never)]
    fn unwound(self, depth: usize, id: u64) {
        if !self.is_own(depth, id) {
            return self.lose(INTERRUPTED);
        }
        let ticks = clock::now().wrapping_sub(self.stage(depth).words[1].load(Relaxed));
        self.complete(depth, ticks, 0, UNWOUND);
        self.close(depth);
    }

    #[inline(always)]
    fn stage<'a>(self, depth: usize) -> &'a Stage {
        &self.page().stages[depth & (DEPTH - 1)]
    }

    /// True when the stage still holds call `id`. It does not when a signal handler on a stack of its own has called in
    /// between and was taken for what follows a jump.
    #[inline(always)]
    fn is_own(self, depth: usize, id: u64) -> bool {
        self.stage(depth).words[2].load(Relaxed) >> PARENT_BITS == id
    }

    #[inline(always)]
    fn close(self, depth: usize) {
        // Release: after the event was published.
        self.page().depth.store(depth as u64, Release);
    }

    /// Publishes an event of one slot, whose word 0 is `first`; word by word, as in `write`.
    #[inline(always)]
    fn publish_one(self, stage: &Stage, first: u64) {
        let page = self.page();
        let head = page.head.load(Relaxed);
        if head >= page.limit.load(Relaxed) {
            stage.words[0].store(first, Relaxed);
            return self.publish_slowly(stage, 1);
        }
        let to = self.slot(head & (page.slots.load(Relaxed) - 1));
        // SAFETY: `to` is a slot of this ring at `head`, below `limit`: the consumer does not read it.
        unsafe { to.write(first) };
        for i in 1..SLOT_WORDS {
            // SAFETY: as above; a slot has `SLOT_WORDS` words.
            unsafe { to.wrapping_add(i).write(stage.words[i].load(Relaxed)) };
        }
        // Release: as in `publish`.
        page.head.store(head + 1, Release);
    }

    fn write_gap(self, head: u64, lost: u64) {
        let page = self.page();
        let to = self.slot(head & (page.slots.load(Relaxed) - 1));
        let mut words = [0; SLOT_WORDS];
        words[0] = head_word(Kind::Gap as u8, 1, 0);
        words[1] = page.lost_first.load(Relaxed);
        words[payload_at(0)] = lost;
        words[payload_at(1)] = page.lost_last.load(Relaxed);
        words[payload_at(2)] = page.lost_reason.load(Relaxed);
        // SAFETY: `to` is a slot of this ring past `head`, which the consumer does not read; `words` is one slot long.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), to, SLOT_WORDS) };
    }
}

/// A call from `enter` to `leave`.
pub struct Span {
    producer: Producer,
    depth: usize,
    id: u64,
}

impl Span {
    /// Stores a payload word that was not known when the call was entered.
    #[inline(always)]
    pub fn put(&self, index: usize, value: u64) {
        self.producer.stage(self.depth).words[payload_at(index)].store(value, Relaxed);
    }

    /// Completes the event and publishes it. `returned` is the stamp of return, taken at once after the call, so that
    /// nothing of ours is counted as the program's.
    #[inline(always)]
    pub fn leave(self, returned: u64, status: i32) {
        let Span { producer, depth, id } = *std::mem::ManuallyDrop::new(self);
        let stage = producer.stage(depth);
        let ticks = returned.wrapping_sub(stage.words[1].load(Relaxed));
        let head = stage.words[0].load(Relaxed);
        if !producer.is_own(depth, id) {
            producer.lose(INTERRUPTED);
        } else if head >> 8 & 0xff == 1 && status == 0 && ticks < LONG_CALL {
            producer.publish_one(stage, head | ticks << 32);
        } else {
            producer.complete(depth, ticks, status, 0);
        }
        producer.close(depth);
    }

    /// The stamp of entry.
    pub fn entered(&self) -> u64 {
        self.producer.stage(self.depth).words[1].load(Relaxed)
    }
}

/// An exception passes through, or a jump went over it: the call is recorded as unwound.
impl Drop for Span {
    #[inline(always)]
    fn drop(&mut self) {
        self.producer.unwound(self.depth, self.id);
    }
}
