//! The guard of a call in flight, from entry to return.

use super::{Frame, Producer};
use crate::clock;
use crate::page::Page;
use crate::slot::{PARENT_BITS, payload_at};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

/// A call from `enter` to `leave`. If it is dropped without `leave`, because an exception unwinds
/// through, it is recorded as unwound.
pub struct CallGuard {
    /// The head of its thread's ring. Not the whole producer: the rest does not need the call's
    /// frame, and a value kept across the call costs a store and a load.
    page: NonNull<Page>,
    /// Word 2 of its event, which identifies it.
    call: u64,
}

impl CallGuard {
    #[inline(always)]
    pub(crate) fn new(producer: Producer, call: u64) -> CallGuard {
        CallGuard { page: producer.page, call }
    }

    #[inline(always)]
    fn producer(&self) -> Producer {
        Producer { page: self.page, frame: Frame(0) }
    }

    /// A stamp, as [`Producer::now`] returns it.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.producer().now()
    }

    /// Stores a payload word that was not known on entry. Not for kinds that are reserved in the
    /// ring.
    #[inline(always)]
    pub fn put(&self, index: usize, value: u64) {
        if let Some(depth) = self.producer().depth_of(self.call) {
            self.producer().in_flight_slot(depth).words[payload_at(index)].store(value, Relaxed);
        }
    }

    /// The call's id, unique on its thread.
    pub fn id(&self) -> u64 {
        self.call >> PARENT_BITS
    }

    /// Sets the stamp of entry to now, after work between [`Producer::enter`] and the call. Not for
    /// kinds that are reserved in the ring.
    pub fn restart(&self) {
        if let Some(depth) = self.producer().depth_of(self.call) {
            self.producer().in_flight_slot(depth).words[1].store(clock::now(), Relaxed);
        }
    }

    /// Completes the event and publishes it. `returned` is a stamp taken immediately after the
    /// call, so that none of our work is counted as the program's.
    #[inline(always)]
    pub fn leave(self, returned: u64, status: i32) {
        let guard = std::mem::ManuallyDrop::new(self);
        let (producer, call) = (guard.producer(), guard.call);
        if !producer.leave_reserved(call, returned, status) {
            producer.leave_in_flight(call, returned, status);
        }
    }

    /// The stamp of entry.
    pub fn entered(&self) -> u64 {
        self.producer().stamp(self.call)
    }
}

impl Drop for CallGuard {
    #[inline(always)]
    fn drop(&mut self) {
        self.producer().leave_unwound(self.call);
    }
}
