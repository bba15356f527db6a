//! Publishes events from in-flight slots to the ring, takes chunks, and counts losses.
#![allow(unsafe_code)] // writes to slots past the head, which no consumer reads; errno

use super::{Frame, Producer, STACK};
use crate::chunk::{CHUNK_SLOTS, Chunk, SLOT_BYTES};
use crate::clock;
use crate::event::{Gap, INTERRUPTED, RING_FULL};
use crate::page::{COUNT, InFlightSlot, Loss, REASONS, WRITING, WhenFull, limit_of};
use crate::pool::Pool;
use crate::slot::{BYTES_AT, FAR_PARENT, LONG_CALL, PARENT_BITS, SLOT_WORDS, UNWOUND};
use crate::sync::{self, Deadline};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

impl Producer {
    /// Completes the event with this word 2 in its in-flight slot, and publishes it.
    #[inline(always)]
    pub(crate) fn leave_in_flight(self, call: u64, returned: u64, status: i32) {
        let Some(depth) = self.depth_of(call) else { return };
        let (stage, depth_word) = (self.in_flight_slot(depth), depth as u64 + 1);
        if self.page().depth.load(Relaxed) != depth_word {
            self.close_inner(call);
        }
        self.begin(Frame::at(stage.words[STACK].load(Relaxed)), depth_word | WRITING);
        let ticks = returned.wrapping_sub(stage.words[1].load(Relaxed));
        let head = stage.words[0].load(Relaxed);
        if head >> 8 & 0xff == 1 && status == 0 && ticks < LONG_CALL {
            self.publish_one(stage, head | ticks << 32);
        } else {
            self.complete(depth, ticks, status, 0);
        }
        // Release: after the event was published.
        self.page().depth.store(depth as u64, Release);
    }

