//! A thread begins to record, and ends.
#![allow(unsafe_code)] // the thread's page, and a key whose destructor tells that the thread ends

use crate::lifecycle::has_ended;
use crate::platform::tls::{self, State};
use crate::session::process::Process;
use rocshim_ring::Producer;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The key whose destructor tells that a thread ends; `u32::MAX` before it was made.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// The calling thread gets a ring. `None`: there is none for it, and its call is counted as lost.
pub(crate) fn begin(process: &'static Process) -> Option<Producer> {
    let Ok(ring) = process.make_ring() else {
        // There is no second try: each would cost the program what this one did.
        tls::untracked();
        count_unrecorded(process, false);
        return None;
    };
    // SAFETY: the ring is this thread's alone; the collector unmaps it only after the thread's end has set `ended`, and
    // `end_thread` has closed the ring to the thread before that.
    unsafe { tls::begin(ring.page_ptr()) };
    if let Some(key) = key() {
        // Any value but NULL makes the destructor run.
        // SAFETY: the key exists; the value is never followed.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(1)) };
    }
    match tls::state() {
        State::Recording(producer) => Some(producer),
        _ => None,
    }
}

/// Counts what a thread cannot record, which `had_ring` or never had one.
pub(crate) fn count_unrecorded(process: &Process, had_ring: bool) {
    if has_ended() {
        process.control.count_late();
    } else {
        process.count_untracked(had_ring);
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
    if let State::Recording(producer) = tls::state() {
        tls::end();
        producer.end();
    }
}
