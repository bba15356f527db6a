//! Sends a request to a process and waits for its answer.

use super::{Live, has_collector, status_word};
use crate::stat::Stat;
use rocshim_ring::requests::{CollectorStats, Request};
use std::time::{Duration, Instant};

/// Poll interval for the answer; the process polls at least four times a second.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Why there was no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The process has ended.
    Ended,
    /// It is stopped, by a signal or a debugger.
    Stopped,
    /// It has no collector: it could not be started, or has failed.
    NoCollector,
    /// Its collector runs and does not answer in time.
    Late,
    /// Like [`Silence::Late`], with the process under a seccomp filter: if the process installed it
    /// itself, the collector is quiesced for good.
    Sandboxed,
}

impl Live {
    /// Sends a request and returns the statistics as of the answer. A request that is not answered
    /// within `patience` is withdrawn.
    ///
    /// # Errors
    /// Why there was no answer.
    pub fn send(&self, what: Request, patience: Duration) -> Result<CollectorStats, Silence> {
        let (requests, asked) = (self.control.requests(), Instant::now());
        let mut request = None;
        loop {
            request = request.or_else(|| requests.send(what));
            if let (Some(request), Some(account)) = (request, requests.stats())
                && requests.is_answered(request)
            {
                return Ok(account);
            }
            let silence = self.silence();
            if matches!(silence, Some(Silence::Ended)) || asked.elapsed() > patience {
                if let Some(request) = request {
                    requests.withdraw(request);
                }
                let late = if is_sandboxed(self.pid) { Silence::Sandboxed } else { Silence::Late };
                return Err(silence.unwrap_or(late));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns what keeps the process from answering, if it can be determined.
    fn silence(&self) -> Option<Silence> {
        let stat =
            Stat::of(self.pid).filter(|stat| stat.lives && stat.start_ticks == self.header.start_ticks);
        let Some(stat) = stat else { return Some(Silence::Ended) };
        if stat.stopped {
            return Some(Silence::Stopped);
        }
        // Removing its files is the process's last action.
        if !self.folder.path().exists() {
            return Some(Silence::Ended);
        }
        (!has_collector(self.pid)).then_some(Silence::NoCollector)
    }
}

fn is_sandboxed(pid: u32) -> bool {
    status_word(pid, "Seccomp:").is_some_and(|mode| mode != 0)
}
