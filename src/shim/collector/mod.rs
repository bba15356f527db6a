//! The collector: one thread that drains the rings, resolves names, and writes the trace.
//!
//! Between two passes over the rings it sleeps for a poll interval that follows the fill rate
//! (`poll`); while the program does nothing, it waits for CPU use (`platform::idle`).

mod files;
mod memory;
mod poll;
mod requests;
mod segments;
mod sink;

use crate::collector::memory::ReadyMemory;
use crate::collector::poll::{LONGEST, PollInterval, Sleep};
use crate::collector::segments::Segments;
use crate::platform::descriptors::Table;
use crate::platform::idle::IdleWait;
use crate::platform::memory::is_short;
use crate::session::process::{Message, Process};
use crate::table::row::ENTRY_POINTS;
use crossbeam_channel::Sender;
use rocshim_drain::Decoder;
use rocshim_ring::definition::Definition;
use rocshim_ring::event::{DISK_CAP, RING_FULL};
use rocshim_ring::{Consumer, Counters, LogReader, Position, WhenFull, clock, sandbox};
use rocshim_trace::{Footer, Record, write_record};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Interval at which loaded libraries are listed.
const LIBRARIES: Duration = Duration::from_millis(250);
/// How long the tick rate is measured before the header is written. Rings are not drained
/// meanwhile.
const MEASURE: Duration = Duration::from_millis(5);
/// Interval between attempts after a failed write.
const RETRY: Duration = Duration::from_millis(250);
/// Limit of the ended threads' rings that wait for a failing file, beyond which new threads get
/// none.
const WAITING: usize = 64;

struct Collector {
    process: &'static Process,
    decoder: Decoder,
    definitions: LogReader,
    consumers: Vec<Consumer>,
    /// Positions of the rings at the present pass.
    positions: Vec<Position>,
    segments: Segments,
    /// Keeps ring memory faulted in.
    ready: ReadyMemory,
    /// Encoded lines that are not in the file yet.
    lines: Vec<u8>,
    /// Time of the next attempt after a failed write.
    failing: Option<Instant>,
    /// Loss reason of full rings.
    why_full: u64,
    /// True once the disk budget is used up: only the trace's end is still written.
    is_over_budget: bool,
    /// Time since which events wait to fill a compressed frame.
    waiting_since: Option<Instant>,
    /// Fill level (0 to 1) of the fullest ring when it was left waiting.
    waiting: f32,
    /// True when waiting events must be written now.
    must_write_now: bool,
    /// True when the segment's file was deleted, and uncommitted events must be read again.
    has_reopened: bool,
    /// True at the process's end.
    ending: bool,
    /// Counters reported to `rocshim ctl`.
    saved: requests::SavedCounters,
}

/// Runs the collector until the process ends. `table` is the calling thread's descriptor table.
pub(crate) fn run(process: &'static Process, table: Table) {
    let mut collector = Collector {
        process,
        decoder: Decoder::default(),
        definitions: LogReader::default(),
        consumers: Vec::new(),
        positions: Vec::new(),
        segments: Segments::new(&process.trace, &process.config, clock::now(), table),
        ready: ReadyMemory::new(Instant::now()),
        is_over_budget: false,
        waiting_since: None,
        waiting: 0.0,
        must_write_now: false,
        has_reopened: false,
        lines: Vec::new(),
        failing: None,
        why_full: RING_FULL,
        ending: false,
        saved: requests::SavedCounters::default(),
    };
    process.emit_libraries();
    let tick_hz = clock::measure_hz(MEASURE);
    process.define(clock::now(), Definition::Clock { tick_hz });
    let stop = collector.work();
    if !must_quiesce() {
        collector.finish();
    }
    // The process ends now: freeing thousands of pieces would only delay that.
    std::mem::forget(collector);
    let _ = stop.send(());
}

/// Returns true when work might kill the program: the calling thread is in a sandbox, or is out of
/// memory.
fn must_quiesce() -> bool {
    sandbox::is_new() || is_short()
}

impl Collector {
    /// Makes passes until the stop message arrives; returns its reply channel.
    fn work(&mut self) -> Sender<()> {
        let mut listed = Instant::now();
        let (mut interval, mut idle) = (PollInterval::new(listed), None);
        loop {
            if must_quiesce() {
                return self.serve_without_writing();
            }
            let fill = self.pass();
            self.ready.adjust(&self.process.pool, Instant::now());
            self.handle_requests();
            let sleep = interval.after(fill, Instant::now());
            if listed.elapsed() >= LIBRARIES {
                self.process.emit_libraries();
                listed = Instant::now();
            }
            let time = match sleep {
                Sleep::For(time) => time,
                Sleep::Idle if self.wait_idle(idle.get_or_insert_with(IdleWait::new)) => Duration::ZERO,
                Sleep::Idle => LONGEST,
            };
            if self.process.for_collector.is_empty() {
                self.process.waker.wait(time);
            }
            match self.process.for_collector.try_recv() {
                Ok(Message::Stop(answer)) => return answer,
                Ok(Message::Flush(answer)) => drop(answer.try_send(self.write_now())),
                Ok(Message::Quiesce) => self.process.quiesce.quiesce_if_requested(),
                Err(_) => {}
            }
        }
    }

