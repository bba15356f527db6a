//! Hands out entry points: finds the trampoline that leads to a given real function.
//!
//! ```text
//!   dlsym(handle, "hipLaunchKernel") ─► the real address ─► substitute ─► a trampoline bound to it
//! ```

use crate::hook::tracer;
use crate::lifecycle::{caught, guarded};
use crate::platform::fork;
use crate::platform::objects::{self, Object};
use crate::platform::signals::with_signals_deferred;
use crate::session::process::Process;
use crate::symbols::binding;
use crate::table::row::{ENTRY_POINTS, Hook, InterceptionPoint, Table};
use parking_lot::Mutex;
use rocshim_ring::clock;
use rocshim_ring::definition::Definition;
use std::ffi::c_void;
use std::sync::OnceLock;

/// Held while an entry point is claimed. Forks wait for this lock and the next, because a child
/// continues to use them.
static CLAIMS: Mutex<()> = Mutex::new(());
/// Objects that bypass the hooks: path, and whether they are in a separate linker namespace.
static BYPASSES: Mutex<Vec<(String, bool)>> = Mutex::new(Vec::new());

/// Returns true for an address in this library.
pub(crate) fn is_in_shim(address: *const c_void) -> bool {
    static SHIM: OnceLock<Option<Object>> = OnceLock::new();
    let shim = SHIM.get().unwrap_or_else(|| {
        let _held = fork::block_forks();
        SHIM.get_or_init(|| objects::holder(is_in_shim as *const c_void))
    });
    shim.as_ref().is_some_and(|shim| shim.holds(address))
}

/// Returns what the program is given instead of `address`, the real function of `hook`: the
/// trampoline bound to it, or `address` itself when nothing is recorded or no entry point is free.
pub(crate) fn substitute(hook: &'static Hook, address: *mut c_void, point: InterceptionPoint) -> *mut c_void {
    let trampoline = || {
        if is_in_shim(address) {
            return None;
        }
        let path = objects::holder(address)?.path;
        let entry = claim(hook, address, point, &path)?;
        Some(hook.entry_points[entry].trampoline())
    };
    with_signals_deferred(|| caught(trampoline)).flatten().unwrap_or(address)
}

/// Returns the number of an entry point of `hook` that is bound to `address`, which is in file
/// `path`; `None` when no entry point is free.
pub(crate) fn claim(
    hook: &Hook,
    address: *mut c_void,
    point: InterceptionPoint,
    path: &str,
) -> Option<usize> {
    let claims = fork::lock(&CLAIMS);
    let is_bound = |entry: &usize| hook.entry_points[*entry].real() == address;
    let numbers = || 1..ENTRY_POINTS;
    let number = numbers().find(is_bound).or_else(|| {
        let is_free = |entry: &usize| hook.entry_points[*entry].real().is_null();
        let number = numbers().find(is_free).or_else(|| numbers().find(|entry| is_unloaded(hook, *entry)))?;
        hook.entry_points[number].clear_points();
        hook.entry_points[number].set_target(address);
        Some(number)
    })?;
    let is_new = hook.entry_points[number].add_point(point);
    drop(claims);
    if is_new {
        guarded(|process| emit_binding(process, hook, number, Some(path)));
    }
    Some(number)
}

/// Returns true when the library behind an entry point is unloaded.
fn is_unloaded(hook: &Hook, entry: usize) -> bool {
    objects::holder(hook.entry_points[entry].real()).is_none()
}

/// Emits what entry point number `entry` of `hook` is bound to; `None`: nothing.
pub(crate) fn emit_binding(process: &Process, hook: &Hook, entry: usize, path: Option<&str>) {
    let (id, points) = (hook.id_of(entry), hook.entry_points[entry].points());
    process.define(clock::now(), Definition::Bound { hook: id, points, path: path.map(Into::into) });
}

/// Notes that object `path` is being opened in a way that bypasses the hooks.
pub(crate) fn note_bypass(path: &str, namespace: bool) {
    fork::lock(&BYPASSES).push((path.to_owned(), namespace));
    guarded(|process| emit_bypass(process, path, namespace));
}

fn emit_bypass(process: &Process, path: &str, namespace: bool) {
    process.define(clock::now(), Definition::Bypass { path: path.into(), namespace });
}

/// Emits what happened before the process began to record: entry points handed out, objects that
/// bypass the hooks.
#[inline(never)] // Not in the frame of a thread's first call.
pub(crate) fn emit_early(process: &Process) {
    fork::lock(&BYPASSES).iter().for_each(|(path, namespace)| emit_bypass(process, path, *namespace));
    for hook in &process.table {
        for entry in (1..ENTRY_POINTS).filter(|entry| hook.entry_points[*entry].points() != 0) {
            let path = objects::holder(hook.entry_points[entry].real()).map(|object| object.path);
            emit_binding(process, hook, entry, path.as_deref());
        }
    }
}

/// Unbinds the exported functions, and registers for GPU times, when libraries have come or gone.
/// Called by the hooks that load
/// code, name functions or create handles: every caller of a newly loaded copy calls one of them
/// before its first launch.
#[inline]
pub(crate) fn revalidate(table: fn() -> Table) {
    let generation = objects::generation();
    if binding::is_outdated(generation) {
        with_signals_deferred(|| {
            caught(|| binding::rescan(table(), generation));
            // A newly loaded copy of the runtime whose functions come from `dlsym` has bound hooks.
            guarded(tracer::arm);
        });
    }
}