    /// An exception leaves the call with this word 2.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_unwound(self, call: u64) {
        self.close_inner(call);
        if let Some(depth) = self.depth_of(call) {
            self.unwound(depth);
        }
    }

    /// Completes and publishes the in-flight event at `depth`, of more than one slot.
    #[inline(never)]
    pub(crate) fn complete(self, depth: usize, ticks: u64, status: i32, flags: u32) {
        let stage = self.in_flight_slot(depth);
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

    /// Copies `slots` slots from the in-flight slot into the ring and publishes them.
    #[inline(always)]
    fn publish(self, stage: &InFlightSlot, slots: u64) {
        let page = self.page();
        let head = page.head.load(Relaxed);
        if head >= page.limit.load(Relaxed) {
            return self.publish_slowly(stage, slots);
        }
        self.write(stage, head, slots);
        // Release: the consumer that sees the new head sees the slots.
        page.head.store(head + slots, Release);
    }

    /// Word by word: a wider load would wait for the recent stores to the in-flight slot (store
    /// forwarding).
    #[inline(always)]
    fn write(self, stage: &InFlightSlot, head: u64, slots: u64) {
        let to = self.slot(head);
        for (slot, words) in
            stage.words[..slots as usize * SLOT_WORDS].as_chunks::<SLOT_WORDS>().0.iter().enumerate()
        {
            let to = to.wrapping_add(slot * SLOT_WORDS);
            Producer::prefetch(to);
            for (word, from) in words.iter().enumerate() {
                // SAFETY: `to` and the following slots belong to this ring's chunk and are at or
                // past `head`, so the consumer does not read them; the longest event fits.
                unsafe { sync::write(to.wrapping_add(word), from.load(Relaxed)) };
            }
        }
    }

    /// Publishes an event of one slot, whose word 0 is `first`; word by word, as in `write`.
    #[inline(always)]
    fn publish_one(self, stage: &InFlightSlot, first: u64) {
        let page = self.page();
        let head = page.head.load(Relaxed);
        if head >= page.limit.load(Relaxed) {
            stage.words[0].store(first, Relaxed);
            return self.publish_slowly(stage, 1);
        }
        let to = self.slot(head);
        Producer::prefetch(to);
        // SAFETY: `to` is the slot at `head`, below `limit`, in this ring's chunk: the consumer
        // does not read it.
        unsafe { sync::write(to, first) };
        for i in 1..SLOT_WORDS {
            // SAFETY: word `i` of the slot at `head`, below `SLOT_WORDS`: the consumer does not
            // read it.
            unsafe { sync::write(to.wrapping_add(i), stage.words[i].load(Relaxed)) };
        }
        // Release: the consumer that sees the new head sees the slot.
        page.head.store(head + 1, Release);
    }

    /// The slow path of publishing: takes a new chunk if the current one is full, reports losses
    /// first, and counts the event as lost if there is no chunk.
    #[cold]
    #[inline(never)]
    fn publish_slowly(self, stage: &InFlightSlot, slots: u64) {
        let page = self.page();
        let unreported = page.losses.each_ref().map(Loss::unreported);
        let gaps = unreported.iter().filter(|unreported| **unreported != 0).count() as u64;
        let mut head = page.head.load(Relaxed);
        if head + gaps >= page.chunk_end.load(Relaxed) && !self.take_chunk(gaps != 0) {
            return self.lose(page.why_full.load(Relaxed));
        }
        for (reason, lost) in unreported.iter().enumerate().filter(|(_, unreported)| **unreported != 0) {
            self.write_gap(head, reason, *lost);
            head += 1;
        }
        page.limit.store(limit_of(page.chunk_end.load(Relaxed)), Relaxed);
        self.write(stage, head, slots);
        for (loss, unreported) in page.losses.iter().zip(unreported) {
            loss.reported.store(loss.reported.load(Relaxed) + unreported, Relaxed);
        }
        // Release: the consumer that sees the new head sees the slots.
        page.head.store(head + slots, Release);
    }

    /// Takes the ring's first chunk, if there is one.
    pub(crate) fn begin_ring(self) {
        let page = self.page();
        if self.take_chunk(true) {
            page.limit.store(limit_of(page.chunk_end.load(Relaxed)), Relaxed);
        }
    }

    /// Continues in another chunk; false if there is none.
    fn take_chunk(self, is_losing: bool) -> bool {
        let page = self.page();
        let address = page.pool.load(Relaxed) as usize;
        // SAFETY: `address` is that of the pool, which by the contract of `new` outlives this
        // producer.
        let pool: &Pool = unsafe { &*std::ptr::with_exposed_provenance(address) };
        let when_full = WhenFull::of(page);
        let take = || {
            let own = page.taken.load(Relaxed).saturating_sub(page.given.load(Relaxed));
            keeping_errno(|| pool.take(own, when_full))
                .inspect(|_| page.taken.store(page.taken.load(Relaxed) + 1, Relaxed))
                .or_else(|| self.current_if_read(pool, when_full))
        };
        // A thread that waited in vain does not wait again before there is room; and none waits for
        // a disk.
        let can_wait = || when_full == WhenFull::Wait && page.why_full.load(Relaxed) == RING_FULL;
        let taken = match take() {
            None if when_full == WhenFull::Overwrite => return self.take_oldest(pool),
            None if !is_losing && can_wait() => wait_for(take, can_wait),
            taken => taken,
        };
        taken.inspect(|chunk| self.continue_in(pool, *chunk)).is_some()
    }

    /// The current chunk, if all of it was read: it can be refilled.
    fn current_if_read(self, pool: &Pool, when_full: WhenFull) -> Option<Chunk<'_>> {
        let page = self.page();
        // Acquire: what is before `tail` was read.
        let is_read = page.tail.load(Acquire) == page.head.load(Relaxed);
        pool.chunk(page.chunk.load(Relaxed)).filter(|_| is_read && when_full != WhenFull::Overwrite)
    }

    /// Overwrites the oldest chunk of this ring, which may be the current one. False if it has
    /// none.
    fn take_oldest(self, pool: &Pool) -> bool {
        let page = self.page();
        let Some(oldest) = pool.chunk(page.first.load(Relaxed)) else { return false };
        let next = oldest.next().map_or(oldest.number, |(next, _)| next);
        // Release: a reader that finds the chunk reused finds the new first chunk; see
        // `Chunk::begin`.
        page.first.store(next, Release);
        self.continue_in(pool, oldest);
        true
    }

    /// Makes `chunk` the current one, from the head on.
    fn continue_in(self, pool: &Pool, chunk: Chunk) {
        let (page, head) = (self.page(), self.page().head.load(Relaxed));
        // All calls entered, without those in flight and those lost.
        let closed = page.calls.load(Relaxed) - (page.depth.load(Relaxed) & COUNT);
        chunk.begin(page.number.load(Relaxed), head, closed - self.lost());
        match pool.chunk(page.chunk.load(Relaxed)) {
            Some(current) if current.number == chunk.number => {}
            Some(current) => current.link(chunk.number, head),
            // Release: the chunk is initialised.
            None => page.first.store(chunk.number, Release),
        }
        let slots = chunk.slots().expose_provenance() as u64;
        page.origin.store(slots.wrapping_sub(head * SLOT_BYTES as u64), Relaxed);
        page.chunk_end.store(head + CHUNK_SLOTS, Relaxed);
        page.chunk.store(chunk.number, Relaxed);
    }

    /// Events lost so far, without those of signal handlers that interrupted a write.
    fn lost(self) -> u64 {
        let own = self.page().losses.iter().enumerate().filter(|(reason, _)| *reason as u64 != INTERRUPTED);
        own.map(|(_, loss)| loss.lost.load(Relaxed)).sum()
    }

    fn write_gap(self, head: u64, reason: usize, lost: u64) {
        let loss = &self.page().losses[reason];
        let (first, last) = (loss.first.load(Relaxed), loss.last.load(Relaxed));
        let words = Gap { lost, first, last, reason: reason as u64 }.words();
        // SAFETY: the slot at `head`, which the consumer does not read yet; `words` is one slot
        // long.
        unsafe { sync::copy(words.as_ptr(), self.slot(head), SLOT_WORDS) };
    }

    /// Counts an event as lost.
    #[cold]
    #[inline(never)]
    pub(crate) fn lose(self, reason: u64) {
        let lost = &self.note_loss(reason).lost;
        // Release: a reader that sees the count sees its stamps. Until then the call counts as in
        // flight.
        lost.store(lost.load(Relaxed) + 1, Release);
    }

    /// Counts the call of a signal handler that interrupted a write of this thread, in a separate
    /// counter: the interrupted code may be counting a loss.
    #[cold]
    pub(crate) fn lose_interrupting(self) {
        // Release: a reader that sees the count sees its stamps. One atomic addition, because
        // another handler may interrupt.
        self.note_loss(INTERRUPTED).lost.fetch_add(1, Release);
    }

    /// Stores the stamps of the first and last loss for `reason`, so that the next event reports
    /// them.
    fn note_loss<'a>(self, reason: u64) -> &'a Loss {
        let (page, now) = (self.page(), clock::now());
        // An invalid reason cannot occur, and would be harmless.
        let loss = &page.losses[reason as usize % REASONS];
        if loss.unreported() == 0 {
            loss.first.store(now, Relaxed);
        }
        loss.last.store(now, Relaxed);
        page.limit.store(0, Relaxed);
        loss
    }

    /// Records the innermost call, at `depth`, as left by an exception or a jump.
    #[cold]
    #[inline(never)]
    pub(crate) fn unwound(self, depth: usize) {
        let ticks = clock::now().wrapping_sub(self.in_flight_slot(depth).words[1].load(Relaxed));
        self.complete(depth, ticks, 0, UNWOUND);
        // Release: after the event was published.
        self.page().depth.store(depth as u64, Release);
    }
}

