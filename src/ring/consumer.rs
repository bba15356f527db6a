//! The consumer end of a ring: reads events, returns chunks, and prepares positions for the commit.
#![allow(unsafe_code)] // copies of slots in chunks of the pool

use crate::event::{DISK_CAP, Gap, LOSS_REASONS, OVERWRITTEN};
use crate::page::{REASONS, WhenFull};
use crate::ring::Ring;
use crate::slot::{Event, EventKind, SLOT_WORDS, slots_of};
use crate::sync;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

mod chain;

/// Unread slots that count as a full ring when the poll interval is chosen: 1 MiB.
const FULL: f32 = 16_384.0;

/// Value of `written` after the ring's counters are in the trace: nothing of it is unreported.
const RETIRED: u64 = u64::MAX;

/// The consumer end of a ring, live or dead.
pub struct Consumer {
    ring: Arc<Ring>,
    now: Progress,
    /// Progress as of the last commit.
    kept: Progress,
    /// The oldest chunk that was not returned; 0: the ring's first.
    oldest: u64,
    /// Number of returned calls when the head was last loaded.
    produced: u64,
}

/// How far a ring is read.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Position of the next unread slot.
    tail: u64,
    /// The chunk that holds `tail`, or whose last event ends there; 0: nothing was read yet.
    chunk: u64,
    /// Position at which that chunk begins.
    start: u64,
    /// Events delivered, gaps not counted.
    written: u64,
    /// Losses reported by the gaps that were delivered, by reason.
    reported: [u64; REASONS],
    /// Events that were stored but not delivered: overwritten before they were read, or discarded
    /// because the trace could not be written.
    skipped: u64,
    /// Counters of the finished segments of the trace.
    before: Counters,
}

/// Counters of a thread in a trace or in one segment of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events in it.
    pub written: u64,
    /// Events counted by its gaps.
    pub lost: u64,
}

/// The write position of a ring at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The thread had ended: nothing follows `head`.
    pub ended: bool,
    /// Slots before this position may be read.
    pub head: u64,
}

impl Ring {
    /// Written and lost events of the current segment as of the commit `epoch`, which must be one
    /// of the last two. `None`: the counters are in the trace, and nothing of this ring is
    /// unreported.
    pub fn committed(&self, epoch: u64) -> Option<(u64, u64)> {
        let (side, page) = ((epoch & 1) as usize, self.page());
        let written = page.written[side].load(Relaxed);
        let [before, lost_before] = page.before[side].each_ref().map(|count| count.load(Relaxed));
        // Acquire: a later load of the epoch does not move before this one.
        let reported: u64 = page.reported[side].iter().map(|reported| reported.load(Acquire)).sum();
        (written != RETIRED).then(|| (written.wrapping_sub(before), reported.wrapping_sub(lost_before)))
    }
}

impl Consumer {
    /// Reads a live ring from its beginning.
    pub fn new(ring: Arc<Ring>) -> Consumer {
        Consumer { ring, now: Progress::default(), kept: Progress::default(), oldest: 0, produced: 0 }
    }

    /// Reads a dead ring from the last commit on; `None` if it was completely written and retired
    /// by then.
    pub fn after_commit(ring: Arc<Ring>, epoch: u64) -> Option<Consumer> {
        let side = (epoch & 1) as usize;
        let page = ring.page();
        let tail = page.committed[side].load(Relaxed).min(page.head.load(Relaxed));
        let chunk = page.committed_chunk[side].load(Relaxed);
        let start = ring.pool().chunk(chunk).and_then(|chunk| chunk.start()).unwrap_or(0);
        let written = page.written[side].load(Relaxed);
        let reported = page.reported[side].each_ref().map(|reported| reported.load(Relaxed));
        let [before, lost] = page.before[side].each_ref().map(|count| count.load(Relaxed));
        let before = Counters { written: before, lost };
        let now = Progress { tail, chunk, start, written, reported, skipped: 0, before };
        (written != RETIRED).then(|| Consumer { now, kept: now, ..Consumer::new(ring) })
    }

    /// Returns to the last commit: what was read since is read again.
    pub fn rewind(&mut self) {
        self.now = self.kept;
    }

    /// Events delivered since the segment began.
    pub fn counters(&self) -> Counters {
        let Counters { written, lost } = self.now.before;
        // `before.lost` may have wrapped below zero: see `adopt`.
        Counters {
            written: self.now.written.wrapping_sub(written),
            lost: self.handed_lost().wrapping_sub(lost),
        }
    }

