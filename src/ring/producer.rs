//! The application thread's end of a ring: `enter` before the program's own call, `leave` after it.
//!
//! ```text
//!   enter ─┬─► in its place in the ring (launches) ─► the program's own call ─► leave ─► head
//!          └─► in a stage of the page (all else) ───► the program's own call ─► leave ─► slots ─► head
//!                                                                                 └─ no room: counted, told
//!                                                                                    by a gap event later
//! ```
//!
//! A call that will not make others is stored where it stays; one that may is staged, because its event follows those of
//! the calls inside. Either way a crash leaves the call in flight in the ring's file. While an event is being stored the
//! page says [`BUSY`]: a signal handler that interrupts it there and makes a call of its own counts that as lost.
#![allow(unsafe_code)] // slots are raw memory shared with the consumer; the protocol is head (release), tail (release)

use crate::arguments::ARGUMENT_BYTES;
use crate::chunk::SLOT_BYTES;
use crate::clock;
use crate::event::NESTED_TOO_DEEP;
use crate::gpu::Report;
use crate::page::{BUSY, COUNT, DEPTH, IN_PLACE, Page, Stage};
use crate::payload::Payload;
use crate::slot::{
    BYTES_AT, FAR_PARENT, MAX_WORDS, PARENT_BITS, RUNTIME, WIDE, bytes_at, head_word, payload_at, slots_for,
    slots_with_bytes,
};
use crate::sync::fence;
use in_place::Entered;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{Ordering::SeqCst, compiler_fence};

mod in_place;
mod publish;
mod span;

pub use span::Span;

/// Word of a stage that no event uses: where the call's frame lies. A call whose frame lies no higher than that of the next
/// one was left by `longjmp`. (A jump may stay unnoticed until a function is called from no deeper in the stack.)
pub(crate) const STACK: usize = MAX_WORDS - 1;
/// How many slots before an event is stored there its line is asked for: some calls' time.
const AHEAD: usize = 8;
const _: () = assert!((STACK - payload_at(bytes_at(true))) * 8 >= ARGUMENT_BYTES);

/// Where the frame of a hooked call lies: the stack pointer with which the program has entered the hook. (Not an address in
/// the hook's own frame: hooks have frames of all sizes.)
#[derive(Clone, Copy)]
pub struct Frame(pub(crate) u64);

impl Frame {
    /// The frame of a call that was entered with this stack pointer.
    #[inline(always)]
    pub fn at(stack: u64) -> Frame {
        Frame(stack)
    }
}

/// The owning thread's end of its ring, for one call.
#[derive(Clone, Copy)]
pub struct Producer {
    page: NonNull<Page>,
    frame: Frame,
}

impl Producer {
    /// For the call of `frame`.
    ///
    /// # Safety
    /// `page` heads a ring whose mapping and whose pool outlive every use of this producer, and the calling thread is the
    /// ring's only producer.
    #[inline(always)]
    pub unsafe fn new(page: NonNull<Page>, frame: Frame) -> Producer {
        Producer { page, frame }
    }

    /// The same for the call of another frame.
    #[inline(always)]
    pub fn at(self, frame: Frame) -> Producer {
        Producer { frame, ..self }
    }

    #[inline(always)]
    pub(crate) fn page<'a>(self) -> &'a Page {
        // SAFETY: by the contract of `new`, the mapping outlives this producer and what it hands out.
        unsafe { self.page.as_ref() }
    }

    /// A stamp, as [`clock::now`] gives it, from what the thread has at hand.
    #[inline(always)]
    pub fn now(self) -> u64 {
        if self.page().tsc.load(Relaxed) == 1 { clock::tsc() } else { clock::now() }
    }

    /// The words of the event that begins at `position` in the current chunk: the longest one fits there.
    #[inline(always)]
    pub(crate) fn slot(self, position: u64) -> *mut u64 {
        let origin = self.page().origin.load(Relaxed).wrapping_add(position * SLOT_BYTES as u64);
        std::ptr::with_exposed_provenance_mut(origin as usize)
    }

