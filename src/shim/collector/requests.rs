//! Handles the control requests of `rocshim ctl`, and publishes the collector's statistics. Each
//! pass over the rings checks one word of the control page.

use super::{Collector, must_quiesce};
use crate::symbols::binding;
use rocshim_ring::definition::Definition;
use rocshim_ring::event::LOSS_REASONS;
use rocshim_ring::requests::{CollectorStats, Request};
use rocshim_ring::{CHUNK_BYTES, Consumer, clock};
use std::time::{Duration, Instant};

/// Interval at which statistics are published without a request.
const STATS_INTERVAL: Duration = Duration::from_millis(250);

/// Statistics beyond those of the present rings.
#[derive(Default)]
pub(super) struct SavedCounters {
    when: Option<Instant>,
    /// Stamp at which recording was last paused or resumed.
    since: u64,
    ended: u64,
    /// Sums over threads that have ended.
    written: u64,
    lost: [u64; LOSS_REASONS.len()],
}

impl SavedCounters {
    /// Adds the ring of a thread that has ended, after its counters were written.
    pub(super) fn end(&mut self, consumer: &Consumer) {
        self.ended += 1;
        self.written += consumer.written();
        add(&mut self.lost, consumer.lost_by_reason());
    }
}

fn add(sum: &mut [u64; LOSS_REASONS.len()], lost: [u64; LOSS_REASONS.len()]) {
    sum.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += lost);
}

impl Collector {
    /// Handles a pending request.
    pub(super) fn handle_requests(&mut self) {
        let requests = self.process.control.requests();
        let Some((request, kind)) = requests.poll() else {
            if self.saved.when.is_none_or(|when| when.elapsed() >= STATS_INTERVAL) {
                self.publish_stats();
            }
            return;
        };
        match kind {
            Request::Nothing | Request::Stats => {}
            // What was recorded before the request precedes the heads that this pass reads.
            Request::Flush => self.drain_now(),
            Request::Stop if !binding::is_paused() => self.stop(),
            Request::Start if binding::is_paused() => self.start(),
            Request::Stop | Request::Start => {}
            Request::GpuTimeOn => self.switch_gpu_time(true),
            Request::GpuTimeOff => self.switch_gpu_time(false),
        }
        self.publish_stats();
        requests.answer(request);
    }

    /// Makes a pass that writes everything.
    fn drain_now(&mut self) {
        self.must_write_now = true;
        self.pass();
    }

    /// Writes everything, for the program's own request; returns false when that was not possible.
    pub(super) fn write_now(&mut self) -> bool {
        if !must_quiesce() {
            self.drain_now();
        }
        !must_quiesce() && self.failing.is_none()
    }

    fn stop(&mut self) {
        let stamp = clock::now();
        binding::pause(&self.process.table);
        // Events recorded before must precede the line that reports the pause.
        self.drain_now();
        self.emit_recording(stamp, false);
    }

    fn start(&mut self) {
        binding::resume(&self.process.table, |name| self.process.config.records(name));
        self.emit_recording(clock::now(), true);
    }

    fn switch_gpu_time(&mut self, on: bool) {
        if let Some(turn) = self.process.switch_gpu_time.get() {
            turn(self.process, on);
        }
        self.drain_now();
    }

    fn emit_recording(&mut self, stamp: u64, on: bool) {
        self.saved.since = stamp;
        self.process.define(stamp, Definition::Recording(on));
        self.drain_now();
    }

    fn publish_stats(&mut self) {
        self.saved.when = Some(Instant::now());
        let SavedCounters { since, ended, mut written, mut lost, .. } = self.saved;
        let mut hidden = 0;
        for consumer in &self.consumers {
            written += consumer.written();
            add(&mut lost, consumer.lost_by_reason());
            if consumer.ring().path().is_none() {
                hidden += consumer.ring().produced();
            }
        }
        for gap in self.process.control.untracked() {
            lost[gap.reason as usize] += gap.lost;
        }
        let memory = self.process.pool.state();
        self.process.control.requests().publish(&CollectorStats {
            stopped: binding::is_paused(),
            since,
            failing: self.failing.is_some(),
            threads: self.consumers.len() as u64,
            ended,
            written,
            lost,
            hidden,
            collector_ns: clock::thread_cpu_ns(),
            memory: (memory.in_use + memory.ready) * CHUNK_BYTES as u64,
            reserved: memory.reserved,
        });
    }
}