    /// Starts a new segment: what was delivered so far belongs to the finished one.
    pub fn begin_segment(&mut self) {
        self.now.before = Counters { written: self.now.written, lost: self.handed_lost() };
    }

    /// Adds to this segment `lost` events that a deleted segment had counted.
    pub fn adopt(&mut self, lost: u64) {
        self.now.before.lost = self.now.before.lost.wrapping_sub(lost);
    }

    /// Lost events that were delivered as gaps, or discarded.
    fn handed_lost(&self) -> u64 {
        // A dead process's page may hold any numbers.
        self.now.reported.iter().fold(self.now.skipped, |sum, reported| sum.wrapping_add(*reported))
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// The write position now.
    pub fn position(&mut self) -> Position {
        // In this order: all that was produced by now, and all of a thread that has ended by now,
        // is before the head.
        self.produced = self.ring.produced();
        let ended = self.ring.has_ended();
        // Acquire: the slots before it were published with it.
        Position { ended, head: self.ring.page().head.load(Acquire) }
    }

    /// Calls that had returned when last observed, or were read since, without those of finished
    /// segments.
    pub fn produced(&self) -> u64 {
        let Counters { written, lost } = self.counters();
        let lost = self.unreported().fold(lost, |sum, gap| sum.saturating_add(gap.lost));
        self.produced_of(Counters { written, lost })
    }

    /// The same if `counters` is all that the segment delivered. Further losses of a running thread
    /// are not counted until it is observed again.
    pub fn produced_of(&self, counters: Counters) -> u64 {
        let Counters { written, lost } = self.now.before;
        let by_then = self.produced.wrapping_sub(written.wrapping_add(lost)) as i64;
        counters.written.saturating_add(counters.lost).max(by_then.max(0) as u64)
    }

    /// Events delivered since the ring's beginning, gaps not counted.
    pub fn written(&self) -> u64 {
        self.now.written
    }

    /// Losses that no delivered gap has reported, by reason.
    pub fn unreported(&self) -> impl Iterator<Item = Gap> {
        let losses = self.ring.losses().into_iter().zip(self.now.reported);
        let unreported =
            losses.map(|(loss, reported)| Gap { lost: loss.lost.saturating_sub(reported), ..loss });
        unreported.filter(|gap| gap.lost != 0)
    }

    /// Events lost since the ring's beginning, by reason.
    pub fn lost_by_reason(&self) -> [u64; LOSS_REASONS.len()] {
        let mut lost: [u64; LOSS_REASONS.len()] = std::array::from_fn(|reason| self.now.reported[reason]);
        let overwrites = WhenFull::of(self.ring.page()) == WhenFull::Overwrite;
        let skipped = &mut lost[if overwrites { OVERWRITTEN } else { DISK_CAP } as usize];
        *skipped = skipped.wrapping_add(self.now.skipped);
        for gap in self.unreported() {
            let reason = &mut lost[(gap.reason as usize).min(LOSS_REASONS.len() - 1)];
            *reason = reason.wrapping_add(gap.lost);
        }
        lost
    }

    /// Events lost since the ring's beginning.
    pub fn lost(&self) -> u64 {
        self.unreported().fold(self.handed_lost(), |sum, gap| sum.wrapping_add(gap.lost))
    }

    /// Delivers the events before `head`. False if the data there is not a valid event: the rest is
    /// skipped.
    pub fn read(&mut self, head: u64, mut each: impl FnMut(&Event)) -> bool {
        self.read_while(head, |event| {
            each(event);
            true
        })
    }

    /// Unread slots before `head`, as a fraction of 1 MiB.
    pub fn fill(&self, head: u64) -> f32 {
        self.waiting(head) as f32 / FULL
    }

    /// Number of unread slots before `head`.
    pub fn waiting(&self, head: u64) -> u64 {
        head.saturating_sub(self.now.tail)
    }

    /// As `read`, until `each` returns false.
    pub fn read_while(&mut self, head: u64, mut each: impl FnMut(&Event) -> bool) -> bool {
        let overwrites = WhenFull::of(self.ring.page()) == WhenFull::Overwrite;
        let mut event = Event::blank();
        let mut goes_on = true;
        while goes_on && self.now.tail < head {
            if overwrites && self.is_overwritten() {
                match self.resync(head, &mut each) {
                    Some(answer) => goes_on = answer,
                    None => return self.skip(head),
                }
                continue;
            }
            let Some((from, left)) = self.place() else {
                if overwrites && self.is_overwritten() {
                    continue;
                }
                return self.skip(head);
            };
            // SAFETY: `from` is a slot of a chunk of the pool, and `event` has room for the longest
            // event.
            unsafe { sync::copy(from, event.words().as_mut_ptr(), SLOT_WORDS) };
            let slots = slots_of(event.words()[0]).filter(|slots| {
                let end = self.now.tail.saturating_add(*slots as u64);
                end <= head && *slots <= left
            });
            if overwrites && self.is_overwritten() {
                continue;
            }
            let Some(slots) = slots else { return self.skip(head) };
            if slots > 1 {
                // SAFETY: the chunk has `slots` slots from `from` on, at most `MAX_SLOTS`, for
                // which `event` has room.
                unsafe { sync::copy(from, event.words().as_mut_ptr(), slots * SLOT_WORDS) };
            }
            if overwrites && self.is_overwritten() {
                continue;
            }
            if !event.understand() {
                return self.skip(head);
            }
            goes_on = each(&event);
            self.now.tail += slots as u64;
            if event.kind == EventKind::Gap {
                let gap = Gap::read(&event);
                let reported = &mut self.now.reported[gap.reason as usize % REASONS];
                *reported = reported.wrapping_add(gap.lost);
            } else {
                self.now.written = self.now.written.wrapping_add(1);
            }
        }
        true
    }

    /// Discards the events before `head` as lost for `reason`. `each` is called with the gap that
    /// replaces them and with the gaps among them.
    pub fn discard(&mut self, head: u64, reason: u64, mut each: impl FnMut(&Gap)) {
        let before = self.now.written;
        let mut gap = Gap { reason, ..Gap::default() };
        self.read(head, |event| match event.kind {
            EventKind::Gap => each(&Gap::read(event)),
            _ => {
                gap.first = if gap.lost == 0 { event.stamp } else { gap.first };
                gap.last = gap.last.max(event.stamp.saturating_add(event.ticks));
                gap.lost += 1;
            }
        });
        self.now.written = before;
        self.now.skipped += gap.lost;
        if gap.lost != 0 {
            each(&gap);
        }
    }

    /// Events that were delivered, or discarded after they had been stored.
    fn consumed(&self) -> u64 {
        self.now.written.wrapping_add(self.now.skipped)
    }

    fn skip(&mut self, head: u64) -> bool {
        self.now.tail = head;
        false
    }

    /// Stores in the ring how far it is written, for the commit after `epoch`.
    pub fn prepare_commit(&self, epoch: u64) {
        let side = (epoch.wrapping_add(1) & 1) as usize;
        // Relaxed: read only together with the epoch, which is stored with release.
        self.ring.page().committed[side].store(self.now.tail, Relaxed);
        self.ring.page().committed_chunk[side].store(self.now.chunk, Relaxed);
        self.ring.page().written[side].store(self.now.written, Relaxed);
        for (to, reported) in self.ring.page().reported[side].iter().zip(self.now.reported) {
            to.store(reported, Relaxed);
        }
        let [written, lost] = &self.ring.page().before[side];
        written.store(self.now.before.written, Relaxed);
        lost.store(self.now.before.lost, Relaxed);
    }

    /// As `prepare_commit`, and marks the ring's counters as written.
    pub fn prepare_retirement(&self, epoch: u64) {
        self.prepare_commit(epoch);
        self.ring.page().written[(epoch.wrapping_add(1) & 1) as usize].store(RETIRED, Relaxed);
    }

    /// After the commit: returns the chunks that were read.
    pub fn release(&mut self) {
        self.kept = self.now;
        // Release: after the slots were copied.
        self.ring.page().tail.store(self.now.tail, Release);
        if WhenFull::of(self.ring.page()) != WhenFull::Overwrite && self.now.chunk != 0 {
            self.give(self.now.chunk);
        }
    }

    /// The ring's thread has ended, and all of it is committed: returns all its chunks.
    pub fn retire(&mut self) {
        self.release();
        self.give(0);
    }

    /// Returns the chunks before this one.
    fn give(&mut self, until: u64) {
        let (page, pool) = (self.ring.page(), self.ring.pool());
        let mut given = 0;
        let mut number = std::mem::replace(&mut self.oldest, until);
        if number == 0 {
            number = page.first.load(Acquire);
        }
        while let Some(chunk) = pool.chunk(number).filter(|_| number != until) {
            let next = chunk.next().map_or(0, |(next, _)| next);
            pool.give(number);
            given += 1;
            number = next;
        }
        page.given.store(page.given.load(Relaxed) + given, Relaxed);
    }
}
