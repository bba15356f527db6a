//! The slow way into a hook: a hook's first call finds its real function, a thread's first call gets a ring.

use crate::hook::{entry_points, thread, tracer};
use crate::lifecycle::{caught, has_ended, is_on, process};
use crate::platform::objects;
use crate::platform::signals::quietly;
use crate::platform::tls::{self, State};
use crate::session::process::Process;
use crate::symbols::binding;
use crate::symbols::real;
use crate::table::row::{Hook, InterceptionPoint, is_runtime};
use rocshim_ring::Producer;
use std::ffi::c_void;

/// What a hook wants of the slow way.
#[derive(Clone, Copy)]
pub(crate) struct Wants {
    /// A ring for its thread: it makes events.
    pub(crate) ring: bool,
    /// To see every call, even while nothing is recorded.
    pub(crate) every_call: bool,
    /// To see every call of a process that is recorded, even while recording is stopped.
    pub(crate) follows: bool,
}

/// The slow way into a hook: a thread's first call, a hook's first call, nothing is recorded, or the real function depends on
/// the caller. Gives the number of the way that the call takes, the real function (NULL when no library has it) and the
/// thread's ring, if it is to record.
#[cold]
#[inline(never)]
pub(crate) fn prepare(
    hook: &'static Hook,
    way: usize,
    wants: Wants,
) -> (usize, *mut c_void, Option<Producer>) {
    let mut target = (way, hook.ways[way].real());
    if !target.1.is_null() && !hook.records() && is_on() {
        return (target.0, target.1, None);
    }
    let begin = || {
        // Whatever becomes of the recording, the real function is found.
        let process = caught(|| process(hook.table)).flatten();
        process.filter(|process| process.is_new()).into_iter().for_each(entry_points::tell_early);
        if target.1.is_null() && way == 0 {
            target = bind(hook, process, wants);
        }
        if let Some(process) = process.filter(|_| is_runtime(hook.of)) {
            // Whatever becomes of that, the call goes on as it would.
            caught(|| tracer::arm(process));
        }
        if process.is_some() && !hook.records() { None } else { begin(process, wants.ring) }
    };
    let producer = quietly(|| caught(begin)).flatten();
    (target.0, target.1, producer)
}

fn begin(process: Option<&'static Process>, wants_ring: bool) -> Option<Producer> {
    let Some(process) = process else {
        tls::off();
        return None;
    };
    match tls::state() {
        State::Recording(producer) => return Some(producer),
        State::Unknown if wants_ring && !has_ended() => return thread::begin(process),
        State::Unknown | State::Ended if wants_ring => thread::count_unrecorded(process, true),
        State::Untracked if wants_ring => thread::count_unrecorded(process, false),
        _ => {}
    }
    None
}

/// Finds the real function behind the exported one, and tells where it was found when that is news.
fn bind(hook: &'static Hook, process: Option<&Process>, wants: Wants) -> (usize, *mut c_void) {
    let generation = objects::generation();
    let Some(found) = real::find(hook) else {
        if let Some(process) = process.filter(|_| hook.is_newly_missing()) {
            entry_points::tell(process, hook, 0, None);
        }
        return (0, std::ptr::null_mut());
    };
    if found.is_callers {
        // Nothing to remember: the next caller's may be another.
        let way = entry_points::claim(hook, found.address, InterceptionPoint::Preload, &found.path);
        return (way.unwrap_or(0), found.address);
    }
    let way = &hook.ways[0];
    let is_news = way.is_news(found.address);
    way.open(InterceptionPoint::Preload);
    let may_pass = !wants.every_call && (process.is_none() || !wants.follows);
    // Before anybody goes that way: a process that is killed has told where its calls went.
    if let Some(process) = process.filter(|_| is_news) {
        entry_points::tell(process, hook, 0, Some(&found.path));
    }
    binding::settle(hook, found.address, generation, may_pass);
    (0, found.address)
}
