//! The reading end of a ring: events out, chunks back, positions noted for the commit.
#![allow(unsafe_code)] // copies of slots, which lie in chunks of the pool

use crate::event::{DISK_CAP, Gap, LOSS_REASONS, OVERWRITTEN};
use crate::page::{REASONS, WhenFull};
use crate::ring::Ring;
use crate::slot::{Event, Kind, SLOT_WORDS, slots_of};
use crate::sync;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

mod chain;

/// So many unread slots are called a full ring where only the rate counts at which it is filled: 1 MiB of them.
const FULL: f32 = 16_384.0;

/// In place of the events written: nothing of this ring is left to tell.
const RETIRED: u64 = u64::MAX;

/// The reading end of a ring, live or dead.
pub struct Consumer {
    ring: Arc<Ring>,
    now: Progress,
    /// As of the last commit.
    kept: Progress,
    /// The oldest chunk that was not given back; 0: the ring's first.
    oldest: u64,
    /// Calls that had returned when the head was last looked at.
    produced: u64,
}

/// How far a ring is read.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Slots.
    tail: u64,
    /// The chunk in which `tail` lies, or behind whose last event; 0: nothing was read yet.
    chunk: u64,
    /// Where that begins.
    start: u64,
    /// Events that were handed out, gaps not counted.
    written: u64,
    /// Losses that gaps tell of which were handed out, by reason.
    told: [u64; REASONS],
    /// Events that are lost although they had found room: newer ones had taken their place before they were read, or there
    /// was nowhere to write them.
    passed: u64,
    /// What finished parts of the trace tell of.
    before: Account,
}

/// What a trace, or a part of one, tells of a thread's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Events that are in it.
    pub written: u64,
    /// Events that its gaps count.
    pub lost: u64,
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
    /// Events that the trace's part holds, and losses that it tells of, as of the commit `epoch`, which must be one of the last
    /// two. `None`: the account is written, and nothing is left to tell of this ring.
    pub fn committed(&self, epoch: u64) -> Option<(u64, u64)> {
        let (side, page) = ((epoch & 1) as usize, self.page());
        let written = page.written[side].load(Relaxed);
        let [before, lost_before] = page.before[side].each_ref().map(|count| count.load(Relaxed));
        // Acquire: whoever looks at the epoch then, looks after this.
        let told: u64 = page.told[side].iter().map(|told| told.load(Acquire)).sum();
        (written != RETIRED).then(|| (written.wrapping_sub(before), told.wrapping_sub(lost_before)))
    }
}

impl Consumer {
    /// Reads a live ring from its beginning.
    pub fn new(ring: Arc<Ring>) -> Consumer {
        Consumer { ring, now: Progress::default(), kept: Progress::default(), oldest: 0, produced: 0 }
    }

    /// Reads a dead ring from where the last commit ended; `None` when it was wholly written out and retired by then.
    pub fn after_commit(ring: Arc<Ring>, epoch: u64) -> Option<Consumer> {
        let side = (epoch & 1) as usize;
        let page = ring.page();
        let tail = page.committed[side].load(Relaxed).min(page.head.load(Relaxed));
        let chunk = page.committed_chunk[side].load(Relaxed);
        let start = ring.pool().chunk(chunk).and_then(|chunk| chunk.start()).unwrap_or(0);
        let written = page.written[side].load(Relaxed);
        let told = page.told[side].each_ref().map(|told| told.load(Relaxed));
        let [before, lost] = page.before[side].each_ref().map(|count| count.load(Relaxed));
        let before = Account { written: before, lost };
        let now = Progress { tail, chunk, start, written, told, passed: 0, before };
        (written != RETIRED).then(|| Consumer { now, kept: now, ..Consumer::new(ring) })
    }

    /// Goes back to where the last commit was: what was read since is read again.
    pub fn rewind(&mut self) {
        self.now = self.kept;
    }

    /// What was handed out since the trace's part began.
    pub fn account(&self) -> Account {
        let Account { written, lost } = self.now.before;
        // What was lost before may be less than nothing: see `adopt`.
        Account {
            written: self.now.written.wrapping_sub(written),
            lost: self.handed_lost().wrapping_sub(lost),
        }
    }

    /// What was handed out so far is a finished part's to tell of.
    pub fn begin_part(&mut self) {
        self.now.before = Account { written: self.now.written, lost: self.handed_lost() };
    }

    /// The part tells of `lost` events that an earlier one had told of, and which was removed.
    pub fn adopt(&mut self, lost: u64) {
        self.now.before.lost = self.now.before.lost.wrapping_sub(lost);
    }