    /// Answers messages without writing until the stop message arrives. What is recorded stays in
    /// the ring files.
    fn serve_without_writing(&self) -> Sender<()> {
        loop {
            match self.process.for_collector.recv() {
                Ok(Message::Stop(answer)) => return answer,
                Ok(Message::Flush(answer)) => drop(answer.try_send(false)),
                Ok(Message::Quiesce) => self.process.quiesce.quiesce_if_requested(),
                Err(_) => std::thread::park(),
            }
        }
    }

    /// Sleeps until the program uses CPU time, or for [`LIBRARIES`]. Returns false when there is no
    /// timer, or work is pending.
    fn wait_idle(&self, idle: &mut IdleWait) -> bool {
        let has_message = || !self.process.for_collector.is_empty();
        self.waiting_since.is_none()
            && self.failing.is_none()
            && idle.sleep(LIBRARIES, &self.process.waker, has_message)
    }

    /// Makes a pass: drains every ring once. Returns the fill level (0 to 1) of the fullest.
    fn pass(&mut self) -> f32 {
        self.take_new_rings();
        if !self.can_write() {
            return 0.0;
        }
        if self.is_over_budget {
            let positions: Vec<Position> = self.consumers.iter_mut().map(Consumer::position).collect();
            self.retire(&positions);
            return 0.0;
        }
        // Positions are read before the definitions, so that every definition that an event before
        // a head refers to is present.
        let mut positions = std::mem::take(&mut self.positions);
        positions.clear();
        positions.extend(self.consumers.iter_mut().map(Consumer::position));
        if let Some(growth) = self.wait_for_more(&positions) {
            self.positions = positions;
            return growth;
        }
        self.define();
        let mut fullest = 0.0_f32;
        let mut is_written = true;
        for (i, position) in positions.iter().enumerate() {
            if is_written && self.is_to_read(position) {
                fullest = fullest.max(self.consumers[i].fill(position.head));
                is_written = self.drain(i, position.head);
            }
        }
        let has_more = fullest > 0.0 || !self.lines.is_empty();
        is_written = is_written && (!has_more || self.flush());
        if is_written && self.retire(&positions) {
            self.forget_failure();
            self.rotate();
        }
        self.positions = positions;
        fullest
    }

    /// Returns true when a ring is to be drained. One in overwrite mode is drained only when its
    /// thread or the process ends.
    fn is_to_read(&self, position: &Position) -> bool {
        self.ending || position.ended || self.process.config.when_full != WhenFull::Overwrite
    }

    fn take_new_rings(&mut self) {
        let new = self.process.take_new_rings();
        // A ring may have been created just before the reason last changed.
        new.iter().for_each(|ring| ring.set_why_full(self.why_full));
        self.consumers.extend(new.into_iter().map(Consumer::new));
    }

    fn define(&mut self) {
        let (decoder, lines) = (&mut self.decoder, &mut self.lines);
        self.definitions.read(&self.process.log, |number, bytes| decoder.define(number, bytes, lines));
    }

    /// Drains one ring up to `head`. Returns false when a write failed.
    fn drain(&mut self, which: usize, head: u64) -> bool {
        let (tid, batch) = (self.consumers[which].ring().tid(), self.segments.batch());
        loop {
            let (decoder, lines) = (&mut self.decoder, &mut self.lines);
            self.consumers[which].read_while(head, |event| {
                decoder.event(tid, event, lines);
                lines.len() < batch
            });
            if self.lines.len() < batch {
                return true;
            }
            // What was read waits in memory, the rest in the ring.
            if !self.flush() || !self.rotate() {
                return false;
            }
        }
    }

    /// Writes the lines, then commits, which releases their slots to the threads. Returns false
    /// when the write failed.
    fn flush(&mut self) -> bool {
        // Emitted before any line that refers to them can reach the file.
        for definition in self.decoder.take_pending() {
            self.process.define(clock::now(), definition);
        }
        if let Err(error) = self.segments.write(&self.lines) {
            self.fail(&error);
            return false;
        }
        self.lines.clear();
        self.failing = None;
        self.commit();
        self.segments.remove_doomed();
        true
    }

