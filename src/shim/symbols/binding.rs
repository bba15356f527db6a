//! What the exported functions lead to, and whether their calls are recorded now. Libraries come and go, and recording may be
//! stopped and begun again: whoever changes something of either holds one lock.
//!
//! ```text
//!   recording   entry ─► hook ─► the real function        rows that only make events
//!   stopped     entry ────────► the real function
//!   either      entry ─► hook ─► the real function        rows from which something is learned: kernels, graphs, settings
//! ```

use crate::platform::fork;
use crate::platform::objects::{self, Object};
use crate::table::row::{Hook, Table};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};

/// The hooked libraries as they were last seen…
static LIBRARIES: Mutex<Vec<Object>> = Mutex::new(Vec::new());
/// … and the loader's count then.
static KNOWN: AtomicU64 = AtomicU64::new(0);
/// Recording is stopped. A forked child has it from its parent.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// True while recording is stopped.
pub(crate) fn is_stopped() -> bool {
    STOPPED.load(Relaxed)
}

/// Recording begins stopped: when the library is loaded.
pub(crate) fn begin_stopped() {
    STOPPED.store(true, Relaxed);
}

/// A process begins to record the functions that are `wanted`, unless recording is stopped.
pub(crate) fn begin(table: &Table, wanted: impl Fn(&str) -> bool) {
    turn(table, |name| !is_stopped() && wanted(name));
}

/// From here on nothing is recorded but what is being called.
pub(crate) fn stop(table: &Table) {
    STOPPED.store(true, Relaxed);
    turn(table, |_| false);
}

/// When this returns, every function that is `wanted` is recorded.
pub(crate) fn resume(table: &Table, wanted: impl Fn(&str) -> bool) {
    STOPPED.store(false, Relaxed);
    turn(table, wanted);
}

fn turn(table: &Table, wanted: impl Fn(&str) -> bool) {
    let _changing = fork::lock(&LIBRARIES);
    for hook in table {
        hook.set_records(wanted(hook.name));
        hook.pass_or_not();
    }
    // What is told of this moment is told after every thread can see it.
    fence(SeqCst);
}

/// In the child of a fork whose parent was stopped: its first calls come by the hooks, so that it makes files by which it can
/// be reached.
pub(crate) fn forget(table: &Table) {
    table.iter().for_each(|hook| hook.ways[0].lead_to(std::ptr::null_mut()));
}

/// Way 0 of `hook` leads to `real` from now on, which was found at the loader's count `generation`: unless libraries have
/// come or gone since, because then it may not be every caller's. The lock puts this before or after a look by whoever
/// noticed. With `may_pass`, calls that are not recorded go there at once, past the hook.
pub(crate) fn settle(hook: &Hook, real: *mut c_void, generation: u64, may_pass: bool) {
    let _looking = fork::lock(&LIBRARIES);
    if objects::generation() == generation {
        hook.bind(real, may_pass);
    }
}

/// True when libraries have come or gone since the last look.
#[inline]
pub(crate) fn is_outdated(generation: u64) -> bool {
    // Relaxed: whoever comes first looks; the lock orders the rest.
    KNOWN.load(Relaxed) != generation
}

/// Looks at the libraries again: where they are others than before, way 0 of each row is looked up anew.
#[cold]
pub(crate) fn look_again(table: Table, generation: u64) {
    let mut names: Vec<&str> = table.iter().map(|hook| hook.of).collect();
    names.dedup();
    let objects = objects::objects().into_iter();
    let libraries: Vec<Object> = objects.filter(|object| names.iter().any(|name| object.is(name))).collect();
    let mut known = fork::lock(&LIBRARIES);
    if *known != libraries {
        table.iter().for_each(|hook| hook.ways[0].lead_to(std::ptr::null_mut()));
        *known = libraries;
    }
    KNOWN.store(generation, Relaxed);
}