    /// Events that were lost and handed out as such.
    fn handed_lost(&self) -> u64 {
        // A dead process's page may hold any numbers.
        self.now.told.iter().fold(self.now.passed, |sum, told| sum.wrapping_add(*told))
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

    /// Calls that had returned by the last look, or later and were read all the same, and that no finished part tells of.
    pub fn produced(&self) -> u64 {
        let Account { written, lost } = self.account();
        let lost = self.untold().fold(lost, |sum, gap| sum.saturating_add(gap.lost));
        self.produced_of(Account { written, lost })
    }

    /// The same where `account` was handed out of this part. A thread that goes on loses more meanwhile: that was looked at
    /// once, and not here again.
    pub fn produced_of(&self, account: Account) -> u64 {
        let Account { written, lost } = self.now.before;
        let by_then = self.produced.wrapping_sub(written.wrapping_add(lost)) as i64;
        account.written.saturating_add(account.lost).max(by_then.max(0) as u64)
    }

    /// Events handed out since the ring's beginning, gaps not counted.
    pub fn written(&self) -> u64 {
        self.now.written
    }

    /// Losses that no gap handed out so far tells of, by reason.
    pub fn untold(&self) -> impl Iterator<Item = Gap> {
        let losses = self.ring.losses().into_iter().zip(self.now.told);
        let untold = losses.map(|(loss, told)| Gap { lost: loss.lost.saturating_sub(told), ..loss });
        untold.filter(|gap| gap.lost != 0)
    }

    /// Events lost since the ring's beginning, by reason.
    pub fn lost_by_reason(&self) -> [u64; LOSS_REASONS.len()] {
        let mut lost: [u64; LOSS_REASONS.len()] = std::array::from_fn(|reason| self.now.told[reason]);
        let overwrites = WhenFull::of(self.ring.page()) == WhenFull::Overwrite;
        let passed = &mut lost[if overwrites { OVERWRITTEN } else { DISK_CAP } as usize];
        *passed = passed.wrapping_add(self.now.passed);
        for gap in self.untold() {
            let reason = &mut lost[(gap.reason as usize).min(LOSS_REASONS.len() - 1)];
            *reason = reason.wrapping_add(gap.lost);
        }
        lost
    }

    /// Events lost since the ring's beginning.
    pub fn lost(&self) -> u64 {
        self.untold().fold(self.handed_lost(), |sum, gap| sum.wrapping_add(gap.lost))
    }

    /// Hands out the events that lie before `head`. False when what lies there is no event: the rest is skipped.
    pub fn read(&mut self, head: u64, mut each: impl FnMut(&Event)) -> bool {
        self.read_while(head, |event| {
            each(event);
            true
        })
    }

    /// How much lies before `head` and was not read, as a part of 1 MiB of slots.
    pub fn fill(&self, head: u64) -> f32 {
        self.waiting(head) as f32 / FULL
    }

    /// How many slots lie before `head` and were not read.
    pub fn waiting(&self, head: u64) -> u64 {
        head.saturating_sub(self.now.tail)
    }

    /// As `read`, until `each` has had enough.
    pub fn read_while(&mut self, head: u64, mut each: impl FnMut(&Event) -> bool) -> bool {
        let overwrites = WhenFull::of(self.ring.page()) == WhenFull::Overwrite;
        let mut event = Event::blank();
        let mut goes_on = true;
        while goes_on && self.now.tail < head {
            if overwrites && self.is_overwritten() {
                match self.catch_up(head, &mut each) {
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
            // SAFETY: a slot of a chunk of the pool.
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
                // SAFETY: so many slots are left in the chunk.
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
            if event.kind == Kind::Gap {
                let gap = Gap::read(&event);
                let told = &mut self.now.told[gap.reason as usize % REASONS];
                *told = told.wrapping_add(gap.lost);
            } else {
                self.now.written = self.now.written.wrapping_add(1);
            }
        }
        true
    }

    /// Passes the events before `head` by: they are lost for `reason`. `each` is given the gap that they leave, and those
    /// that lie among them.
    pub fn discard(&mut self, head: u64, reason: u64, mut each: impl FnMut(&Gap)) {
        let before = self.now.written;
        let mut gap = Gap { reason, ..Gap::default() };
        self.read(head, |event| match event.kind {
            Kind::Gap => each(&Gap::read(event)),
            _ => {
                gap.first = if gap.lost == 0 { event.stamp } else { gap.first };
                gap.last = gap.last.max(event.stamp.saturating_add(event.ticks));
                gap.lost += 1;
            }
        });
        self.now.written = before;
        self.now.passed += gap.lost;
        if gap.lost != 0 {
            each(&gap);
        }
    }

    /// Events that were handed out, or lost although they had found room.
    fn passed_by(&self) -> u64 {
        self.now.written.wrapping_add(self.now.passed)
    }

    fn skip(&mut self, head: u64) -> bool {
        self.now.tail = head;
        false
    }

    /// Notes in the ring how far it is written out, for the commit after `epoch`.
    pub fn prepare_commit(&self, epoch: u64) {
        let side = (epoch.wrapping_add(1) & 1) as usize;
        // Relaxed: read only together with the epoch, which is stored with release.
        self.ring.page().committed[side].store(self.now.tail, Relaxed);
        self.ring.page().committed_chunk[side].store(self.now.chunk, Relaxed);
        self.ring.page().written[side].store(self.now.written, Relaxed);
        for (to, told) in self.ring.page().told[side].iter().zip(self.now.told) {
            to.store(told, Relaxed);
        }
        let [written, lost] = &self.ring.page().before[side];
        written.store(self.now.before.written, Relaxed);
        lost.store(self.now.before.lost, Relaxed);
    }

    /// As `prepare_commit`, and tells recovery that the ring's account is written too.
    pub fn prepare_retirement(&self, epoch: u64) {
        self.prepare_commit(epoch);
        self.ring.page().written[(epoch.wrapping_add(1) & 1) as usize].store(RETIRED, Relaxed);
    }

    /// After the commit: gives the chunks back that were read.
    pub fn release(&mut self) {
        self.kept = self.now;
        // Release: after the slots were copied.
        self.ring.page().tail.store(self.now.tail, Release);
        if WhenFull::of(self.ring.page()) != WhenFull::Overwrite && self.now.chunk != 0 {
            self.give(self.now.chunk);
        }
    }

    /// The ring's thread has ended, and all of it is committed: gives its chunks back.
    pub fn retire(&mut self) {
        self.release();
        self.give(0);
    }

    /// Gives back the chunks before this one.
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
