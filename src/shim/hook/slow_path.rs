//! The slow path of a hook: its first call finds the real function, a thread's first call gets a
//! ring.

use crate::hook::{entry_points, thread, tracer};
use crate::lifecycle::{caught, detect_unseen_child, has_ended, is_on, process};
use crate::platform::objects;
use crate::platform::signals::with_signals_deferred;
use crate::platform::tls::{self, ThreadState};
use crate::session::process::Process;
use crate::symbols::binding;
use crate::symbols::real;
use crate::table::row::{Hook, InterceptionPoint, is_runtime};
use rocshim_ring::Producer;
use std::ffi::c_void;

/// What a hook requests of the slow path.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    /// A ring for the calling thread: the hook makes events.
    pub(crate) ring: bool,
    /// Every call must come through the hook, even while nothing is recorded.
    pub(crate) every_call: bool,
    /// While the process is recorded, every call must come through the hook, even while recording
    /// is paused.
    pub(crate) while_paused: bool,
}

/// Takes the slow path: a thread's first call, a hook's first call, nothing is recorded, or the
/// real function depends on the caller. Returns the number of the call's entry point, the real
/// function (NULL when no library has it), and the thread's ring if the call is to be recorded.
#[cold]
#[inline(never)]
pub(crate) fn slow_path(
    hook: &'static Hook,
    entry: usize,
    request: Request,
) -> (usize, *mut c_void, Option<Producer>) {
    detect_unseen_child();
    let mut target = (entry, hook.entry_points[entry].real());
    if !target.1.is_null() && !hook.records() && is_on() {
        return (target.0, target.1, None);
    }
    let begin = || {
        // A failure of the recording must not keep the real function from being found.
        let process = caught(|| process(hook.table)).flatten();
        process.filter(|process| process.claim_early()).into_iter().for_each(entry_points::emit_early);
        if target.1.is_null() && entry == 0 {
            target = bind(hook, process, request);
        }
        if let Some(process) = process.filter(|_| is_runtime(hook.of)) {
            // A failure to arm the tracer must not change the call.
            caught(|| tracer::arm(process));
        }
        if process.is_some() && !hook.records() { None } else { begin(process, request.ring) }
    };
    let producer = with_signals_deferred(|| caught(begin)).flatten();
    (target.0, target.1, producer)
}

fn begin(process: Option<&'static Process>, needs_ring: bool) -> Option<Producer> {
    let Some(process) = process else {
        tls::set_off();
        return None;
    };
    match tls::state() {
        ThreadState::Recording(producer) => return Some(producer),
        ThreadState::Unknown if needs_ring && !has_ended() => return thread::begin(process),
        ThreadState::Unknown | ThreadState::Ended if needs_ring => thread::count_unrecorded(process, true),
        ThreadState::Untracked if needs_ring => thread::count_unrecorded(process, false),
        _ => {}
    }
    None
}

/// Finds the real function behind the exported one, and emits the binding if it changed.
#[inline(never)] // Not in the frame of a thread's first call.
fn bind(hook: &'static Hook, process: Option<&Process>, request: Request) -> (usize, *mut c_void) {
    let generation = objects::generation();
    let Some(found) = real::find(hook) else {
        if let Some(process) = process.filter(|_| hook.mark_missing()) {
            entry_points::emit_binding(process, hook, 0, None);
        }
        return (0, std::ptr::null_mut());
    };
    if found.is_callers {
        // Not bound: another caller may reach another function.
        let entry = entry_points::claim(hook, found.address, InterceptionPoint::Preload, &found.path);
        return (entry.unwrap_or(0), found.address);
    }
    let entry = &hook.entry_points[0];
    let is_new = entry.mark_emitted(found.address);
    entry.add_point(InterceptionPoint::Preload);
    let can_bypass = !request.every_call && (process.is_none() || !request.while_paused);
    // Emitted before any call goes there: if the process is killed, the trace has the binding.
    if let Some(process) = process.filter(|_| is_new) {
        entry_points::emit_binding(process, hook, 0, Some(&found.path));
    }
    binding::commit(hook, found.address, generation, can_bypass);
    (0, found.address)
}
