//! Control requests to a recording process, and the statistics that its collector publishes: a part
//! of its control page.
//!
//! ```text
//!   command   request ──► …                             … ──► reads the answer, and the statistics
//!   collector         ──► polls, acts, publishes, answers ──►
//! ```
//!
//! A request has a number, so that its answer can be identified. Several commands may send
//! requests: each waits until the one before was answered or withdrawn.

use crate::clock;
use crate::event::LOSS_REASONS;
use crate::sync::{AtomicU64, fence};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Loss reasons that the page has room for.
const REASONS: usize = 16;
const _: () = assert!(LOSS_REASONS.len() <= REASONS);
/// In a request and its answer: the bit at which the number begins.
const NUMBER_AT: u32 = 8;

/// What can be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Request {
    /// Nothing: withdraws the request before it.
    Nothing = 0,
    /// Publish the statistics now.
    Stats = 1,
    /// Write all that was recorded so far.
    Flush = 2,
    /// Stop recording.
    Stop = 3,
    /// Start recording.
    Start = 4,
    /// Request GPU times from the HIP runtime.
    GpuTimeOn = 5,
    /// Stop requesting them.
    GpuTimeOff = 6,
}

impl Request {
    fn of(request: u64) -> Request {
        let switched = [Request::Stop, Request::Start, Request::GpuTimeOn, Request::GpuTimeOff];
        let mut all = [Request::Stats, Request::Flush].into_iter().chain(switched);
        all.find(|what| *what as u8 == request as u8).unwrap_or(Request::Nothing)
    }
}

/// Statistics of a recording process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectorStats {
    /// Recording is stopped.
    pub stopped: bool,
    /// The stamp at which it last stopped or started; 0: never since the process began.
    pub since: u64,
    /// The last attempt to write the trace failed.
    pub failing: bool,
    /// Threads that have rings.
    pub threads: u64,
    /// Threads that had one and have ended.
    pub ended: u64,
    /// Events read from the rings.
    pub written: u64,
    /// Events counted as lost, by reason.
    pub lost: [u64; LOSS_REASONS.len()],
    /// Calls of threads whose rings are private memory.
    pub hidden: u64,
    /// CPU time of the collector, ns.
    pub collector_ns: u64,
    /// Bytes of ring memory in use or ready.
    pub memory: u64,
    /// How often a thread found no ring memory ready, and reserved some itself.
    pub reserved: u64,
}

/// Their fields in the control page.
#[repr(C)]
pub struct ControlRequests {
    /// Number of the request, and a [`Request`].
    request: AtomicU64,
    /// The request that was answered last. Release: after the statistics.
    answer: AtomicU64,
    /// Stamp of the collector's last poll.
    last_poll: AtomicU64,
    /// Seqlock version: odd while the statistics are being written.
    version: AtomicU64,
    /// The statistics, word by word.
    words: [AtomicU64; WORDS + REASONS],
}

/// Attempts to read the statistics while they are being written.
const TRIES: usize = if cfg!(loom) { 2 } else { 1000 };
/// Words of the statistics before the losses.
const WORDS: usize = 10;

impl ControlRequests {
    /// Sends a request; returns the value that its answer will have. `None` while another one is
    /// pending.
    pub fn send(&self, what: Request) -> Option<u64> {
        let last = self.request.load(Relaxed);
        let request = ((last >> NUMBER_AT) + 1) << NUMBER_AT | what as u64;
        let is_free = self.is_answered(last);
        // Release: the collector that sees the request sees what was done before.
        (is_free && self.request.compare_exchange(last, request, Release, Relaxed).is_ok()).then_some(request)
    }

    /// True once `request` was answered.
    pub fn is_answered(&self, request: u64) -> bool {
        // Acquire: what the process did before it answered is visible.
        let answer = self.answer.load(Acquire);
        // A later one may have been answered since.
        answer == request || answer >> NUMBER_AT > request >> NUMBER_AT
    }

    /// Withdraws a request that was not answered.
    pub fn withdraw(&self, request: u64) {
        let nothing = request & !((1 << NUMBER_AT) - 1);
        let _ = self.request.compare_exchange(request, nothing, Release, Relaxed);
    }

    /// The collector's poll: stores its stamp, and returns a new request with the value of its
    /// answer.
    pub fn poll(&self) -> Option<(u64, Request)> {
        self.last_poll.store(clock::now(), Relaxed);
        // Acquire: pairs with the release in `send`.
        let request = self.request.load(Acquire);
        (request != self.answer.load(Relaxed)).then(|| (request, Request::of(request)))
    }

