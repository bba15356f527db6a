//! Calm: ROCr's two event threads spin under a model, and would take the processors from the
//! program.
//!
//! Without interrupts they look at their signals again and again. One of them does work: it calls
//! the handlers of signals that have fired. So it gets a handler of ours for a signal that has
//! always fired, and that handler sleeps a little. The other one waits for faults, which this
//! device has none of: it gets the lowest priority.
#![allow(unsafe_code)] // setpriority, gettid and atexit

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

const LOWEST: i32 = 19;
/// Between two looks at the signals.
const PAUSE: Duration = Duration::from_micros(50);
/// Time for late handlers at exit: HIP's destructors race with them.
const DRAIN: Duration = Duration::from_millis(30);

/// The threads that were there before the runtime started its own.
static EARLIER: OnceLock<BTreeSet<u32>> = OnceLock::new();
/// The thread that pauses, once it has; 0 before.
static PAUSING: AtomicU32 = AtomicU32::new(0);
static CALMED: OnceLock<Vec<u32>> = OnceLock::new();

/// Remembers who is there before the runtime starts its threads.
pub(crate) fn note_threads() {
    let _ = EARLIER.set(threads());
}

/// Sleeps a little, on the thread that handles signals.
pub(crate) fn pause() {
    // SAFETY: only asks for a number.
    let id = unsafe { libc::gettid() };
    PAUSING.store(id as u32, Ordering::Relaxed); // Relaxed: it is always the same number
    thread::sleep(PAUSE);
}

/// Calms the threads that the runtime has started since, except the one that pauses. Only the first
/// call does anything.
pub(crate) fn calm() {
    let Some(earlier) = EARLIER.get() else { return };
    CALMED.get_or_init(|| {
        let pausing = PAUSING.load(Ordering::Relaxed); // Relaxed: as in `pause`
        // The runtime's threads are called as the thread that made them; a thread with a name of
        // its own is not the runtime's.
        let own_name = fs::read_to_string("/proc/thread-self/comm").ok();
        let spins = |&id: &u32| id != pausing && name(id) == own_name;
        let calmed: Vec<u32> = threads().difference(earlier).copied().filter(spins).collect();
        calmed.iter().for_each(|&id| set_priority(id, LOWEST));
        // SAFETY: a function of this library, which the runtime never unloads.
        unsafe { libc::atexit(drain) };
        calmed
    });
}

extern "C" fn drain() {
    if let Some(calmed) = CALMED.get() {
        calmed.iter().for_each(|&id| set_priority(id, 0));
    }
    thread::sleep(DRAIN);
}

fn set_priority(thread: u32, priority: i32) {
    // SAFETY: numbers only; a thread that has ended, or a lack of permission, is an error that
    // changes nothing.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, thread, priority) };
}

fn threads() -> BTreeSet<u32> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return BTreeSet::new() };
    tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

fn name(thread: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/self/task/{thread}/comm")).ok()
}
