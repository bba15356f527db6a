//! Start and end of recording on a thread.
#![allow(unsafe_code)] // the thread's page, and a key whose destructor reports the thread's end

use crate::lifecycle::has_ended;
use crate::platform::tls::{self, ThreadState};
use crate::session::process::Process;
use rocshim_ring::Producer;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Key whose destructor reports a thread's end; `u32::MAX` before it is created.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// Gives the calling thread a ring. Returns `None` without memory for one; the thread stays
/// untracked and its calls are counted as lost.
pub(crate) fn begin(process: &'static Process) -> Option<Producer> {
    let Ok(ring) = process.make_ring() else {
        // No second attempt: each would cost the program as much as this one.
        tls::set_untracked();
        count_unrecorded(process, false);
        return None;
    };
    // SAFETY: the page belongs to this thread's ring, which no other thread produces into. The
    // collector unmaps it only once the ring's `ended` is set, which `end_thread` does after it has
    // detached the thread from the ring.
    unsafe { tls::set_ring(ring.page_ptr()) };
    if let Some(key) = key() {
        // Any value but NULL makes the destructor run.
        // SAFETY: `key` returned an existing key, and the value is never dereferenced.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(1)) };
    }
    match tls::state() {
        ThreadState::Recording(producer) => Some(producer),
        _ => None,
    }
}

/// Counts a call that a thread cannot record; `had_ring` when its ring has ended already.
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
    // SAFETY: `key` has room for the new key, and `end_thread` has the signature of a destructor
    // and stays loaded with this library.
    if unsafe { libc::pthread_key_create(&mut key, Some(end_thread)) } != 0 {
        return None;
    }
    match KEY.compare_exchange(u32::MAX, key, Relaxed, Relaxed) {
        Ok(_) => Some(key),
        Err(other) => {
            // SAFETY: the key was created above and was not handed out.
            unsafe { libc::pthread_key_delete(key) };
            Some(other)
        }
    }
}

/// Ends the thread's ring. Other destructors may still launch, so this one asks to be called again
/// as often as the C library allows (4 rounds), and only then ends the ring.
unsafe extern "C" fn end_thread(value: *mut c_void) {
    const ROUNDS: usize = 4;
    let round = value.addr();
    if let (true, Some(key)) = (round < ROUNDS, key()) {
        // SAFETY: `key` returned an existing key, and the value is never dereferenced.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(round + 1)) };
        return;
    }
    if let ThreadState::Recording(producer) = tls::state() {
        tls::set_ended();
        producer.end();
    }
}
