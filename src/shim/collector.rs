//! The collector: one thread that drains the rings, names what it finds, and writes the trace.
//!
//! It sleeps between looks, by need: as long as it takes, at the rate seen last, to fill a quarter of the ring that is
//! filled fastest; see `pause`.

mod orders;

use crate::pause::Pause;
use crate::process::{Message, Process};
use crate::row::WAYS;
use crate::sink::Sink;
use crossbeam_channel::{RecvTimeoutError, Sender};
use rocshim_drain::Decoder;
use rocshim_ring::definition::Definition;
use rocshim_ring::{Consumer, LogReader, Position, WhenFull, clock};
use rocshim_trace::{Footer, Record, write_record};
use std::time::{Duration, Instant};

/// Between two looks at the list of loaded libraries.
const LIBRARIES: Duration = Duration::from_millis(250);
/// Bytes of lines that are written at once: they stay in the processor's cache from one step to the next.
const BATCH: usize = 1 << 18;
/// How long the clock is measured against the system's before the header is written; the rings must hold out until then.
const MEASURE: Duration = Duration::from_millis(5);

struct Collector {
    process: &'static Process,
    decoder: Decoder,
    definitions: LogReader,
    consumers: Vec<Consumer>,
    /// How far their rings had come at this look.
    positions: Vec<Position>,
    /// Rings taken over so far, retired ones too.
    rings_seen: usize,
    sink: Sink,
    /// Lines that are not in the file yet.
    lines: Vec<u8>,
    /// The last write failed: said once, tried again at every look.
    failing: bool,
    /// The process ends.
    ending: bool,
    /// What the account needs that is told to who asks.
    told: orders::Told,
}

/// Runs until the process ends.
pub(crate) fn run(process: &'static Process) {
    let mut collector = Collector {
        process,
        decoder: Decoder::default(),
        definitions: LogReader::default(),
        consumers: Vec::new(),
        positions: Vec::new(),
        rings_seen: 0,
        sink: Sink::new(process.trace.clone()),
        lines: Vec::new(),
        failing: false,
        ending: false,
        told: orders::Told::default(),
    };
    process.tell_libraries();
    let tick_hz = clock::measure_hz(MEASURE);
    process.define(clock::now(), Definition::Clock { tick_hz });
    let stop = collector.work();
    collector.finish();
    let _ = stop.send(());
}

impl Collector {
    /// Looks again and again, until told to stop.
    fn work(&mut self) -> Sender<()> {
        let mut listed = Instant::now();
        let mut pause = Pause::new(listed);
        loop {
            let fill = self.look();
            self.obey();
            // A file that cannot be written is tried again now and then.
            let fill = if self.failing { 0.0 } else { fill };
            let pause = pause.after(fill, Instant::now());
            if listed.elapsed() >= LIBRARIES {
                self.process.tell_libraries();
                listed = Instant::now();
            }
            match self.process.for_collector.recv_timeout(pause) {
                Ok(Message::Stop(answer)) => return answer,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
            }
        }
    }

    /// Drains every ring once; gives how full the fullest was, as a part of its slots.
    fn look(&mut self) -> f32 {
        self.take_new_rings();
        // Positions are read before the definitions: every name that an event before a head needs is then there.
        let mut positions = std::mem::take(&mut self.positions);
        positions.clear();
        positions.extend(self.consumers.iter_mut().map(Consumer::position));
        self.define();
        let mut fullest = 0.0_f32;
        for (i, position) in positions.iter().enumerate() {
            if self.is_to_read(position) {
                fullest = fullest.max(self.consumers[i].fill(position.head));
                self.drain(i, position.head);
            }
        }
        if fullest > 0.0 || !self.lines.is_empty() {
            self.flush();
        }
        self.retire(&positions);
        self.positions = positions;
        fullest
    }

    /// A ring that is overwritten is left alone until its thread or the process ends.
    fn is_to_read(&self, position: &Position) -> bool {
        self.ending || position.ended || self.process.config.when_full != WhenFull::Overwrite
    }

    fn take_new_rings(&mut self) {
        let new = self.process.rings_after(self.rings_seen);
        self.rings_seen += new.len();
        self.consumers.extend(new.into_iter().map(Consumer::new));
    }

