//! A process is asked, and its answer awaited.

use super::{Live, has_collector};
use crate::stat::Stat;
use rocshim_ring::orders::{Account, Order};
use std::time::{Duration, Instant};

/// Between two looks for an answer; the process looks at least four times a second.
const LOOK: Duration = Duration::from_millis(1);

/// Why there was no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The process has ended.
    Ended,
    /// It is stopped, by a signal or a debugger.
    Stopped,
    /// Its collector is gone: it could not be started, or has failed.
    NoCollector,
    /// Its collector is there and does not answer in time.
    Late,
}

impl Live {
    /// Asks the process, and gives its account as of the answer. What is not answered within `patience` is taken back.
    ///
    /// # Errors
    /// When there was no answer: why.
    pub fn ask(&self, order: Order, patience: Duration) -> Result<Account, Silence> {
        let (orders, asked) = (self.control.orders(), Instant::now());
        let mut request = None;
        loop {
            request = request.or_else(|| orders.ask(order));
            if let (Some(request), Some(account)) = (request, orders.account())
                && orders.is_answered(request)
            {
                return Ok(account);
            }
            let silence = self.silence();
            if matches!(silence, Some(Silence::Ended)) || asked.elapsed() > patience {
                if let Some(request) = request {
                    orders.withdraw(request);
                }
                return Err(silence.unwrap_or(Silence::Late));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// What keeps the process from answering, where that can be seen.
    fn silence(&self) -> Option<Silence> {
        let stat =
            Stat::of(self.pid).filter(|stat| stat.lives && stat.start_ticks == self.header.start_ticks);
        let Some(stat) = stat else { return Some(Silence::Ended) };
        if stat.stopped {
            return Some(Silence::Stopped);
        }
        // It removes its files as its last act.
        if !self.folder.path().exists() {
            return Some(Silence::Ended);
        }
        (!has_collector(self.pid)).then_some(Silence::NoCollector)
    }
}
