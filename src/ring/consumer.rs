//! The reading end of a ring: events out, slots back, positions noted for the commit.

use crate::event::{Gap, LOSS_REASONS, OVERWRITTEN};
use crate::frozen::Frozen;
use crate::page::{MARKS, WhenFull};
use crate::ring::Ring;
use crate::slot::{Event, Kind, MAX_SLOTS, SLOT_WORDS, slots_of};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;

/// In place of the events written: nothing of this ring is left to tell.
const RETIRED: u64 = u64::MAX;

/// The reading end of a ring, live or dead.
pub struct Consumer {
    ring: Arc<Ring>,
    tail: u64,
    written: u64,
    told: u64,
    /// Of those, by reason.
    told_by: [u64; LOSS_REASONS.len()],
    /// Events that newer ones had taken the place of before they were read.
    overwritten: u64,
    /// What lies before it is not whole, wherever the head is.
    from: u64,
    /// Calls that had returned when the head was last looked at.
    produced: u64,
}

/// How far a ring had come at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The thread had ended: nothing comes after `head`.
    pub ended: bool,
    /// What lies before it may be read.
    pub head: u64,
}

impl Ring {
    /// Events written and losses told as of the commit `epoch`, which must be one of the last two. `None`: the account is
    /// written, and nothing is left to tell of this ring.
    pub fn committed(&self, epoch: u64) -> Option<(u64, u64)> {
        let side = (epoch & 1) as usize;
        let written = self.page().written[side].load(Relaxed);
        // Acquire: whoever looks at the epoch then, looks after this.
        (written != RETIRED).then(|| (written, self.page().told[side].load(Acquire)))
    }
}

impl Consumer {
    /// Reads a live ring from its beginning.
    pub fn new(ring: Arc<Ring>) -> Consumer {
        let told_by = [0; LOSS_REASONS.len()];
        Consumer { ring, tail: 0, written: 0, told: 0, told_by, overwritten: 0, from: 0, produced: 0 }
    }

    /// Reads the copy of a live ring that is overwritten.
    pub fn of_frozen(frozen: Frozen) -> Consumer {
        Consumer { from: frozen.from, ..Consumer::new(Arc::new(frozen.ring)) }
    }

