//! Calls that wait, and calls that order streams by events. The latter carry a capture from stream to stream.

use crate::abi::hip::{hipError_t, hipEvent_t, hipStream_t};
use crate::calls::graph::On;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::state::graphs::is_capturing;
use rocshim_ring::definition::Definition;
use rocshim_ring::hip::Sync;
use rocshim_ring::{CallGuard, Producer, clock};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Indices of `rocshim_ring::hip::SYNC_ACTIONS`.
const DEVICE: u8 = 0;
const STREAM: u8 = 1;
const EVENT: u8 = 2;
const WAIT_EVENT: u8 = 3;
const RECORD_EVENT: u8 = 4;

/// The host waits for the device.
#[inline(always)]
pub(crate) fn wait_for_device() -> Sync {
    Sync { action: DEVICE, stream: 0, event: 0, flags: 0 }
}

/// The host waits for a stream.
#[inline(always)]
pub(crate) fn wait_for_stream(stream: hipStream_t) -> Sync {
    Sync { action: STREAM, stream: stream as u64, event: 0, flags: 0 }
}

/// The host waits for an event.
#[inline(always)]
pub(crate) fn wait_for_event(event: hipEvent_t) -> Sync {
    Sync { action: EVENT, stream: 0, event: event as u64, flags: 0 }
}

/// A stream is to wait for an event, or an event is recorded in a stream.
pub(crate) struct Order {
    sync: Sync,
    on: On,
}

impl Order {
    /// `hipStreamWaitEvent`.
    #[inline(always)]
    pub(crate) fn wait(on: On, event: hipEvent_t, flags: u32) -> Order {
        Order { sync: Sync { action: WAIT_EVENT, stream: on.0 as u64, event: event as u64, flags }, on }
    }

    /// `hipEventRecord`.
    #[inline(always)]
    pub(crate) fn record(event: hipEvent_t, on: On, flags: u32) -> Order {
        Order { sync: Sync { action: RECORD_EVENT, stream: on.0 as u64, event: event as u64, flags }, on }
    }

    /// While something captures: the stream may be another one that does, the event one that stands for it.
    #[cold]
    fn carry(&self, stamp: u64) {
        let event = self.sync.event;
        guarded(|process| {
            let stream = self.on.stream();
            process.tell_graphs(stamp, |graphs, tell| match self.sync.action {
                RECORD_EVENT => graphs.record(event, stream),
                _ => graphs.wait(stream, event, tell),
            });
        });
    }
}

impl Observed<hipError_t> for Order {
    /// A capture may go on when recording does.
    const FOLLOWS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.sync)
    }

    #[inline(always)]
    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status == 0 && is_capturing() {
            // As of its own entry: the wait that makes a stream join is a part of the capture.
            self.carry(span.as_ref().map_or(returned, CallGuard::entered));
        }
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// So many streams are told of when they are destroyed; after that, one whose handle is given out again is taken for the
/// one before. A program that makes a stream for every request would fill the log.
const DESTROYED: u32 = 4096;
static TOLD: AtomicU32 = AtomicU32::new(0);

/// `hipStreamDestroy`.
pub(crate) struct DestroyStream;

impl DestroyStream {
    /// The call is about to be made: another thread may be given the same handle as soon as it is free.
    pub(crate) fn now(stream: hipStream_t) -> DestroyStream {
        let stamp = clock::now();
        // Relaxed: one more or less is no matter.
        if !stream.is_null() && TOLD.load(Relaxed) < DESTROYED {
            TOLD.fetch_add(1, Relaxed);
            guarded(|process| {
                let _ = process.define(stamp, Definition::StreamGone { stream: stream as u64 });
            });
        }
        if is_capturing() {
            guarded(|process| {
                let stream = On(stream, false).stream();
                process.tell_graphs(stamp, |graphs, tell| graphs.forget_stream(stream, tell));
            });
        }
        DestroyStream
    }
}

impl Observed<hipError_t> for DestroyStream {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _status: hipError_t) {}
}