    fn commit(&mut self) {
        let epoch = self.process.control.epoch();
        self.consumers.iter().for_each(|consumer| consumer.prepare_commit(epoch));
        self.process.control.commit(self.segments.number(), self.segments.length());
        self.consumers.iter_mut().for_each(Consumer::release);
    }

    /// Writes the totals of threads that ended before this pass, and releases their rings. Returns
    /// false when the write failed.
    fn retire(&mut self, positions: &[Position]) -> bool {
        if !positions.iter().any(|position| position.ended) {
            return true;
        }
        let mut ended = positions.iter().map(|position| position.ended);
        let (gone, left) =
            std::mem::take(&mut self.consumers).into_iter().partition(|_| ended.next().unwrap_or(false));
        let mut gone: Vec<Consumer> = gone;
        self.consumers = left;
        gone.iter_mut().for_each(|consumer| self.write_thread_totals(consumer));
        let written = self.segments.write(&self.lines);
        self.lines.clear();
        if let Err(error) = written {
            gone.iter_mut().filter(|_| self.is_over_budget).for_each(Consumer::rewind);
            self.consumers.extend(gone);
            self.fail(&error);
            return false;
        }
        gone.iter().for_each(|consumer| self.segments.add_calls(consumer.ring().tid(), consumer.produced()));
        let epoch = self.process.control.epoch();
        gone.iter().for_each(|consumer| consumer.prepare_retirement(epoch));
        self.commit();
        gone.iter().for_each(|consumer| self.saved.end(consumer));
        gone.iter_mut().for_each(Consumer::retire);
        for ring in gone.iter().map(Consumer::ring) {
            if let Some(path) = ring.path() {
                let _ = std::fs::remove_file(path);
            }
            self.process.release_ring(ring);
        }
        true
    }

    /// Encodes a thread's totals, and its gaps that no event has reported.
    fn write_thread_totals(&mut self, consumer: &mut Consumer) {
        let tid = consumer.ring().tid();
        if self.is_over_budget {
            let head = consumer.position().head;
            consumer.discard(head, DISK_CAP, |gap| self.decoder.gap(tid, gap, &mut self.lines));
        }
        let Counters { written, mut lost } = consumer.counters();
        for gap in consumer.unreported() {
            self.decoder.gap(tid, &gap, &mut self.lines);
            lost += gap.lost;
        }
        let produced = consumer.produced_of(Counters { written, lost });
        self.decoder.thread(tid, produced, written, lost, &mut self.lines);
    }

    /// Writes what remains, every thread's totals, and the footer.
    fn finish(&mut self) {
        self.ending = true;
        self.process.emit_libraries();
        let mut is_written = self.end();
        if std::mem::take(&mut self.has_reopened) {
            is_written = self.end();
        }
        self.process.is_written.store(is_written, Relaxed);
        if !is_written {
            self.count_hidden();
        }
    }

    /// Ends the trace. Returns false when a write failed: what remains stays in the ring files.
    fn end(&mut self) -> bool {
        self.has_reopened = false;
        self.pass();
        if self.failing.is_some() || self.has_reopened {
            return false;
        }
        for mut consumer in std::mem::take(&mut self.consumers) {
            self.write_thread_totals(&mut consumer);
            self.consumers.push(consumer);
        }
        let now = clock::now();
        for gap in self.process.control.untracked().iter().filter(|gap| gap.lost != 0) {
            self.decoder.gap(0, gap, &mut self.lines);
        }
        let footer = Footer {
            t: self.decoder.ns(now),
            end: "exit".into(),
            calls: self.silent_calls(),
            late: self.process.control.late(),
            drift_ppm: self.drift_ppm(),
            collector_ns: clock::thread_cpu_ns(),
        };
        write_record(&mut self.lines, &Record::Footer(footer));
        let is_written = self.flush();
        if let Some(folder) = self.process.folder.as_ref().filter(|_| is_written) {
            let _ = folder.remove();
        }
        is_written
    }

    fn drift_ppm(&self) -> Option<f64> {
        let clock = self.decoder.clock()?;
        let (stamp, unix) = clock::anchor();
        let (ours, system) = (clock.ns(stamp) as f64, unix.checked_sub(clock.unix_ns)? as f64);
        (system > 0.0).then(|| ((ours - system) / system * 1e9).round() / 1e3)
    }

    /// Returns the call counts of the hooks that make no event.
    fn silent_calls(&self) -> Vec<(u16, u64)> {
        let entry_points =
            self.process.table.iter().flat_map(|hook| (0..ENTRY_POINTS).map(move |number| (*hook, number)));
        let counted =
            entry_points.map(|(hook, number)| (hook.id_of(number), hook.entry_points[number].calls()));
        counted.filter(|(_, calls)| *calls != 0).collect()
    }
}
