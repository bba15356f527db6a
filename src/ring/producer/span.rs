//! A call from its beginning to its end.

use super::{Frame, Producer};
use crate::page::Page;
use crate::slot::payload_at;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

/// A call from `enter` to `leave`. Dropped without `leave`, because an exception passes through, it is recorded as unwound.
pub struct Span {
    /// The head of its thread's ring. Not the whole producer: nothing that follows needs the call's frame, and what is kept
    /// over the call costs a store and a load.
    page: NonNull<Page>,
    /// Word 2 of its event, by which it is found again.
    call: u64,
}

impl Span {
    #[inline(always)]
    pub(crate) fn new(producer: Producer, call: u64) -> Span {
        Span { page: producer.page, call }
    }

    #[inline(always)]
    fn producer(&self) -> Producer {
        Producer { page: self.page, frame: Frame(0) }
    }

    /// A stamp, as [`Producer::now`] gives it.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.producer().now()
    }

    /// Stores a payload word that was not known when the call was entered. Not for kinds that lie in their place.
    #[inline(always)]
    pub fn put(&self, index: usize, value: u64) {
        if let Some(depth) = self.producer().depth_of(self.call) {
            self.producer().stage(depth).words[payload_at(index)].store(value, Relaxed);
        }
    }

    /// Completes the event and publishes it. `returned` is the stamp of return, taken at once after the call, so that
    /// nothing of ours is counted as the program's.
    #[inline(always)]
    pub fn leave(self, returned: u64, status: i32) {
        let span = std::mem::ManuallyDrop::new(self);
        let (producer, call) = (span.producer(), span.call);
        if !producer.leave_in_place(call, returned, status) {
            producer.leave_stage(call, returned, status);
        }
    }

    /// The stamp of entry.
    pub fn entered(&self) -> u64 {
        self.producer().stamp(self.call)
    }
}

impl Drop for Span {
    #[inline(always)]
    fn drop(&mut self) {
        self.producer().leave_unwound(self.call);
    }
}
