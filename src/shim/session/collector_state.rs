//! Which thread writes the trace of a process.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Which thread writes the trace.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Collector {
    /// The collector thread.
    Thread,
    /// No such thread could be started: the thread that ends the process.
    None,
    /// None, because the collector has failed; what is recorded stays in the ring files.
    Failed,
}

/// The present [`Collector`]. Changes once at most, from `Thread` to another.
pub(crate) struct CollectorIs(AtomicU8);

impl Default for CollectorIs {
    fn default() -> CollectorIs {
        CollectorIs(AtomicU8::new(Collector::Thread as u8))
    }
}

impl CollectorIs {
    pub(crate) fn set(&self, who: Collector) {
        self.0.store(who as u8, Relaxed);
    }

    pub(crate) fn get(&self) -> Collector {
        [Collector::Thread, Collector::None, Collector::Failed][self.0.load(Relaxed) as usize]
    }
}
