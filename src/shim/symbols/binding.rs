//! Binding of the exported functions: to the hook or directly to the real function. Libraries come
//! and go, and recording pauses and resumes; one lock orders all changes of either.
//!
//! ```text
//!   recording   entry ─► hook ─► real function     rows that only make events
//!   paused      entry ────────► real function
//!   either      entry ─► hook ─► real function     rows that update state: kernels, graphs, …
//! ```

use crate::platform::fork;
use crate::platform::objects::{self, Object};
use crate::table::row::{Hook, Table};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};

/// The hooked libraries as of the last scan.
static LIBRARIES: Mutex<Vec<Object>> = Mutex::new(Vec::new());
/// The loader's generation at the last scan.
static SCANNED: AtomicU64 = AtomicU64::new(0);
/// Recording is paused. A forked child inherits it.
static PAUSED: AtomicBool = AtomicBool::new(false);

/// Returns true while recording is paused.
pub(crate) fn is_paused() -> bool {
    PAUSED.load(Relaxed)
}

/// Starts with recording paused; called at load.
pub(crate) fn begin_paused() {
    PAUSED.store(true, Relaxed);
}

/// Starts to record the functions that are `wanted`, unless recording is paused.
pub(crate) fn begin(table: &Table, wanted: impl Fn(&str) -> bool) {
    set_recording(table, |name| !is_paused() && wanted(name));
}

/// Pauses recording. Calls in flight are still recorded.
pub(crate) fn pause(table: &Table) {
    PAUSED.store(true, Relaxed);
    set_recording(table, |_| false);
}

/// Resumes recording. When this returns, every function that is `wanted` is recorded.
pub(crate) fn resume(table: &Table, wanted: impl Fn(&str) -> bool) {
    PAUSED.store(false, Relaxed);
    set_recording(table, wanted);
}

fn set_recording(table: &Table, wanted: impl Fn(&str) -> bool) {
    let _changing = fork::lock(&LIBRARIES);
    for hook in table {
        hook.set_records(wanted(hook.name));
        hook.update_bypass();
    }
    // SeqCst: every thread sees the change before the moment that the caller reports.
    fence(SeqCst);
}

/// Unbinds every exported function. The child of a paused process calls this: its first calls go
/// through the hooks again, and create the files by which `rocshim ctl` reaches it.
pub(crate) fn unbind_all(table: &Table) {
    table.iter().for_each(|hook| hook.entry_points[0].set_target(std::ptr::null_mut()));
}

/// Binds entry point 0 of `hook` to `real`, which was found at the loader's `generation`. Does
/// nothing if libraries have come or gone since, because another caller might then reach another
/// function. The lock orders this before or after a rescan. With `can_bypass`, unrecorded calls
/// jump to `real` directly.
pub(crate) fn commit(hook: &Hook, real: *mut c_void, generation: u64, can_bypass: bool) {
    let _looking = fork::lock(&LIBRARIES);
    if objects::generation() == generation {
        hook.bind(real, can_bypass);
    }
}

/// Returns true when libraries have come or gone since the last scan.
#[inline]
pub(crate) fn is_outdated(generation: u64) -> bool {
    // Relaxed: any thread that notices may rescan; the lock orders the rest.
    SCANNED.load(Relaxed) != generation
}

/// Rescans the loaded libraries. If the hooked ones changed, unbinds entry point 0 of each row, so
/// that the next call looks the real function up.
#[cold]
pub(crate) fn rescan(table: Table, generation: u64) {
    let mut names: Vec<&str> = table.iter().map(|hook| hook.of).collect();
    names.dedup();
    let objects = objects::objects().into_iter();
    let libraries: Vec<Object> = objects.filter(|object| names.iter().any(|name| object.is(name))).collect();
    let mut known = fork::lock(&LIBRARIES);
    if *known != libraries {
        table.iter().for_each(|hook| hook.entry_points[0].set_target(std::ptr::null_mut()));
        *known = libraries;
    }
    SCANNED.store(generation, Relaxed);
}
