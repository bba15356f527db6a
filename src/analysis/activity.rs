//! Computes, over time, how much of it each thread spent in calls and each GPU queue was busy: a
//! row of time bins per thread and per queue.
//!
//! All bins end up with the same length, a power of two nanoseconds: the shortest with which all
//! threads together need at most `MOST` bins. While a thread is read and needs more, its bins are
//! merged in pairs, so memory grows with the number of threads only.

use super::session::{Analysis, Event, Session};
use foldhash::HashMap;
use rocshim_trace::Record;
use serde::Serialize;

/// Bins of all threads together, at most.
const MOST: u64 = 512;
/// Number of threads that get a row each: those that spent most time in calls. All others share one
/// row.
const ROWS: usize = 24;
/// Times are clamped to this, the year 2116, because a damaged trace may contain any number.
const LATEST: u64 = 1 << 62;

/// The activity of all threads and queues over time; all times are ns since the earliest epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Activity {
    /// Begin of the first bin.
    pub begin_ns: u64,
    /// The length of a bin.
    pub bin_ns: u64,
    /// Number of bins.
    pub bins: u64,
    /// GPU queues, then threads; each with the longest time first.
    pub threads: Vec<ThreadActivity>,
    /// Number of threads that the last row sums up if there are too many for a row each; else 0.
    pub merged: u64,
}

/// A row: a thread or a GPU queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThreadActivity {
    /// The process; absent for a row of several threads.
    pub pid: Option<u32>,
    pub tid: Option<u32>,
    /// The device and the queue, if this row is a GPU queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<(u32, u64)>,
    /// Calls that the program itself made; for a queue: its commands.
    pub calls: u64,
    /// Time spent in them.
    pub in_calls_ns: u64,
    /// The same for each bin, from the first one on.
    pub busy_ns: Vec<u64>,
}

/// Busy time in bins of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bins {
    /// A bin is 2^shift ns long.
    shift: u32,
    /// The number of the first bin, counted from 1970.
    first: u64,
    busy: Vec<u64>,
}

impl Bins {
    /// Adds the busy time from `begin` to `end`.
    fn add(&mut self, begin: u64, end: u64) {
        self.reach(begin, end);
        for bin in begin >> self.shift..=end >> self.shift {
            let from = begin.max(bin << self.shift);
            let to = end.min((bin + 1) << self.shift);
            self.busy[(bin - self.first) as usize] += to - from;
        }
    }

    /// Extends the bins so that they cover `begin` to `end`.
    fn reach(&mut self, begin: u64, end: u64) {
        if self.busy.is_empty() {
            self.first = begin >> self.shift;
        }
        loop {
            let last = (self.first + self.busy.len().max(1) as u64 - 1).max(end >> self.shift);
            let first = self.first.min(begin >> self.shift);
            if last - first < MOST {
                let before = (self.first - first) as usize;
                self.busy.splice(0..0, std::iter::repeat_n(0, before));
                self.busy.resize((last - first + 1) as usize, 0);
                self.first = first;
                return;
            }
            self.fold();
        }
    }

    /// Merges the bins in pairs.
    fn fold(&mut self) {
        let mut folded = Vec::with_capacity(self.busy.len() / 2 + 1);
        for (at, busy) in self.busy.iter().enumerate() {
            match (self.first + at as u64) & 1 {
                1 if at > 0 => *folded.last_mut().expect("the bin before it") += busy,
                _ => folded.push(*busy),
            }
        }
        (self.busy, self.first, self.shift) = (folded, self.first >> 1, self.shift + 1);
    }
}

/// A thread whose trace is being read.
#[derive(Default)]
struct Thread {
    calls: u64,
    in_calls_ns: u64,
    bins: Bins,
}

/// The analysis that adds up the time that threads spend in calls.
#[derive(Default)]
pub(crate) struct ActivityBuilder {
    first_epoch: Option<u64>,
    pids: Vec<u32>,
    /// Rows of the process being read: their indices in `threads`.
    here: HashMap<Of, usize>,
    /// Each with the index of its process in `pids`.
    threads: Vec<((usize, Of), Thread)>,
}

/// What a row describes; queues sort first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Of {
    Queue(u32, u64),
    Thread(u32),
}

impl Analysis for ActivityBuilder {
    fn begin_process(&mut self, session: &Session) {
        let process = session.process();
        self.first_epoch = Some(self.first_epoch.map_or(process.epoch, |first| first.min(process.epoch)));
        self.pids.push(process.header.pid);
        self.here.clear();
    }

    fn event(&mut self, session: &Session, event: &Event) {
        let (call, process) = (event.call, self.pids.len() - 1);
        let (of, t, dur) = match event.record {
            Record::Gpu(gpu) if matches!(&*gpu.op, "dispatch" | "copy") => {
                (Of::Queue(gpu.device, gpu.queue), gpu.begin, gpu.busy)
            }
            // The time of a nested call is part of the enclosing call's.
            Record::Gpu(_) => return,
            _ if call.parent.is_some() => return,
            _ => (Of::Thread(call.tid), call.t, call.dur),
        };
        let number = *self.here.entry(of).or_insert_with(|| {
            self.threads.push(((process, of), Thread::default()));
            self.threads.len() - 1
        });
        let thread = &mut self.threads[number].1;
        thread.calls += 1;
        thread.in_calls_ns = thread.in_calls_ns.saturating_add(dur);
        let begin = session.process().epoch.saturating_add(t).min(LATEST);
        thread.bins.add(begin, begin.saturating_add(dur).min(LATEST));
    }
}

