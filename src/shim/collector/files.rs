//! Failures of the trace file, and the change to the next segment.

use super::*;
use crate::collector::segments::{SegmentStats, loss_reason};
use rocshim_ring::event::{Gap, PART_REMOVED};
use std::io;

/// A compressed trace is written when its events have waited this long …
const PATIENCE: Duration = Duration::from_secs(1);
/// … or fill this many slots …
const FRAME: u64 = 2048;
/// … or a ring is this full (0 to 1) …
const FULL: f32 = 0.2;
/// … or this many threads have ended.
const ENDED: usize = 16;

impl Collector {
    /// Returns by how much the fullest ring has filled up while a compressed trace waits for a
    /// frame of reasonable size; `None` when it is time to write.
    pub(super) fn wait_for_more(&mut self, positions: &[Position]) -> Option<f32> {
        let (waited, since) = (std::mem::take(&mut self.waiting), self.waiting_since.take());
        if self.process.config.compress.is_none()
            || self.ending
            || std::mem::take(&mut self.must_write_now)
            || !self.lines.is_empty()
            || self.why_full != RING_FULL
        {
            return None;
        }
        let read = || self.consumers.iter().zip(positions).filter(|(_, position)| self.is_to_read(position));
        let slots: u64 = read().map(|(consumer, position)| consumer.waiting(position.head)).sum();
        let fullest = read().map(|(consumer, position)| consumer.fill(position.head)).fold(0.0, f32::max);
        let ended = positions.iter().filter(|position| position.ended).count();
        let since = since.unwrap_or_else(Instant::now);
        let is_time = since.elapsed() >= PATIENCE || slots >= FRAME || fullest >= FULL || ended >= ENDED;
        if is_time || slots + ended as u64 == 0 {
            return None;
        }
        (self.waiting, self.waiting_since) = (fullest, Some(since));
        Some((fullest - waited).max(0.0))
    }

    /// Returns false while the file cannot be written. What was read stays in memory and the rest
    /// in the rings; what exceeds these is counted as lost.
    pub(super) fn can_write(&mut self) -> bool {
        match self.failing {
            None => true,
            Some(retry) if self.ending || retry <= Instant::now() => self.flush(),
            Some(_) => {
                let waiting = self.consumers.iter().filter(|consumer| consumer.ring().has_ended()).count();
                if waiting > WAITING {
                    self.process.refuse_rings(Some(self.why_full));
                }
                false
            }
        }
    }

    /// Handles a failure to write the lines.
    pub(super) fn fail(&mut self, error: &io::Error) {
        if self.segments.is_deleted(error) {
            return self.reopen();
        }
        if self.segments.end_if_full(error) {
            return self.end_early();
        }
        if self.failing.is_none() {
            let trace = self.segments.path().display();
            let what = format!("{trace}: {error}; events wait in memory, then are counted as lost");
            self.process.config.report(&what);
        }
        self.failing = Some(Instant::now() + RETRY);
        self.set_why_full(loss_reason(error));
    }

    /// Counts as lost what private rings hold and could not be written: no recovery can read it.
    pub(super) fn count_hidden(&mut self) {
        let control = &self.process.control;
        for consumer in self.consumers.iter_mut().filter(|consumer| consumer.ring().path().is_none()) {
            consumer.rewind();
            let head = consumer.position().head;
            consumer.discard(head, self.why_full, |gap| control.count_lost(gap));
            consumer.unreported().for_each(|gap| control.count_lost(&gap));
        }
    }

    /// Restores normal operation after everything that waited was written.
    pub(super) fn forget_failure(&mut self) {
        if self.why_full != RING_FULL {
            self.set_why_full(RING_FULL);
            self.process.refuse_rings(None);
        }
    }

    fn set_why_full(&mut self, reason: u64) {
        self.why_full = reason;
        self.process.set_why_full(reason);
        self.consumers.iter().for_each(|consumer| consumer.ring().set_why_full(reason));
    }

    /// Ends this segment and begins the next when that is due. Returns false when the end could not
    /// be written.
    pub(super) fn rotate(&mut self) -> bool {
        if !self.segments.is_due() {
            return true;
        }
        for consumer in &self.consumers {
            let (tid, Counters { written, lost }) = (consumer.ring().tid(), consumer.counters());
            if written + lost != 0 {
                self.decoder.thread(tid, written + lost, written, lost, &mut self.lines);
            }
        }
        let t = self.decoder.ns(clock::now());
        let footer = Footer { t, end: "rotated".into(), ..Footer::default() };
        write_record(&mut self.lines, &Record::Footer(footer));
        let written = self.segments.write(&self.lines);
        self.lines.clear();
        match written {
            Ok(()) => {
                for consumer in &self.consumers {
                    let Counters { written, lost } = consumer.counters();
                    self.segments.add_calls(consumer.ring().tid(), written + lost);
                }
                self.begin_segment(None);
                true
            }
            Err(error) => {
                self.fail(&error);
                false
            }
        }
    }

    /// Reopens the trace after the segment's file was deleted: uncommitted events are read again,
    /// into the next segment.
    fn reopen(&mut self) {
        let note = format!(
            "{}: the file was deleted; recording continues in this segment",
            self.segments.path().display()
        );
        self.process.config.report(&note);
        self.consumers.iter_mut().for_each(Consumer::rewind);
        self.lines.clear();
        self.has_reopened = true;
        self.begin_segment(Some(note));
    }

    /// Commits the change to the next segment, and encodes its first lines.
    fn begin_segment(&mut self, note: Option<String>) {
        self.consumers.iter_mut().for_each(Consumer::begin_segment);
        self.segments.begin_next(clock::now());
        self.commit();
        let evicted = self.segments.evict_oldest();
        let (number, oldest) = (self.segments.number(), self.segments.oldest());
        self.decoder.begin_segment(number, oldest, note, &mut self.lines);
        evicted.iter().for_each(|stats| self.count_as_lost(stats));
    }

    /// Counts the events of a segment about to be deleted as lost.
    fn count_as_lost(&mut self, stats: &SegmentStats) {
        for (tid, lost) in &stats.calls {
            let gap = Gap { lost: *lost, first: stats.from, last: stats.to, reason: PART_REMOVED };
            self.decoder.gap(*tid, &gap, &mut self.lines);
            match self.consumers.iter_mut().find(|consumer| consumer.ring().tid() == *tid) {
                Some(consumer) => consumer.adopt(*lost),
                None => {
                    self.decoder.thread(*tid, *lost, 0, *lost, &mut self.lines);
                    self.segments.add_calls(*tid, *lost);
                }
            }
        }
    }

    /// Handles the end of the disk budget: uncommitted and later events are lost.
    fn end_early(&mut self) {
        let what = format!(
            "{}: the disk budget is used up; later events are counted as lost",
            self.segments.path().display()
        );
        self.process.config.report(&what);
        self.consumers.iter_mut().for_each(Consumer::rewind);
        self.lines.clear();
        if self.segments.length() == 0 {
            let (number, oldest) = (self.segments.number(), self.segments.oldest());
            self.decoder.begin_segment(number, oldest, None, &mut self.lines);
        }
        self.is_over_budget = true;
        self.set_why_full(DISK_CAP);
        self.process.refuse_rings(Some(DISK_CAP));
    }
}