    fn define(&mut self) {
        let (decoder, lines) = (&mut self.decoder, &mut self.lines);
        self.definitions.read(&self.process.log, |number, bytes| decoder.define(number, bytes, lines));
    }

    fn drain(&mut self, which: usize, head: u64) {
        let tid = self.consumers[which].ring().tid();
        loop {
            let (decoder, lines) = (&mut self.decoder, &mut self.lines);
            self.consumers[which].read_while(head, |event| {
                decoder.event(tid, event, lines);
                lines.len() < BATCH
            });
            if self.lines.len() < BATCH {
                return;
            }
            self.flush();
            if self.failing {
                // What was read waits in memory; what was not, in the ring.
                return;
            }
        }
    }

    /// Writes the lines, then commits: from here on they are the file's, and the slots the threads'.
    fn flush(&mut self) {
        // Before any line that refers to them can be in the file.
        for news in self.decoder.take_news() {
            self.process.define(clock::now(), news);
        }
        match self.sink.write(&self.lines) {
            Ok(()) => {
                self.lines.clear();
                self.failing = false;
                self.commit();
            }
            Err(error) if !self.failing => {
                self.failing = true;
                let trace = self.process.trace.display();
                let what = format!("{trace}: {error}; events wait in memory, then are counted as lost");
                self.process.config.report(&what);
            }
            Err(_) => {}
        }
    }

    fn commit(&mut self) {
        let epoch = self.process.control.epoch();
        self.consumers.iter().for_each(|consumer| consumer.prepare_commit(epoch));
        self.process.control.commit(self.sink.length());
        self.consumers.iter().for_each(Consumer::release);
    }

    /// Closes the accounts of threads that had ended before this look, and gives their rings up.
    fn retire(&mut self, positions: &[Position]) {
        if self.failing || !positions.iter().any(|position| position.ended) {
            return;
        }
        let mut ended = positions.iter().map(|position| position.ended);
        let (gone, left) =
            std::mem::take(&mut self.consumers).into_iter().partition(|_| ended.next().unwrap_or(false));
        let gone: Vec<Consumer> = gone;
        self.consumers = left;
        gone.iter().for_each(|consumer| self.close_account(consumer));
        if self.sink.write(&self.lines).is_err() {
            self.consumers.extend(gone);
            return;
        }
        self.lines.clear();
        let epoch = self.process.control.epoch();
        gone.iter().for_each(|consumer| consumer.prepare_retirement(epoch));
        self.commit();
        gone.iter().for_each(|consumer| self.told.end(consumer));
        for path in gone.iter().filter_map(|consumer| consumer.ring().path()) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn close_account(&mut self, consumer: &Consumer) {
        let ring = consumer.ring();
        if let Some(gap) = consumer.untold() {
            self.decoder.gap(ring.tid(), &gap, &mut self.lines);
        }
        self.decoder.thread(
            ring.tid(),
            consumer.produced(),
            consumer.written(),
            consumer.lost(),
            &mut self.lines,
        );
    }

    /// Writes what is left, every account, and the footer.
    fn finish(&mut self) {
        self.ending = true;
        self.process.tell_libraries();
        self.look();
        for consumer in std::mem::take(&mut self.consumers) {
            self.close_account(&consumer);
            self.consumers.push(consumer);
        }
        let now = clock::now();
        for gap in self.process.ringless() {
            self.decoder.gap(0, &gap, &mut self.lines);
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
        self.flush();
        if let Some(folder) = self.process.folder.as_ref().filter(|_| !self.failing) {
            let _ = folder.remove();
        }
    }

    fn drift_ppm(&self) -> Option<f64> {
        let clock = self.decoder.clock()?;
        let (stamp, unix) = clock::anchor();
        let (ours, system) = (clock.ns(stamp) as f64, unix.checked_sub(clock.unix_ns)? as f64);
        (system > 0.0).then(|| ((ours - system) / system * 1e9).round() / 1e3)
    }

    /// Calls of the hooks that make no event.
    fn silent_calls(&self) -> Vec<(u16, u64)> {
        let ways = self.process.table.iter().flat_map(|hook| (0..WAYS).map(move |way| (*hook, way)));
        let counted = ways.map(|(hook, way)| (hook.id_of(way), hook.ways[way].calls()));
        counted.filter(|(_, calls)| *calls != 0).collect()
    }
}
