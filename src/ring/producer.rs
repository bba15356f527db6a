//! The producer end of a ring, on the application's thread: `enter` before the real call, `leave`
//! after it.
//!
//! ```text
//!   enter ─┬─► reserved in the ring (launches) ─► the real call ─► leave ─► head
//!          └─► in-flight slot (all others) ─────► the real call ─► leave ─► slots ─► head
//!                                             └─ no room: counted, a later gap event reports it
//! ```
//!
//! A call that makes no hooked calls is stored in the ring at once. One that may is stored in an
//! in-flight slot, because its event follows those of the calls inside. Either way, after a crash
//! the ring's file holds the call in flight. While an event is being stored the page's depth has
//! [`WRITING`] set: a signal handler that interrupts there and makes a hooked call counts it as
//! lost.
#![allow(unsafe_code)] // slots are raw memory shared with the consumer; the protocol is head (release), tail (release)

use crate::arguments::ARGUMENT_BYTES;
use crate::chunk::SLOT_BYTES;
use crate::clock;
use crate::event::NESTED_TOO_DEEP;
use crate::gpu::Report;
use crate::page::{COUNT, DEPTH, InFlightSlot, Page, RESERVED, WRITING};
use crate::payload::Payload;
use crate::slot::{
    BYTES_AT, FAR_PARENT, MAX_WORDS, PARENT_BITS, RUNTIME, WIDE, bytes_at, head_word, payload_at, slots_for,
    slots_with_bytes,
};
use crate::sync::fence;
use reserved::Entered;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{Ordering::SeqCst, compiler_fence};

mod guard;
mod publish;
mod reserved;

pub use guard::CallGuard;

/// Word of an in-flight slot that no event uses: the call's frame. A call whose frame is not above
/// that of the next call was abandoned by `longjmp`. (This stays unnoticed until a function is
/// called from no deeper in the stack.)
pub(crate) const STACK: usize = MAX_WORDS - 1;
/// Prefetch distance, in slots: several calls ahead.
const PREFETCH: usize = 8;
const _: () = assert!((STACK - payload_at(bytes_at(true))) * 8 >= ARGUMENT_BYTES);

