//! The collector: one thread that drains the rings, names what it finds, and writes the trace.
//!
//! It sleeps between looks, by need: as long as it takes, at the rate seen last, to fill a quarter of the ring that is
//! filled fastest; see `pause`, and `doze` for a program that does nothing.

mod files;
mod memory;
mod poll;
mod requests;
mod segments;
mod sink;

use crate::collector::memory::Keeper;
use crate::collector::poll::{LONGEST, Pause, Sleep};
use crate::collector::segments::Parts;
use crate::platform::descriptors::Table;
use crate::platform::idle::Doze;
use crate::platform::memory::is_short;
use crate::session::process::{Message, Process};
use crate::table::row::ENTRY_POINTS;
use crossbeam_channel::{RecvTimeoutError, Sender};
use rocshim_drain::Decoder;
use rocshim_ring::definition::Definition;
use rocshim_ring::event::{DISK_CAP, RING_FULL};
use rocshim_ring::{Consumer, Counters, LogReader, Position, WhenFull, clock, sandbox};
use rocshim_trace::{Footer, Record, write_record};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Between two looks at the list of loaded libraries.
const LIBRARIES: Duration = Duration::from_millis(250);
/// How long the clock is measured against the system's before the header is written; the rings must hold out until then.
const MEASURE: Duration = Duration::from_millis(5);
/// Between two tries to write a file that cannot be written.
const RETRY: Duration = Duration::from_millis(250);
/// Rings of threads that have ended may wait for a file that cannot be written; beyond so many, no new ones are made.
const WAITING: usize = 64;

struct Collector {
    process: &'static Process,
    decoder: Decoder,
    definitions: LogReader,
    consumers: Vec<Consumer>,
    /// How far their rings had come at this look.
    positions: Vec<Position>,
    parts: Parts,
    /// Keeps ring memory ready.
    keeper: Keeper,
    /// Lines that are not in the file yet.
    lines: Vec<u8>,
    /// The last write failed: when it is to be tried again.
    failing: Option<Instant>,
    /// Why rings are full.
    why_full: u64,
    /// The trace takes as much room as it may: nothing but its end is written any more.
    has_stopped: bool,
    /// Since when there are lines that wait for more.
    waiting_since: Option<Instant>,
    /// How full the fullest ring was when it was left to wait for more.
    waiting: f32,
    /// What waits for more is to be written now.
    hurries: bool,
    /// The part's file was gone, and what was read is to be read again.
    began_anew: bool,
    /// The process ends.
    ending: bool,
    /// What the account needs that is told to who asks.
    saved: requests::SavedCounters,
}

/// Runs until the process ends. The calling thread's descriptor table is `table`.
pub(crate) fn run(process: &'static Process, table: Table) {
    let mut collector = Collector {
        process,
        decoder: Decoder::default(),
        definitions: LogReader::default(),
        consumers: Vec::new(),
        positions: Vec::new(),
        parts: Parts::new(&process.trace, &process.config, clock::now(), table),
        keeper: Keeper::new(Instant::now()),
        has_stopped: false,
        waiting_since: None,
        waiting: 0.0,
        hurries: false,
        began_anew: false,
        lines: Vec::new(),
        failing: None,
        why_full: RING_FULL,
        ending: false,
        saved: requests::SavedCounters::default(),
    };
    process.tell_libraries();
    let tick_hz = clock::measure_hz(MEASURE);
    process.define(clock::now(), Definition::Clock { tick_hz });
    let stop = collector.work();
    if !must_rest() {
        collector.finish();
    }
    let _ = stop.send(());
}

/// True where work might end the program: the calling thread is in a sandbox, or has no memory left.
fn must_rest() -> bool {
    sandbox::is_new() || is_short()
}