    /// Asks for the cache line `AHEAD` slots on from `slot`: the consumer has read it, perhaps on another core, and a store
    /// would wait for it.
    #[inline(always)]
    pub(crate) fn fetch_ahead(slot: *const u64) {
        // SAFETY: a hint, which neither faults nor changes what is there.
        unsafe {
            core::arch::asm!("prefetchw [{} + {}]", in(reg) slot, const AHEAD * SLOT_BYTES, options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    pub(crate) fn stage<'a>(self, depth: usize) -> &'a Stage {
        &self.page().stages[depth & (DEPTH - 1)]
    }

    /// True while the thread's innermost call is one of the HIP runtime: what the runtime calls meanwhile is its own
    /// business, whichever interception point it comes through.
    #[inline(always)]
    pub fn is_inside_runtime(self) -> bool {
        let page = self.page();
        let open = page.open.load(Relaxed);
        open != 0 && self.is_open_runtime(open)
    }

    /// True when the innermost of the `open` calls is one of the HIP runtime that this call lies in.
    #[inline(always)]
    pub(crate) fn is_open_runtime(self, open: u64) -> bool {
        let (page, Frame(stack)) = (self.page(), self.frame);
        // A call that was left by a jump is over.
        if open > DEPTH as u64 {
            return open & (IN_PLACE | BUSY) == IN_PLACE && page.frame.load(Relaxed) > stack;
        }
        let words = &page.stages[open as usize - 1].words;
        words[0].load(Relaxed) as u8 & RUNTIME != 0 && words[STACK].load(Relaxed) > stack
    }

    /// The number of the innermost call that is open, where that is one of the HIP runtime; `None` where it is not.
    pub fn open_runtime_call(self) -> Option<u64> {
        let page = self.page();
        let open = page.open.load(Relaxed);
        let is_one = open != 0 && open & BUSY == 0 && self.is_open_runtime(open);
        // The one that lies in its place was entered last.
        is_one.then(|| {
            if open > DEPTH as u64 { page.calls.load(Relaxed) } else { self.innermost(open as usize) }
        })
    }

    /// The thread that the ring is of.
    pub fn tid(self) -> u32 {
        self.page().tid.load(Relaxed) as u32
    }

    /// Stores a report, which takes no time. `taken` is the stamp that it is told by.
    pub fn report(self, hook: u16, report: &Report, taken: u64) {
        let Some(span) = self.enter_stage(hook, report) else { return };
        let entered = span.entered();
        let before = entered.saturating_sub(taken).min(u32::MAX.into()) as u32;
        report.store_before(before, |index, value| span.put(index, value));
        span.leave(entered, 0);
    }

    /// Stores a call that is about to be made. `None`: it cannot be, and is counted as lost; or, of the kinds that are stored
    /// in their place, the HIP runtime makes it, inside a call of its own.
    #[inline(always)]
    pub fn enter<P: Payload>(self, hook: u16, payload: &P) -> Option<Span> {
        if !P::IN_PLACE {
            return self.enter_stage(hook, payload);
        }
        match self.enter_in_place(hook, payload) {
            Entered::Is(span) => Some(span),
            Entered::Inside => None,
            Entered::Not => self.enter_slowly(hook, *payload),
        }
    }

    /// A call that could not be stored in its place. By value: else the payload would have to lie in memory on the other way
    /// too.
    #[cold]
    #[inline(never)]
    fn enter_slowly<P: Payload>(self, hook: u16, payload: P) -> Option<Span> {
        let open = self.page().open.load(Relaxed);
        if open != 0 && self.is_open_runtime(open) {
            return None;
        }
        self.enter_stage(hook, &payload)
    }

    #[inline(always)]
    fn enter_stage<P: Payload>(self, hook: u16, payload: &P) -> Option<Span> {
        let page = self.page();
        let mut open = page.open.load(Relaxed);
        if open != 0 {
            open = self.settle(open)?;
        }
        let depth = open as usize;
        self.begin(self.frame, open | BUSY);
        // Only now: until then a signal handler may have made calls of its own.
        let id = page.calls.load(Relaxed) + 1;
        if depth >= DEPTH {
            page.calls.store(id, Release);
            self.lose(NESTED_TOO_DEEP);
            page.open.store(open, Release);
            return None;
        }
        let words = &page.stages[depth].words;
        let parent = self.innermost(depth);
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
        let call = id << PARENT_BITS | distance;
        words[2].store(call, Relaxed);
        words[STACK].store(self.frame.0, Relaxed);
        if slots > 1 {
            words[9].store(parent, Relaxed);
            words[10].store((bytes as u64) << BYTES_AT, Relaxed);
        }
        payload.store(|index, value| words[payload_at(index)].store(value, Relaxed));
        words[1].store(clock::now(), Relaxed);
        // Release: whoever reads the page after a crash finds the stage whole.
        page.open.store(open + 1, Release);
        // Release: whoever sees the call counted sees it in flight as well, until it has returned and is published.
        page.calls.store(id, Release);
        Some(Span::new(self, call))
    }

    /// From now on the thread is busy with the call of `frame`.
    #[inline(always)]
    pub(crate) fn begin(self, Frame(stack): Frame, open: u64) {
        let page = self.page();
        page.frame.store(stack, Relaxed);
        self.set_busy(open);
    }

    /// From now on the thread is busy, with the frame that is known.
    #[inline(always)]
    pub(crate) fn set_busy(self, open: u64) {
        // Release: what became of the call before is known to whoever sees that this one is being stored.
        self.page().open.store(open, Release);
        // A signal handler sees this thread's stores in the order of its instructions: only the compiler must keep it.
        compiler_fence(SeqCst);
        // Whoever reads a word that is stored from here on, sees the thread busy, and the head as it is, when it looks again.
        // (No instruction on x86-64.)
        fence(Release);
    }

    /// The id of the innermost call when `depth` are staged; 0 for none.
    #[inline(always)]
    pub(crate) fn innermost(self, depth: usize) -> u64 {
        match depth {
            0 => 0,
            depth => self.stage(depth - 1).words[2].load(Relaxed) >> PARENT_BITS,
        }
    }

    /// True when the innermost of `depth` staged calls was left by a jump, as this call's frame shows.
    #[inline(always)]
    pub(crate) fn was_left(self, depth: usize) -> bool {
        self.stage(depth - 1).words[STACK].load(Relaxed) <= self.frame.0
    }

    /// Brings the page into the state that this call finds it in: all open calls staged, those that were left by a
    /// jump recorded. Gives how many are open; `None` when the thread is busy, and the call is counted as lost.
    #[inline(always)]
    fn settle(self, open: u64) -> Option<u64> {
        if open <= DEPTH as u64 && !self.was_left(open as usize) {
            return Some(open);
        }
        self.settle_slowly()
    }

    #[cold]
    #[inline(never)]
    fn settle_slowly(self) -> Option<u64> {
        let page = self.page();
        let mut open = page.open.load(Relaxed);
        if open & BUSY != 0 {
            if page.frame.load(Relaxed) > self.frame.0 {
                self.lose_interrupting();
                return None;
            }
            // A signal handler has jumped out of here: what was begun to be stored is no call yet, and one that was being
            // published still is.
            open &= !BUSY;
        }
        if open & IN_PLACE != 0 {
            open = self.move_out();
        }
        let mut depth = (open & COUNT).min(DEPTH as u64) as usize;
        while depth != 0 && self.was_left(depth) {
            depth -= 1;
            self.unwound(depth);
        }
        Some(depth as u64)
    }

    /// The stage in which the call with this word 2 lies. `None` when it lies in its place, or is not open any more: a signal
    /// handler on a stack of its own was taken for what follows a jump, and the call was recorded then.
    #[inline(always)]
    pub(crate) fn depth_of(self, call: u64) -> Option<usize> {
        let open = self.page().open.load(Relaxed) as usize;
        let innermost = open.wrapping_sub(1);
        if innermost < DEPTH && self.stage(innermost).words[2].load(Relaxed) == call {
            return Some(innermost);
        }
        self.find(call)
    }

    #[cold]
    #[inline(never)]
    fn find(self, call: u64) -> Option<usize> {
        let open = self.page().open.load(Relaxed);
        let staged = (open & COUNT) as usize - usize::from(open & IN_PLACE != 0);
        (0..staged.min(DEPTH)).rev().find(|depth| self.stage(*depth).words[2].load(Relaxed) == call)
    }

    /// The call with this word 2 returns: what is open inside it was left by a jump.
    #[cold]
    #[inline(never)]
    pub(crate) fn close_inner(self, call: u64) {
        let page = self.page();
        let mut open = page.open.load(Relaxed) & !BUSY;
        page.open.store(open, Relaxed);
        if open & IN_PLACE != 0 {
            open = self.move_out();
        }
        let Some(depth) = self.find(call) else { return };
        for inner in (depth + 1..open as usize).rev() {
            self.unwound(inner);
        }
    }

    /// Marks the ring as ended: the thread is going away and will not touch it again. Calls that are still open were left
    /// by a jump.
    pub fn end(self) {
        self.at(Frame(u64::MAX)).settle_slowly();
        // Release: after the thread's last event.
        self.page().ended.store(1, Release);
    }
}