/// The stack pointer with which the program entered the hook. (Not an address in the hook's own
/// frame: hooks have frames of different sizes.)
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
    /// A producer for the call of `frame`.
    ///
    /// # Safety
    /// `page` is the head of a ring whose mapping and pool outlive every use of this producer, and
    /// the calling thread is the ring's only producer.
    #[inline(always)]
    pub unsafe fn new(page: NonNull<Page>, frame: Frame) -> Producer {
        Producer { page, frame }
    }

    /// The same producer for the call of another frame.
    #[inline(always)]
    pub fn at(self, frame: Frame) -> Producer {
        Producer { frame, ..self }
    }

    #[inline(always)]
    pub(crate) fn page<'a>(self) -> &'a Page {
        // SAFETY: by the contract of `new`, the mapping outlives this producer and the references
        // it returns.
        unsafe { self.page.as_ref() }
    }

    /// A stamp, as [`clock::now`] returns it, with the source cached in the page.
    #[inline(always)]
    pub fn now(self) -> u64 {
        if self.page().tsc.load(Relaxed) == 1 { clock::tsc() } else { clock::now() }
    }

    /// Address of the event at `position` in the current chunk; the longest one fits there.
    #[inline(always)]
    pub(crate) fn slot(self, position: u64) -> *mut u64 {
        let origin = self.page().origin.load(Relaxed).wrapping_add(position * SLOT_BYTES as u64);
        std::ptr::with_exposed_provenance_mut(origin as usize)
    }

    /// Prefetches for writing the cache line `PREFETCH` slots after `slot`: the consumer has read
    /// it, perhaps on another core, and the store would wait for it.
    #[inline(always)]
    pub(crate) fn prefetch(slot: *const u64) {
        // SAFETY: a prefetch neither faults nor changes memory.
        unsafe {
            core::arch::asm!("prefetchw [{} + {}]", in(reg) slot, const PREFETCH * SLOT_BYTES, options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    pub(crate) fn in_flight_slot<'a>(self, depth: usize) -> &'a InFlightSlot {
        &self.page().in_flight[depth & (DEPTH - 1)]
    }

    /// True while the thread's innermost call is one of the HIP runtime: its internal calls are not
    /// recorded, whichever interception point they pass.
    #[inline(always)]
    pub fn is_inside_runtime(self) -> bool {
        let page = self.page();
        let depth_word = page.depth.load(Relaxed);
        depth_word != 0 && self.is_inside_runtime_call(depth_word)
    }

    /// True if the innermost of the `depth` calls in flight is one of the HIP runtime, and encloses
    /// this call.
    #[inline(always)]
    pub(crate) fn is_inside_runtime_call(self, depth_word: u64) -> bool {
        let (page, Frame(stack)) = (self.page(), self.frame);
        // An abandoned call does not enclose this one.
        if depth_word > DEPTH as u64 {
            return depth_word & (RESERVED | WRITING) == RESERVED && page.frame.load(Relaxed) > stack;
        }
        let words = &page.in_flight[depth_word as usize - 1].words;
        words[0].load(Relaxed) as u8 & RUNTIME != 0 && words[STACK].load(Relaxed) > stack
    }

    /// The id of the innermost call in flight, if it is one of the HIP runtime; else `None`.
    pub fn runtime_call_in_flight(self) -> Option<u64> {
        let page = self.page();
        let depth_word = page.depth.load(Relaxed);
        let is_one = depth_word != 0 && depth_word & WRITING == 0 && self.is_inside_runtime_call(depth_word);
        // The reserved call was entered last.
        is_one.then(|| {
            if depth_word > DEPTH as u64 {
                page.calls.load(Relaxed)
            } else {
                self.innermost(depth_word as usize)
            }
        })
    }

    /// The thread that owns the ring.
    pub fn tid(self) -> u32 {
        self.page().tid.load(Relaxed) as u32
    }

    /// Stores a report, an event without duration. `taken` is its reference stamp.
    pub fn report(self, hook: u16, report: &Report, taken: u64) {
        let Some(guard) = self.enter_in_flight(hook, report) else { return };
        let entered = guard.entered();
        let before = entered.saturating_sub(taken).min(u32::MAX.into()) as u32;
        report.store_before(before, |index, value| guard.put(index, value));
        guard.leave(entered, 0);
    }

    /// Stores a call that is about to be made. `None`: it cannot be stored and is counted as lost;
    /// or, for kinds reserved in the ring, the HIP runtime makes it inside a call of its own.
    #[inline(always)]
    pub fn enter<P: Payload>(self, hook: u16, payload: &P) -> Option<CallGuard> {
        if !P::RESERVED {
            return self.enter_in_flight(hook, payload);
        }
        match self.enter_reserved(hook, payload) {
            Entered::Reserved(guard) => Some(guard),
            Entered::InsideRuntime => None,
            Entered::Refused => self.enter_slowly(hook, *payload),
        }
    }

    /// A call that could not be reserved in the ring. By value: by reference, the payload would
    /// have to be in memory on the fast path too.
    #[cold]
    #[inline(never)]
    fn enter_slowly<P: Payload>(self, hook: u16, payload: P) -> Option<CallGuard> {
        let depth_word = self.page().depth.load(Relaxed);
        if depth_word != 0 && self.is_inside_runtime_call(depth_word) {
            return None;
        }
        self.enter_in_flight(hook, &payload)
    }

    #[inline(always)]
    fn enter_in_flight<P: Payload>(self, hook: u16, payload: &P) -> Option<CallGuard> {
        let page = self.page();
        let mut depth_word = page.depth.load(Relaxed);
        if depth_word != 0 {
            depth_word = self.revalidate(depth_word)?;
        }
        let depth = depth_word as usize;
        self.begin(self.frame, depth_word | WRITING);
        // Not earlier: a signal handler may have made calls until here.
        let id = page.calls.load(Relaxed) + 1;
        if depth >= DEPTH {
            page.calls.store(id, Release);
            self.lose(NESTED_TOO_DEEP);
            page.depth.store(depth_word, Release);
            return None;
        }
        let words = &page.in_flight[depth].words;
        let parent = self.innermost(depth);
        let distance = if parent == 0 { 0 } else { (id - parent).min(FAR_PARENT) };
        let wide = P::SHORT && payload.is_wide();
        let mut bytes = 0;
        if P::BYTES {
            let to = words[payload_at(bytes_at(wide))..STACK].as_ptr().cast_mut().cast::<u8>();
            // SAFETY: `to` points to the words of this thread's own in-flight slot up to `STACK`,
            // at least `ARGUMENT_BYTES`.
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
        // Release: after a crash, a reader of the page finds the in-flight slot complete.
        page.depth.store(depth_word + 1, Release);
        // Release: a reader that sees the call counted sees it in flight, until it has returned and
        // is published.
        page.calls.store(id, Release);
        Some(CallGuard::new(self, call))
    }

    /// Marks the thread as writing the call of `frame`.
    #[inline(always)]
    pub(crate) fn begin(self, Frame(stack): Frame, depth_word: u64) {
        let page = self.page();
        page.frame.store(stack, Relaxed);
        self.set_writing(depth_word);
    }

    /// Marks the thread as writing, with the frame that is already stored.
    #[inline(always)]
    pub(crate) fn set_writing(self, depth_word: u64) {
        // Release: a reader that sees this call being stored sees what became of the one before.
        self.page().depth.store(depth_word, Release);
        // A signal handler sees this thread's stores in program order: only the compiler must
        // preserve it.
        compiler_fence(SeqCst);
        // A reader that loads a word stored after this fence sees the thread writing, and the
        // current head, when it checks again. (No instruction on x86-64.)
        fence(Release);
    }

    /// The id of the innermost of `depth` calls in in-flight slots; 0 for none.
    #[inline(always)]
    pub(crate) fn innermost(self, depth: usize) -> u64 {
        match depth {
            0 => 0,
            depth => self.in_flight_slot(depth - 1).words[2].load(Relaxed) >> PARENT_BITS,
        }
    }

    /// True if the innermost of `depth` calls was abandoned by `longjmp`, as this call's frame
    /// shows.
    #[inline(always)]
    pub(crate) fn is_abandoned(self, depth: usize) -> bool {
        self.in_flight_slot(depth - 1).words[STACK].load(Relaxed) <= self.frame.0
    }

    /// Revalidates the calls in flight: spills a reserved one, records abandoned ones. Returns the
    /// depth; `None` if the thread is writing, and this call is counted as lost.
    #[inline(always)]
    fn revalidate(self, depth_word: u64) -> Option<u64> {
        if depth_word <= DEPTH as u64 && !self.is_abandoned(depth_word as usize) {
            return Some(depth_word);
        }
        self.revalidate_slowly()
    }

    #[cold]
    #[inline(never)]
    fn revalidate_slowly(self) -> Option<u64> {
        let page = self.page();
        let mut depth_word = page.depth.load(Relaxed);
        if depth_word & WRITING != 0 {
            if page.frame.load(Relaxed) > self.frame.0 {
                self.lose_interrupting();
                return None;
            }
            // A signal handler has jumped out of here: an event that was being stored is not a call
            // yet, and one that was being published still is.
            depth_word &= !WRITING;
        }
        if depth_word & RESERVED != 0 {
            depth_word = self.spill();
        }
        let mut depth = (depth_word & COUNT).min(DEPTH as u64) as usize;
        while depth != 0 && self.is_abandoned(depth) {
            depth -= 1;
            self.unwound(depth);
        }
        Some(depth as u64)
    }

    /// The in-flight slot of the call with this word 2. `None` if it is reserved in the ring, or no
    /// longer in flight: a signal handler on its own stack looked like a jump, and the call was
    /// recorded then.
    #[inline(always)]
    pub(crate) fn depth_of(self, call: u64) -> Option<usize> {
        let depth_word = self.page().depth.load(Relaxed) as usize;
        let innermost = depth_word.wrapping_sub(1);
        if innermost < DEPTH && self.in_flight_slot(innermost).words[2].load(Relaxed) == call {
            return Some(innermost);
        }
        self.find(call)
    }

    #[cold]
    #[inline(never)]
    fn find(self, call: u64) -> Option<usize> {
        let depth_word = self.page().depth.load(Relaxed);
        let staged = (depth_word & COUNT) as usize - usize::from(depth_word & RESERVED != 0);
        (0..staged.min(DEPTH)).rev().find(|depth| self.in_flight_slot(*depth).words[2].load(Relaxed) == call)
    }

    /// The call with this word 2 returns: the calls in flight inside it were abandoned by
    /// `longjmp`.
    #[cold]
    #[inline(never)]
    pub(crate) fn close_inner(self, call: u64) {
        let page = self.page();
        let mut depth_word = page.depth.load(Relaxed) & !WRITING;
        page.depth.store(depth_word, Relaxed);
        if depth_word & RESERVED != 0 {
            depth_word = self.spill();
        }
        let Some(depth) = self.find(call) else { return };
        for inner in (depth + 1..depth_word as usize).rev() {
            self.unwound(inner);
        }
    }

    /// Marks the ring as ended: the thread will not touch it again. Calls still in flight were
    /// abandoned by `longjmp`.
    pub fn end(self) {
        self.at(Frame(u64::MAX)).revalidate_slowly();
        // Release: after the thread's last event.
        self.page().ended.store(1, Release);
    }
}