    /// Reads a dead ring from where the last commit ended; `None` when it was wholly written out and retired by then.
    pub fn after_commit(ring: Arc<Ring>, epoch: u64) -> Option<Consumer> {
        let side = (epoch & 1) as usize;
        let (page, slots) = (ring.page(), ring.slots());
        let head = page.head.load(Relaxed);
        // A foreign file may hold anything: never more than the ring has slots.
        let tail = page.committed[side].load(Relaxed).clamp(head.saturating_sub(slots), head);
        let written = page.written[side].load(Relaxed);
        let told = page.told[side].load(Relaxed);
        (written != RETIRED).then(|| Consumer { tail, written, told, ..Consumer::new(ring) })
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// How far the ring is written now.
    pub fn position(&mut self) -> Position {
        // In this order: what was produced by now, and all of a thread that has ended by now, lies before the head.
        self.produced = self.ring.produced();
        let ended = self.ring.has_ended();
        // Acquire: the slots before it were published with it.
        Position { ended, head: self.ring.page().head.load(Acquire) }
    }

    /// Calls that had returned by the last look, or later and were read all the same.
    pub fn produced(&self) -> u64 {
        self.produced.max(self.written + self.lost())
    }

    /// Events handed out since the ring's beginning, gaps not counted.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Losses that no gap handed out so far tells of.
    pub fn untold(&self) -> Option<Gap> {
        let losses = self.ring.losses();
        let lost = losses.lost.saturating_sub(self.told);
        (lost != 0).then_some(Gap { lost, ..losses })
    }

    /// Events lost since the ring's beginning, by reason.
    pub fn lost_by_reason(&self) -> [u64; LOSS_REASONS.len()] {
        let mut lost = self.told_by;
        lost[OVERWRITTEN as usize] += self.overwritten;
        if let Some(gap) = self.untold() {
            lost[(gap.reason as usize).min(lost.len() - 1)] += gap.lost;
        }
        lost
    }

    /// Events lost since the ring's beginning.
    pub fn lost(&self) -> u64 {
        self.told + self.overwritten + self.untold().map_or(0, |gap| gap.lost)
    }

    /// Hands out the events that lie before `head`. False when what lies there is no event: the rest is skipped.
    pub fn read(&mut self, head: u64, mut each: impl FnMut(&Event)) -> bool {
        self.read_while(head, |event| {
            each(event);
            true
        })
    }

    /// How full the ring is with what lies before `head`, as a part of its slots.
    pub fn fill(&self, head: u64) -> f32 {
        head.saturating_sub(self.tail) as f32 / self.ring.slots() as f32
    }

    /// As `read`, until `each` has had enough.
    pub fn read_while(&mut self, head: u64, mut each: impl FnMut(&Event) -> bool) -> bool {
        let overwrites = WhenFull::of(self.ring.page()) == WhenFull::Overwrite;
        let mut event = Event::blank();
        let mut goes_on = true;
        while goes_on && self.tail < head {
            if overwrites && self.is_overwritten() {
                goes_on = self.catch_up(&mut each);
                continue;
            }
            self.ring.copy(self.tail, &mut event.words()[..SLOT_WORDS]);
            let slots = slots_of(event.words()[0]).filter(|slots| self.tail + *slots as u64 <= head);
            if overwrites && self.is_overwritten() {
                continue;
            }
            let Some(slots) = slots else { return self.skip(head) };
            if slots > 1 {
                self.ring.copy(self.tail, &mut event.words()[..slots * SLOT_WORDS]);
            }
            if overwrites && self.is_overwritten() {
                continue;
            }
            if !event.understand() {
                return self.skip(head);
            }
            goes_on = each(&event);
            self.tail += slots as u64;
            if event.kind == Kind::Gap {
                let gap = Gap::read(&event);
                self.told += gap.lost;
                self.told_by[(gap.reason as usize).min(LOSS_REASONS.len() - 1)] += gap.lost;
            } else {
                self.written += 1;
            }
        }
        true
    }

    /// True when the producer may have begun to write where this end reads.
    fn is_overwritten(&self) -> bool {
        // What was copied must have been copied before the head is looked at.
        fence(Acquire);
        self.tail < self.oldest()
    }

    /// The first position that the producer does not touch, of a ring that is overwritten.
    fn oldest(&self) -> u64 {
        let head = self.ring.page().head.load(Acquire);
        (head + MAX_SLOTS as u64).saturating_sub(self.ring.slots()).max(self.from)
    }

    /// Goes on at the oldest mark that is still whole, and tells `each` what was overwritten before it; gives its answer.
    fn catch_up(&mut self, each: &mut impl FnMut(&Event) -> bool) -> bool {
        let (page, oldest) = (self.ring.page(), self.oldest());
        // Acquire: the marks are whole. The oldest may be about to be set anew.
        let marked = page.marked.load(Acquire);
        let marks =
            (marked.saturating_sub(MARKS as u64 - 1)..marked).map(|i| &page.marks[i as usize % MARKS]);
        let mut whole = marks.map(|mark| (mark.head.load(Relaxed), mark.events.load(Relaxed)));
        let head = page.head.load(Relaxed);
        // Without a mark, which there is, nothing that lies there could be read.
        let (at, events) =
            whole.find(|(at, _)| *at >= oldest).unwrap_or((head, self.written + self.overwritten));
        let mut words = [0; SLOT_WORDS];
        self.ring.copy(at, &mut words);
        let lost = events.saturating_sub(self.written + self.overwritten);
        let stamp = if at < head { words[1] } else { 0 };
        let gap = Gap { lost, first: stamp, last: stamp, reason: OVERWRITTEN };
        (self.tail, self.overwritten) = (at.max(self.tail), self.overwritten + lost);
        if lost == 0 {
            return true;
        }
        Event::from_words(&gap.words()).is_none_or(|event| each(&event))
    }

    fn skip(&mut self, head: u64) -> bool {
        self.tail = head;
        false
    }

    /// Notes in the ring how far it is written out, for the commit after `epoch`.
    pub fn prepare_commit(&self, epoch: u64) {
        let side = (epoch.wrapping_add(1) & 1) as usize;
        // Relaxed: read only together with the epoch, which is stored with release.
        self.ring.page().committed[side].store(self.tail, Relaxed);
        self.ring.page().written[side].store(self.written, Relaxed);
        self.ring.page().told[side].store(self.told, Relaxed);
    }

    /// As `prepare_commit`, and tells recovery that the ring's account is written too.
    pub fn prepare_retirement(&self, epoch: u64) {
        self.prepare_commit(epoch);
        self.ring.page().written[(epoch.wrapping_add(1) & 1) as usize].store(RETIRED, Relaxed);
    }

    /// Gives what was read back to the producer.
    pub fn release(&self) {
        // Release: after the slots were copied.
        self.ring.page().tail.store(self.tail, Release);
    }
}