impl ActivityBuilder {
    /// Returns all threads, in bins of equal length.
    pub(crate) fn finish(mut self) -> Activity {
        let is_thread = |of: &Of| matches!(of, Of::Thread(_));
        self.threads
            .sort_by_key(|(key, thread)| (is_thread(&key.1), std::cmp::Reverse(thread.in_calls_ns), *key));
        let bins = || self.threads.iter().map(|(_, thread)| &thread.bins);
        let begin = bins().map(|bins| bins.first << bins.shift).min();
        let end = bins().map(|bins| (bins.first + bins.busy.len() as u64) << bins.shift).max();
        let (Some(begin), Some(end)) = (begin, end) else { return Activity::default() };
        let mut shift = bins().map(|bins| bins.shift).max().unwrap_or(0);
        while ((end - 1) >> shift) - (begin >> shift) >= MOST {
            shift += 1;
        }
        let first = begin >> shift;
        let count = ((end - 1) >> shift) - first + 1;
        let mut all = Activity {
            begin_ns: (first << shift).saturating_sub(self.first_epoch.unwrap_or(0)),
            bin_ns: 1 << shift,
            bins: count,
            ..Activity::default()
        };
        let own = if self.threads.len() > ROWS { ROWS - 1 } else { ROWS };
        for (at, ((process, of), mut thread)) in self.threads.into_iter().enumerate() {
            while thread.bins.shift < shift {
                thread.bins.fold();
            }
            if at <= own {
                all.threads
                    .push(ThreadActivity { busy_ns: vec![0; count as usize], ..ThreadActivity::default() });
            }
            if at < own {
                let row = &mut all.threads[at];
                row.pid = Some(self.pids[process]);
                match of {
                    Of::Queue(device, queue) => row.queue = Some((device, queue)),
                    Of::Thread(tid) => row.tid = Some(tid),
                }
            } else {
                all.merged += 1;
            }
            let row = all.threads.last_mut().expect("a row");
            row.calls += thread.calls;
            row.in_calls_ns += thread.in_calls_ns;
            for (bin, busy) in (thread.bins.first - first..).zip(&thread.bins.busy) {
                row.busy_ns[bin as usize] += busy;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(pid: u32, epoch: u64) -> String {
        format!(
            r#"{{"type":"header","format":1,"rocshim":"0","pid":{pid},"ppid":1,"start_ticks":0,"exe":"","argv":[],"env":{{}},"host":"","clock":"tsc","tick_hz":1,"epoch":"{epoch}","rings":""}}"#
        )
    }

    fn sync(tid: u32, t: u64, dur: u64) -> String {
        format!(r#"{{"type":"sync","tid":{tid},"id":1,"t":{t},"dur":{dur},"hook":1,"action":"stream"}}"#)
    }

    fn activity(lines: &[String]) -> Activity {
        let mut builder = ActivityBuilder::default();
        crate::testing::read_lines(&mut builder, lines.iter().map(String::as_str));
        builder.finish()
    }

    #[test]
    fn a_call_is_counted_in_every_bin_that_it_lies_in() {
        // From 0 to 2048: 512 bins of 4 ns would end at 2047, so bins have 8 ns. A child's time is
        // its parent's.
        let child = sync(7, 20, 8).replace("\"t\"", "\"parent\":1,\"t\"");
        let all = activity(&[header(7, 0), sync(7, 0, 10), child, sync(8, 2040, 8)]);
        assert_eq!((all.begin_ns, all.bin_ns, all.bins, all.merged), (0, 8, 257, 0));
        let found: Vec<_> = all.threads.iter().map(|row| (row.tid, row.calls, row.in_calls_ns)).collect();
        assert_eq!(found, [(Some(7), 1, 10), (Some(8), 1, 8)]);
        assert_eq!(all.threads[0].busy_ns[..3], [8, 2, 0]);
        assert_eq!(all.threads[1].busy_ns[254..], [0, 8, 0]);
    }

    #[test]
    fn bins_fold_as_time_goes_on_and_nothing_of_them_is_lost() {
        let calls: Vec<String> = (0..2_000).map(|n| sync(7, 1_000 + 1_000 * n, 500)).collect();
        let all = activity(&[vec![header(7, 1 << 40)], calls].concat());
        let row = &all.threads[0];
        assert_eq!(
            (row.calls, row.in_calls_ns, row.busy_ns.iter().sum::<u64>()),
            (2_000, 1_000_000, 1_000_000)
        );
        // 2 ms are at most 512 bins of 4096 ns.
        assert_eq!((all.bin_ns, all.bins), (4096, 489));
    }

    #[test]
    fn processes_share_one_time_and_many_threads_a_row() {
        let mut lines = vec![header(7, 1_000)];
        lines.extend((0..30).map(|n| sync(100 + n, 0, 100 - u64::from(n))));
        lines.extend([header(8, 900), sync(9, 0, 1_000)]);
        let all = activity(&lines);
        assert_eq!((all.threads.len(), all.merged), (24, 8));
        let first = &all.threads[0];
        assert_eq!((first.pid, first.tid), (Some(8), Some(9)));
        // 23 rows of their own: the second process's thread and 22 of the first's; the last 8 took
        // 71 + … + 78 ns.
        let last = &all.threads[23];
        assert_eq!((last.pid, last.calls, last.in_calls_ns), (None, 8, 596));
    }

    #[test]
    fn a_queue_of_a_gpu_has_a_row_before_the_threads() {
        let mut text = crate::testing::Text::new(0);
        text.ask_for_gpu_times();
        text.launch(7, 1, 1); // 100 to 110
        text.ran(1, 1, 2, 120, 40);
        let all = text.run().activity;
        let rows: Vec<_> = all.threads.iter().map(|row| (row.queue, row.tid, row.in_calls_ns)).collect();
        assert_eq!(rows, [(Some((1, 2)), None, 40), (None, Some(7), 10)]);
    }
}