    /// Answers `request`.
    pub fn answer(&self, request: u64) {
        // Release: after what was done.
        self.answer.store(request, Release);
    }

    /// Stamp of the collector's last poll; 0 before the first.
    pub fn last_poll(&self) -> u64 {
        self.last_poll.load(Relaxed)
    }

    /// For loom models: the words that the command writes, and those that the collector writes,
    /// with only some of the statistics.
    #[cfg(all(test, loom))]
    pub(crate) fn shared_words(&self) -> (*const u64, [*const u64; 4]) {
        let stored = [&self.answer, &self.version, &self.words[1], &self.words[3]];
        (self.request.as_ptr(), stored.map(|word| word.as_ptr().cast_const()))
    }

    /// Publishes the statistics.
    pub fn publish(&self, stats: &CollectorStats) {
        let CollectorStats {
            stopped,
            since,
            failing,
            threads,
            ended,
            written,
            lost,
            hidden,
            collector_ns,
            ..
        } = *stats;
        let CollectorStats { memory, reserved, .. } = *stats;
        let flags = [stopped.into(), since, failing.into(), threads, ended];
        let numbers = [written, hidden, collector_ns, memory, reserved];
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        // The words are stored after the version is odd.
        fence(Release);
        for (word, value) in self.words.iter().zip(flags.iter().chain(&numbers).chain(&lost)) {
            word.store(*value, Relaxed);
        }
        // Release: after the words.
        self.version.store(version + 2, Release);
    }

    /// The statistics published last; `None` if they change on every attempt, or the process died
    /// while it wrote them.
    pub fn stats(&self) -> Option<CollectorStats> {
        (0..TRIES).find_map(|_| {
            // Acquire: the words are loaded after it.
            let version = self.version.load(Acquire);
            let words: [u64; WORDS + REASONS] = std::array::from_fn(|i| self.words[i].load(Relaxed));
            // The words are loaded before the version is checked again.
            fence(Acquire);
            let is_whole = version & 1 == 0 && self.version.load(Relaxed) == version;
            let [
                stopped,
                since,
                failing,
                threads,
                ended,
                written,
                hidden,
                collector_ns,
                memory,
                reserved,
                ..,
            ] = words;
            let lost = std::array::from_fn(|i| words[WORDS + i]);
            let (stopped, failing) = (stopped != 0, failing != 0);
            is_whole.then_some(CollectorStats {
                stopped,
                since,
                failing,
                threads,
                ended,
                written,
                lost,
                hidden,
                collector_ns,
                memory,
                reserved,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests() -> ControlRequests {
        let words = [const { AtomicU64::new(0) }; WORDS + REASONS];
        let [request, answer, last_poll, version] = [const { AtomicU64::new(0) }; 4];
        ControlRequests { request, answer, last_poll, version, words }
    }

    #[test]
    fn a_request_is_pending_until_it_is_answered_or_withdrawn() {
        let requests = requests();
        assert_eq!(requests.poll(), None);
        let stop = requests.send(Request::Stop).unwrap();
        assert_eq!(requests.send(Request::Start), None, "one after the other");
        assert_eq!(requests.poll(), Some((stop, Request::Stop)));
        assert!(!requests.is_answered(stop));
        requests.answer(stop);
        assert!(requests.is_answered(stop) && requests.poll().is_none());
        let start = requests.send(Request::Start).unwrap();
        requests.withdraw(start);
        let (nothing, what) = requests.poll().expect("the number is a new one");
        assert_eq!(what, Request::Nothing);
        requests.answer(nothing);
        assert!(requests.poll().is_none() && !requests.is_answered(start));
        let again = requests.send(Request::Stop).unwrap();
        assert!(again > stop && requests.is_answered(stop), "the same request again is another one");
    }

    #[test]
    fn published_statistics_are_read_unchanged() {
        let requests = requests();
        assert_eq!(requests.stats(), Some(CollectorStats::default()));
        let lost = std::array::from_fn(|i| i as u64 + 9);
        let stats = CollectorStats {
            stopped: true,
            since: 1,
            failing: true,
            threads: 2,
            ended: 3,
            written: 4,
            lost,
            hidden: 5,
            collector_ns: 6,
            memory: 7,
            reserved: 8,
        };
        requests.publish(&stats);
        assert_eq!(requests.stats(), Some(stats));
        requests.version.store(7, Relaxed);
        assert_eq!(requests.stats(), None, "half of it");
    }
}
