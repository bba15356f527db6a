//! What the collector is asked from outside, by `rocshim ctl`, and the account that it tells of itself: at every look at the
//! rings it looks at a word of the control page too.

use super::{Collector, must_rest};
use crate::symbols::binding;
use rocshim_ring::definition::Definition;
use rocshim_ring::event::LOSS_REASONS;
use rocshim_ring::requests::{CollectorStats, Request};
use rocshim_ring::{CHUNK_BYTES, Consumer, clock};
use std::time::{Duration, Instant};

/// Between two accounts that nobody has asked for.
const SELDOM: Duration = Duration::from_millis(250);

/// What the account needs beside the rings that are there.
#[derive(Default)]
pub(super) struct Told {
    when: Option<Instant>,
    /// The stamp at which recording was stopped or begun last.
    since: u64,
    ended: u64,
    /// Of threads that have ended.
    written: u64,
    lost: [u64; LOSS_REASONS.len()],
}

impl Told {
    /// The thread of this ring has ended, and its account is closed.
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
    /// Does what is asked.
    pub(super) fn obey(&mut self) {
        let requests = self.process.control.requests();
        let Some((request, asked)) = requests.poll() else {
            if self.told.when.is_none_or(|when| when.elapsed() >= SELDOM) {
                self.tell_account();
            }
            return;
        };
        match asked {
            Request::Nothing | Request::Stats => {}
            // What was recorded by now lies before the heads that this look sees.
            Request::Flush => self.look_now(),
            Request::Stop if !binding::is_stopped() => self.stop(),
            Request::Start if binding::is_stopped() => self.start(),
            Request::Stop | Request::Start => {}
            Request::GpuTimeOn => self.turn_gpu_time(true),
            Request::GpuTimeOff => self.turn_gpu_time(false),
        }
        self.tell_account();
        requests.answer(request);
    }

    /// A look after which nothing waits.
    fn look_now(&mut self) {
        self.hurries = true;
        self.look();
    }

    /// The same for the program itself; false when what it recorded could not be written.
    pub(super) fn write_now(&mut self) -> bool {
        if !must_rest() {
            self.look_now();
        }
        !must_rest() && self.failing.is_none()
    }

    fn stop(&mut self) {
        let stamp = clock::now();
        binding::stop(&self.process.table);
        // So that what was recorded before comes before the line that tells of it.
        self.look_now();
        self.turned(stamp, false);
    }

    fn start(&mut self) {
        binding::resume(&self.process.table, |name| self.process.config.records(name));
        self.turned(clock::now(), true);
    }

    fn turn_gpu_time(&mut self, on: bool) {
        if let Some(turn) = self.process.turn_gpu_time.get() {
            turn(self.process, on);
        }
        self.look_now();
    }

    fn turned(&mut self, stamp: u64, on: bool) {
        self.told.since = stamp;
        self.process.define(stamp, Definition::Recording(on));
        self.look_now();
    }

    fn tell_account(&mut self) {
        self.told.when = Some(Instant::now());
        let Told { since, ended, mut written, mut lost, .. } = self.told;
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
            stopped: binding::is_stopped(),
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
