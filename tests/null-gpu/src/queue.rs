//! A queue: a ring of packets in device memory, the thread that works it off, and the waiting in
//! between.

use crate::log;
use crate::memory::Memory;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Sets an event of the runtime by its number.
pub(crate) type SetEvent = dyn Fn(u32) + Send + Sync;

/// What the packets of a queue are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Architected queueing language: kernels and barriers.
    Aql,
    /// The copy engine's packets.
    Sdma,
}

/// The location of a queue in device memory.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) ring: u64,
    pub(crate) bytes: u64,
    /// Addresses of the two indices; packets for AQL, bytes for SDMA.
    pub(crate) write_index: u64,
    pub(crate) read_index: u64,
}

/// A queue as its thread sees it.
pub(crate) struct Ring {
    pub(crate) id: usize,
    pub(crate) memory: &'static Memory,
    pub(crate) place: Place,
    pub(crate) set_event: &'static SetEvent,
    stop: Arc<AtomicBool>,
}

impl Ring {
    /// How far the runtime has written.
    pub(crate) fn written(&self) -> u64 {
        // Acquire: the packets before the index are seen.
        self.memory.shared(self.place.write_index).load(Ordering::Acquire)
    }

    /// Tells the runtime how far the device has read.
    pub(crate) fn retire(&self, index: u64) {
        // Release: the packets before the index are done with when it is seen.
        self.memory.shared(self.place.read_index).store(index, Ordering::Release);
    }

    /// Waits until `ready`; false when the queue is to stop instead.
    pub(crate) fn wait_until(&self, mut ready: impl FnMut() -> bool) -> bool {
        let mut looks = 0u32;
        while !ready() {
            // Relaxed: a flag, looked at again soon.
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            rest(looks);
            looks = looks.saturating_add(1);
        }
        true
    }
}

/// Rests between two looks: not at all at first, then longer and longer.
fn rest(looks: u32) {
    const SPINS: u32 = 200;
    const YIELDS: u32 = 300;
    if looks < SPINS {
        std::hint::spin_loop();
    } else if looks < YIELDS {
        thread::yield_now();
    } else {
        let longest = longest_rest();
        let micros = u64::from((looks - YIELDS) / 8).clamp(longest.min(20), longest);
        thread::sleep(Duration::from_micros(micros));
    }
}

fn longest_rest() -> u64 {
    static MICROS: OnceLock<u64> = OnceLock::new();
    *MICROS.get_or_init(|| number("NULL_GPU_POLL_US").unwrap_or(500))
}

/// The number in the environment variable `name`.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A queue at work. Dropping it stops it.
pub(crate) struct Queue {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Queue {
    /// Starts a thread that does `work` on the queue at `place`.
    pub(crate) fn start(
        kind: Kind,
        place: Place,
        memory: &'static Memory,
        set_event: &'static SetEvent,
        work: fn(Ring),
    ) -> Queue {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed); // Relaxed: only to be unlike the others
        let kind = if kind == Kind::Aql { "aql" } else { "sdma" };
        log::line("queue", format_args!("id={id} kind={kind} bytes={}", place.bytes));
        let stop = Arc::new(AtomicBool::new(false));
        let ring = Ring { id, memory, place, set_event, stop: stop.clone() };
        let thread = thread::Builder::new().name(format!("null-gpu-{kind}-{id}")).spawn(move || work(ring));
        Queue { stop, thread: thread.ok() }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed); // Relaxed: the join below orders the rest
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
