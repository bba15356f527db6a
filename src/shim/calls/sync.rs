//! Calls that wait, and calls that order streams by events. The latter extend a capture from stream
//! to stream.

use crate::abi::hip::{hipError_t, hipEvent_t, hipStream_t};
use crate::calls::graph::On;
use crate::hook::Intercept;
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

/// A stream's wait for an event, or the recording of an event in a stream.
pub(crate) struct StreamOrder {
    sync: Sync,
    on: On,
}

impl StreamOrder {
    /// `hipStreamWaitEvent`.
    #[inline(always)]
    pub(crate) fn wait(on: On, event: hipEvent_t, flags: u32) -> StreamOrder {
        StreamOrder { sync: Sync { action: WAIT_EVENT, stream: on.0 as u64, event: event as u64, flags }, on }
    }

    /// `hipEventRecord`.
    #[inline(always)]
    pub(crate) fn record(event: hipEvent_t, on: On, flags: u32) -> StreamOrder {
        StreamOrder {
            sync: Sync { action: RECORD_EVENT, stream: on.0 as u64, event: event as u64, flags },
            on,
        }
    }

    /// Updates captures, while a stream captures: `stream` may capture, and `event` may carry a
    /// capture.
    #[cold]
    fn update_captures(&self, stamp: u64) {
        let event = self.sync.event;
        guarded(|process| {
            let stream = self.on.stream();
            process.emit_graphs(stamp, |graphs, emit| match self.sync.action {
                RECORD_EVENT => graphs.record(event, stream),
                _ => graphs.wait(stream, event, emit),
            });
        });
    }
}

impl Intercept<hipError_t> for StreamOrder {
    /// A capture may continue when recording resumes.
    const TRACKED_WHILE_PAUSED: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.sync)
    }

    #[inline(always)]
    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status == 0 && is_capturing() {
            // As of the event's own entry: the wait by which a stream joins is part of the capture.
            self.update_captures(span.as_ref().map_or(returned, CallGuard::entered));
        }
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// Limit of the emitted ends of streams. Later, a stream whose handle is given out again is taken
/// for the one before. A program that creates a stream for every request would fill the log.
const MAX_EMITTED: u32 = 4096;
static EMITTED: AtomicU32 = AtomicU32::new(0);

/// `hipStreamDestroy`.
pub(crate) struct DestroyStream;

impl DestroyStream {
    /// Emits the stream's end, right before the call, because another thread may be given the same
    /// handle as soon as it is free.
    pub(crate) fn before_call(stream: hipStream_t) -> DestroyStream {
        let stamp = clock::now();
        // Relaxed: a race may exceed the limit by a few.
        if !stream.is_null() && EMITTED.load(Relaxed) < MAX_EMITTED {
            EMITTED.fetch_add(1, Relaxed);
            guarded(|process| {
                let _ = process.define(stamp, Definition::StreamGone { stream: stream as u64 });
            });
        }
        if is_capturing() {
            guarded(|process| {
                let stream = On(stream, false).stream();
                process.emit_graphs(stamp, |graphs, emit| graphs.remove_stream(stream, emit));
            });
        }
        DestroyStream
    }
}

impl Intercept<hipError_t> for DestroyStream {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _status: hipError_t) {}
}
