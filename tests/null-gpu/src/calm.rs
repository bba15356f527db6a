//! Calm: ROCr's two event threads spin under a model, and would take the processors from the program.
//!
//! Their wait for events never blocks once an event has fired. So they get the lowest priority while the device works, and
//! their share back at exit, when HIP's destructors race with what is still to be handled.
#![allow(unsafe_code)] // setpriority and atexit

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

const LOWEST: i32 = 19;
/// Time for late handlers at exit.
const DRAIN: Duration = Duration::from_millis(30);

/// The threads that were there before the runtime started its own.
static EARLIER: OnceLock<BTreeSet<u32>> = OnceLock::new();
static CALMED: OnceLock<Vec<u32>> = OnceLock::new();

/// Remembers who is there before the runtime starts its threads.
pub(crate) fn note_threads() {
    let _ = EARLIER.set(threads());
}

/// Calms the threads that the runtime has started since. Only the first call does anything.
pub(crate) fn calm() {
    let Some(earlier) = EARLIER.get() else { return };
    CALMED.get_or_init(|| {
        // The runtime's threads are called as the thread that made them; a thread with a name of its own is not the
        // runtime's.
        let own_name = fs::read_to_string("/proc/thread-self/comm").ok();
        let calmed: Vec<u32> =
            threads().difference(earlier).copied().filter(|&id| name(id) == own_name).collect();
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
    // SAFETY: numbers only; a thread that has ended, or a lack of permission, is an error that changes nothing.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, thread, priority) };
}

fn threads() -> BTreeSet<u32> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return BTreeSet::new() };
    tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

fn name(thread: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/self/task/{thread}/comm")).ok()
}
