//! What the rings of a live flight recorder hold, as a trace that stands by itself. The process is not asked: its rings are
//! copied while it goes on, and what it overwrites meanwhile is left out and counted.

use super::Live;
use crate::decoder::Decoder;
use rocshim_ring::event::{Gap, LOSS_REASONS, NO_MEMORY};
use rocshim_ring::slot::EventKind;
use rocshim_ring::{LogReader, Ring, RingSnapshot, clock};
use rocshim_trace::{Footer, Record, write_record};
use std::io;
use std::time::{Duration, Instant};

/// Between two looks for the clock.
const LOOK: Duration = Duration::from_millis(5);

/// A trace of what there was.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Finished NDJSON, from the header to the footer.
    pub lines: Vec<u8>,
    /// Events in it.
    pub events: u64,
    /// Events that came before those, or between them, and are not in it.
    pub lost: u64,
    /// Threads that it has events of.
    pub threads: u64,
    /// When the first of its events began, and when the last ended: ns since the process's epoch.
    pub span: Option<(u64, u64)>,
}

/// The stamps of the first and the last.
struct Span {
    first: u64,
    last: u64,
}

impl Live {
    /// What the rings hold now. A process that has only just begun has not measured its clock yet; that is waited for.
    ///
    /// # Errors
    /// When the files cannot be read, or the clock has not been told within `patience`.
    pub fn snapshot(&self, patience: Duration) -> io::Result<Snapshot> {
        let asked = Instant::now();
        loop {
            if let Some(snapshot) = self.look()? {
                return Ok(snapshot);
            }
            if asked.elapsed() > patience {
                let what = "the process has only just begun to record, and has not told its clock yet";
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// What the rings hold now, if there is a clock to read their stamps by.
    fn look(&self) -> io::Result<Option<Snapshot>> {
        // Before the definitions: every name that an event needs is then there.
        let rings: Vec<RingSnapshot> =
            self.open_rings()?.iter().map(Ring::snapshot).collect::<io::Result<_>>()?;
        let (mut decoder, mut snapshot) = (Decoder::new(false), Snapshot::default());
        LogReader::read_files(self.folder.path(), |number, bytes| {
            decoder.define(number, bytes, &mut snapshot.lines);
        })?;
        if !decoder.has_begun() {
            return Ok(None);
        }
        let mut span = Span { first: u64::MAX, last: 0 };
        rings.into_iter().for_each(|ring| take(ring, &mut decoder, &mut span, &mut snapshot));
        self.hidden(&decoder, &mut snapshot);
        // Of one machine, so of one counter.
        let now = if self.header.clock == "tsc" && clock::is_tsc() { clock::now() } else { 0 };
        let since = self.account().map_or(0, |account| account.since);
        let end = decoder.ns(span.last.max(now).max(since));
        snapshot.span = (span.first <= span.last).then(|| (decoder.ns(span.first), decoder.ns(span.last)));
        let footer = Footer { t: end, end: "snapshot".into(), ..Footer::default() };
        write_record(&mut snapshot.lines, &Record::Footer(footer));
        Ok(Some(snapshot))
    }

    /// Calls of threads whose rings nobody else can read.
    fn hidden(&self, decoder: &Decoder, snapshot: &mut Snapshot) {
        let lost = self.account().map_or(0, |account| account.hidden);
        if lost != 0 {
            let gap = Gap { lost, first: self.clock.start, last: self.clock.start, reason: NO_MEMORY };
            decoder.gap(0, &gap, &mut snapshot.lines);
            snapshot.lost += lost;
        }
    }
}

fn take(mut ring: RingSnapshot, decoder: &mut Decoder, span: &mut Span, snapshot: &mut Snapshot) {
    let (tid, in_flight) = (ring.tid(), std::mem::take(&mut ring.in_flight));
    let mut consumer = ring.consumer();
    let (head, mut last_id, lines) = (consumer.position().head, 0, &mut snapshot.lines);
    let whole = consumer.read(head, |event| {
        if event.kind != EventKind::Gap {
            last_id = event.id;
            span.first = span.first.min(event.stamp);
        }
        span.last = span.last.max(event.stamp.saturating_add(event.ticks));
        decoder.event(tid, event, lines);
    });
    let (written, mut lost) = (consumer.written(), consumer.lost());
    for gap in consumer.unreported() {
        span.last = span.last.max(gap.last);
        decoder.gap(tid, &gap, lines);
    }
    if !whole {
        let unreadable = consumer.ring().produced().saturating_sub(written + lost);
        let reason = LOSS_REASONS.iter().position(|reason| *reason == "unreadable").unwrap_or(0) as u64;
        decoder.gap(tid, &Gap { lost: unreadable, first: span.last, last: span.last, reason }, lines);
        lost += unreadable;
    }
    // A call whose event is in the ring had returned, though it had not left the stage yet.
    for event in in_flight.iter().filter(|event| event.id != last_id) {
        span.last = span.last.max(event.stamp);
        decoder.in_flight(tid, event, lines);
    }
    decoder.thread(tid, written + lost, written, lost, lines);
    snapshot.events += written;
    snapshot.lost += lost;
    snapshot.threads += u64::from(written != 0);
}
