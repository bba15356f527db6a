//! State of a process's collector: running, never started, or failed.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// State of the collector.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CollectorState {
    /// The collector thread writes the trace.
    Running,
    /// No thread could be started. The thread that calls `exit` writes the trace.
    NoThread,
    /// The collector panicked. What is recorded stays in the ring files.
    Failed,
}

/// The present [`CollectorState`]. Changes at most once, from `Running` to another.
pub(crate) struct CollectorStateCell(AtomicU8);

impl Default for CollectorStateCell {
    fn default() -> CollectorStateCell {
        CollectorStateCell(AtomicU8::new(CollectorState::Running as u8))
    }
}

impl CollectorStateCell {
    pub(crate) fn set(&self, state: CollectorState) {
        self.0.store(state as u8, Relaxed);
    }

    pub(crate) fn get(&self) -> CollectorState {
        use CollectorState::{Failed, NoThread, Running};
        [Running, NoThread, Failed][self.0.load(Relaxed) as usize]
    }
}
