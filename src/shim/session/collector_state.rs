//! Who writes the trace of a process.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Who writes the trace.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Collector {
    /// The collector's thread.
    Thread,
    /// There could be no such thread: whoever ends the process.
    None,
    /// Nobody: it has failed, and what is recorded stays in the ring files.
    Failed,
}

/// A [`Collector`] that changes: from `Thread` to one of the others, once.
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