impl Collector {
    /// Looks again and again, until told to stop.
    fn work(&mut self) -> Sender<()> {
        let mut listed = Instant::now();
        let (mut pause, mut doze) = (Pause::new(listed), None);
        loop {
            if must_rest() {
                return self.rest();
            }
            let fill = self.look();
            self.keeper.tend(&self.process.pool, Instant::now());
            self.handle_requests();
            let sleep = pause.after(fill, Instant::now());
            if listed.elapsed() >= LIBRARIES {
                self.process.tell_libraries();
                listed = Instant::now();
            }
            let time = match sleep {
                Sleep::For(time) => time,
                Sleep::Doze if self.doze(doze.get_or_insert_with(Doze::new)) => Duration::ZERO,
                Sleep::Doze => LONGEST,
            };
            match self.process.for_collector.recv_timeout(time) {
                Ok(Message::Stop(answer)) => return answer,
                Ok(Message::Flush(answer)) => drop(answer.try_send(self.write_now())),
                Ok(Message::Rest) => self.process.rest.rest_if_asked(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(time),
            }
        }
    }

    /// Does nothing more until told to stop: what is recorded stays in the ring files.
    fn rest(&self) -> Sender<()> {
        loop {
            match self.process.for_collector.recv() {
                Ok(Message::Stop(answer)) => return answer,
                Ok(Message::Flush(answer)) => drop(answer.try_send(false)),
                Ok(Message::Rest) => self.process.rest.rest_if_asked(),
                Err(_) => std::thread::park(),
            }
        }
    }

    /// Sleeps until the program does something, or for some time; false where that cannot be, or something is to be done
    /// without any call of the program's.
    fn doze(&self, doze: &mut Doze) -> bool {
        let is_told = || !self.process.for_collector.is_empty();
        self.waiting_since.is_none()
            && self.failing.is_none()
            && doze.sleep(LIBRARIES, &self.process.alarm, is_told)
    }

    /// Drains every ring once; gives how full the fullest was, as a part of its slots.
    fn look(&mut self) -> f32 {
        self.take_new_rings();
        if !self.can_write() {
            return 0.0;
        }
        if self.has_stopped {
            let positions: Vec<Position> = self.consumers.iter_mut().map(Consumer::position).collect();
            self.retire(&positions);
            return 0.0;
        }
        // Positions are read before the definitions: every name that an event before a head needs is then there.
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

    /// A ring that is overwritten is left alone until its thread or the process ends.
    fn is_to_read(&self, position: &Position) -> bool {
        self.ending || position.ended || self.process.config.when_full != WhenFull::Overwrite
    }

    fn take_new_rings(&mut self) {
        let new = self.process.take_rings();
        // One may have been made just before the last news of it.
        new.iter().for_each(|ring| ring.set_why_full(self.why_full));
        self.consumers.extend(new.into_iter().map(Consumer::new));
    }

    fn define(&mut self) {
        let (decoder, lines) = (&mut self.decoder, &mut self.lines);
        self.definitions.read(&self.process.log, |number, bytes| decoder.define(number, bytes, lines));
    }

    /// False when what was read could not be written.
    fn drain(&mut self, which: usize, head: u64) -> bool {
        let (tid, batch) = (self.consumers[which].ring().tid(), self.parts.batch());
        loop {
            let (decoder, lines) = (&mut self.decoder, &mut self.lines);
            self.consumers[which].read_while(head, |event| {
                decoder.event(tid, event, lines);
                lines.len() < batch
            });
            if self.lines.len() < batch {
                return true;
            }
            // What was read waits in memory, what was not, in the ring.
            if !self.flush() || !self.rotate() {
                return false;
            }
        }
    }

    /// Writes the lines, then commits: from here on they are the file's, and the slots the threads'. False when they could
    /// not be written.
    fn flush(&mut self) -> bool {
        // Before any line that refers to them can be in the file.
        for definition in self.decoder.take_pending() {
            self.process.define(clock::now(), definition);
        }
        if let Err(error) = self.parts.write(&self.lines) {
            self.fail(&error);
            return false;
        }
        self.lines.clear();
        self.failing = None;
        self.commit();
        self.parts.remove_doomed();
        true
    }

    fn commit(&mut self) {
        let epoch = self.process.control.epoch();
        self.consumers.iter().for_each(|consumer| consumer.prepare_commit(epoch));
        self.process.control.commit(self.parts.number(), self.parts.length());
        self.consumers.iter_mut().for_each(Consumer::release);
    }

    /// Closes the accounts of threads that had ended before this look, and gives their rings up. False when they could not be
    /// written.
    fn retire(&mut self, positions: &[Position]) -> bool {
        if !positions.iter().any(|position| position.ended) {
            return true;
        }
        let mut ended = positions.iter().map(|position| position.ended);
        let (gone, left) =
            std::mem::take(&mut self.consumers).into_iter().partition(|_| ended.next().unwrap_or(false));
        let mut gone: Vec<Consumer> = gone;
        self.consumers = left;
        gone.iter_mut().for_each(|consumer| self.close_account(consumer));
        let written = self.parts.write(&self.lines);
        self.lines.clear();
        if let Err(error) = written {
            gone.iter_mut().filter(|_| self.has_stopped).for_each(Consumer::rewind);
            self.consumers.extend(gone);
            self.fail(&error);
            return false;
        }
        gone.iter().for_each(|consumer| self.parts.tell_of(consumer.ring().tid(), consumer.produced()));
        let epoch = self.process.control.epoch();
        gone.iter().for_each(|consumer| consumer.prepare_retirement(epoch));
        self.commit();
        gone.iter().for_each(|consumer| self.saved.end(consumer));
        gone.iter_mut().for_each(Consumer::retire);
        for ring in gone.iter().map(Consumer::ring) {
            if let Some(path) = ring.path() {
                let _ = std::fs::remove_file(path);
            }
            self.process.give_back(ring);
        }
        true
    }

    fn close_account(&mut self, consumer: &mut Consumer) {
        let tid = consumer.ring().tid();
        if self.has_stopped {
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

    /// Writes what is left, every account, and the footer.
    fn finish(&mut self) {
        self.ending = true;
        self.process.tell_libraries();
        let mut is_written = self.end();
        if std::mem::take(&mut self.began_anew) {
            is_written = self.end();
        }
        self.process.is_written.store(is_written, Relaxed);
        if !is_written {
            self.count_hidden();
        }
    }

    /// False when not all could be written. It stays in the ring files.
    fn end(&mut self) -> bool {
        self.began_anew = false;
        self.look();
        if self.failing.is_some() || self.began_anew {
            return false;
        }
        for mut consumer in std::mem::take(&mut self.consumers) {
            self.close_account(&mut consumer);
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

    /// Calls of the hooks that make no event.
    fn silent_calls(&self) -> Vec<(u16, u64)> {
        let entry_points =
            self.process.table.iter().flat_map(|hook| (0..ENTRY_POINTS).map(move |number| (*hook, number)));
        let counted =
            entry_points.map(|(hook, number)| (hook.id_of(number), hook.entry_points[number].calls()));
        counted.filter(|(_, calls)| *calls != 0).collect()
    }
}