/// Waits for a chunk, up to a second and while `can` holds.
#[cold]
fn wait_for<T>(take: impl Fn() -> Option<T>, can: impl Fn() -> bool) -> Option<T> {
    if is_in_handler() {
        return None;
    }
    keeping_errno(|| {
        let deadline = Deadline::after(WAIT_LIMIT);
        let mut found = None;
        while found.is_none() && !deadline.has_passed() && can() {
            sync::sleep(POLL_INTERVAL);
            found = take();
        }
        found
    })
}

/// True if the thread may be in a signal handler: a signal with a handler is blocked. (A handler
/// that blocks nothing, not even its own signal, is not detected.)
fn is_in_handler() -> bool {
    let mut blocked = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: with a NULL set it only reads this thread's mask into a local one.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), blocked.as_mut_ptr()) };
    let is_handled = |signal: i32| {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: with a NULL action it only reads the handler into a local structure.
        let asked = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: it was zeroed, and is a plain structure of integers.
        let handler = unsafe { action.assume_init() }.sa_sigaction;
        asked == 0 && handler != libc::SIG_DFL && handler != libc::SIG_IGN
    };
    // SAFETY: the set was written or is zeroed; `signal` is between 1 and 64.
    let is_blocked = |signal: i32| unsafe { libc::sigismember(blocked.as_ptr(), signal) == 1 };
    (1..=64).any(|signal| is_blocked(signal) && is_handled(signal))
}

/// Runs `work`, and restores this thread's `errno` afterwards.
fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: takes no argument and returns the address of this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: `errno` is the address of this thread's errno, valid while it runs.
    let before = unsafe { *errno };
    let done = work();
    // SAFETY: `errno` is the address of this thread's errno, valid while it runs.
    unsafe { *errno = before };
    done
}

/// How long an event waits for room.
const WAIT_LIMIT: Duration = Duration::from_secs(1);
/// Sleep between two attempts.
const POLL_INTERVAL: Duration = Duration::from_micros(50);
