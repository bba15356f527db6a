//! The slow way into a hook: a hook's first call finds its real function, a thread's first call gets a ring.
#![allow(unsafe_code)] // the thread's page, and a key whose destructor tells that the thread ends

use crate::lifecycle::{caught, has_ended, keeping_errno, process};
use crate::process::Process;
use crate::real;
use crate::row::Hook;
use crate::thread::{self, State};
use rocshim_ring::definition::Definition;
use rocshim_ring::{Producer, clock};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The key whose destructor tells that a thread ends; `u32::MAX` before it was made.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// The slow way into a hook: a thread's first call, a hook's first call, or recording is off. Gives the real function
/// (NULL when no library has it) and the thread's ring, if it is to record.
#[cold]
#[inline(never)]
pub(crate) fn prepare(hook: &'static Hook, wants_ring: bool) -> (*mut c_void, Option<Producer>) {
    let producer = keeping_errno(|| caught(|| begin(hook, wants_ring)).flatten());
    (hook.real(), producer)
}

fn begin(hook: &'static Hook, wants_ring: bool) -> Option<Producer> {
    let process = process(hook.table);
    bind(hook, process);
    let Some(process) = process else {
        thread::off();
        return None;
    };
    match thread::state() {
        State::Recording(producer) => return Some(producer),
        State::Unknown if wants_ring && !has_ended() => return begin_thread(process),
        State::Unknown | State::Ended if wants_ring => count_unrecorded(process, true),
        State::Ringless if wants_ring => count_unrecorded(process, false),
        _ => {}
    }
    None
}

/// Finds the real function of `hook`, once, and tells where it was found.
fn bind(hook: &'static Hook, process: Option<&Process>) {
    if !hook.real().is_null() {
        return;
    }
    let found = real::find(hook.of, hook.name, hook.own());
    let path = found.as_ref().map(|found| found.path.as_str().into());
    let is_news = found.as_ref().map_or_else(|| hook.is_newly_missing(), |found| hook.bind(found.address));
    if let Some(process) = process.filter(|_| is_news) {
        process.define(clock::now(), Definition::Bound { hook: hook.id, path });
    }
}

fn begin_thread(process: &'static Process) -> Option<Producer> {
    let Ok(ring) = process.make_ring() else {
        // There is no second try: each would cost the program what this one did.
        thread::ringless();
        count_unrecorded(process, false);
        return None;
    };
    // SAFETY: the ring is this thread's alone; the collector unmaps it only after the thread's end has set `ended`, and
    // `end_thread` has closed the ring to the thread before that.
    unsafe { thread::begin(ring.page_ptr()) };
    if let Some(key) = key() {
        // Any value but NULL makes the destructor run.
        // SAFETY: the key exists; the value is never followed.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(1)) };
    }
    match thread::state() {
        State::Recording(producer) => Some(producer),
        _ => None,
    }
}

fn count_unrecorded(process: &Process, had_ring: bool) {
    if has_ended() {
        process.control.count_late();
    } else {
        process.count_ringless(had_ring);
    }
}

fn key() -> Option<libc::pthread_key_t> {
    let known = KEY.load(Relaxed);
    if known != u32::MAX {
        return Some(known);
    }
    let mut key = 0;
    // SAFETY: `key` is a place for the new key; `end_thread` has the signature of a destructor.
    if unsafe { libc::pthread_key_create(&mut key, Some(end_thread)) } != 0 {
        return None;
    }
    match KEY.compare_exchange(u32::MAX, key, Relaxed, Relaxed) {
        Ok(_) => Some(key),
        Err(other) => {
            // SAFETY: the key was made just now and nobody uses it.
            unsafe { libc::pthread_key_delete(key) };
            Some(other)
        }
    }
}

/// A thread ends. Other destructors may still launch, so this one asks to be called again, as often as the C library
/// does that (4 times), and only then ends the ring.
unsafe extern "C" fn end_thread(value: *mut c_void) {
    const ROUNDS: usize = 4;
    let round = value.addr();
    if let (true, Some(key)) = (round < ROUNDS, key()) {
        // SAFETY: the key exists; the value is never followed.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(round + 1)) };
        return;
    }
    if let State::Recording(producer) = thread::state() {
        thread::end();
        producer.end();
    }
}
