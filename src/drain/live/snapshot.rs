//! Writes the contents of a live flight recorder's rings as a self-contained trace. The process
//! does not participate: its rings are copied while it writes, and what it overwrites meanwhile is
//! omitted and counted.

use super::Live;
use crate::decoder::Decoder;
use rocshim_ring::event::{Gap, LOSS_REASONS, NO_MEMORY};
use rocshim_ring::slot::EventKind;
use rocshim_ring::{LogReader, Ring, RingSnapshot, clock};
use rocshim_trace::{Footer, Record, write_record};
use std::io;
use std::time::{Duration, Instant};

/// Poll interval while the clock is not measured.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A snapshot trace.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Complete NDJSON, from the header to the footer.
    pub lines: Vec<u8>,
    /// Events in it.
    pub events: u64,
    /// Events before or between those, which are not in it.
    pub lost: u64,
    /// Number of threads with events in it.
    pub threads: u64,
    /// Begin of its first event and end of its last: ns since the process's epoch.
    pub span: Option<(u64, u64)>,
}

/// The stamps of the first and the last event.
struct StampRange {
    first: u64,
    last: u64,
}

impl Live {
    /// The current contents of the rings. A process that has just begun has not measured its clock
    /// yet: this waits for it.
    ///
    /// # Errors
    /// If the files cannot be read, or the clock is not defined within `patience`.
    pub fn snapshot(&self, patience: Duration) -> io::Result<Snapshot> {
        let asked = Instant::now();
        loop {
            if let Some(snapshot) = self.read_rings()? {
                return Ok(snapshot);
            }
            if asked.elapsed() > patience {
                let what = "the process has just begun to record and has not measured its clock yet";
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// The current contents of the rings; `None` if there is no clock yet.
    fn read_rings(&self) -> io::Result<Option<Snapshot>> {
        // Before the definitions are read, so that every name that an event needs exists.
        let rings: Vec<RingSnapshot> =
            self.open_rings()?.iter().map(Ring::snapshot).collect::<io::Result<_>>()?;
        let (mut decoder, mut snapshot) = (Decoder::new(false), Snapshot::default());
        LogReader::read_files(self.folder.path(), |number, bytes| {
            decoder.define(number, bytes, &mut snapshot.lines);
        })?;
        if !decoder.has_begun() {
            return Ok(None);
        }
        let mut range = StampRange { first: u64::MAX, last: 0 };
        rings.into_iter().for_each(|ring| take(ring, &mut decoder, &mut range, &mut snapshot));
        self.hidden(&decoder, &mut snapshot);
        // On the same machine the counter is the same.
        let now = if self.header.clock == "tsc" && clock::is_tsc() { clock::now() } else { 0 };
        let since = self.account().map_or(0, |account| account.since);
        let end = decoder.ns(range.last.max(now).max(since));
        snapshot.span =
            (range.first <= range.last).then(|| (decoder.ns(range.first), decoder.ns(range.last)));
        let footer = Footer { t: end, end: "snapshot".into(), ..Footer::default() };
        write_record(&mut snapshot.lines, &Record::Footer(footer));
        Ok(Some(snapshot))
    }

    /// Emits a gap for calls of threads whose rings are private memory.
    fn hidden(&self, decoder: &Decoder, snapshot: &mut Snapshot) {
        let lost = self.account().map_or(0, |account| account.hidden);
        if lost != 0 {
            let gap = Gap { lost, first: self.clock.start, last: self.clock.start, reason: NO_MEMORY };
            decoder.gap(0, &gap, &mut snapshot.lines);
            snapshot.lost += lost;
        }
    }
}

fn take(mut ring: RingSnapshot, decoder: &mut Decoder, range: &mut StampRange, snapshot: &mut Snapshot) {
    let (tid, in_flight) = (ring.tid(), std::mem::take(&mut ring.in_flight));
    let mut consumer = ring.consumer();
    let (head, mut last_id, lines) = (consumer.position().head, 0, &mut snapshot.lines);
    let whole = consumer.read(head, |event| {
        if event.kind != EventKind::Gap {
            last_id = event.id;
            range.first = range.first.min(event.stamp);
        }
        range.last = range.last.max(event.stamp.saturating_add(event.ticks));
        decoder.event(tid, event, lines);
    });
    let (written, mut lost) = (consumer.written(), consumer.lost());
    for gap in consumer.unreported() {
        range.last = range.last.max(gap.last);
        decoder.gap(tid, &gap, lines);
    }
    if !whole {
        let unreadable = consumer.ring().produced().saturating_sub(written + lost);
        let reason = LOSS_REASONS.iter().position(|reason| *reason == "unreadable").unwrap_or(0) as u64;
        decoder.gap(tid, &Gap { lost: unreadable, first: range.last, last: range.last, reason }, lines);
        lost += unreadable;
    }
    // A call whose event is in the ring had returned, though its in-flight slot was still in use.
    for event in in_flight.iter().filter(|event| event.id != last_id) {
        range.last = range.last.max(event.stamp);
        decoder.in_flight(tid, event, lines);
    }
    decoder.thread(tid, written + lost, written, lost, lines);
    snapshot.events += written;
    snapshot.lost += lost;
    snapshot.threads += u64::from(written != 0);
}
