//! Rows of libamdhip64: calls that wait, and calls that order streams by events. Signatures as in
//! hip_runtime_api.h (ROCm 5.2 to 7.x).
//!
//! Order: waits of the host, events in streams, destruction of streams. `hipEventQuery` and
//! `hipStreamQuery` have no rows: a thread that polls calls them millions of times, and recording
//! or even counting a call would cost more than the load that the call itself costs. The wait shows
//! as the time to the thread's next call.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::hip::*;
use crate::calls::graph::On;
use crate::calls::sync::{DestroyStream, StreamOrder, wait_for_device, wait_for_event, wait_for_stream};

hooks! { "libamdhip64.so", from super::first::hip_sync;
    fn hipDeviceSynchronize() -> hipError_t
        => wait_for_device();
    fn hipCtxSynchronize() -> hipError_t
        => wait_for_device();
    fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t
        => wait_for_stream(stream);
    fn hipStreamSynchronize_spt(stream: hipStream_t) -> hipError_t
        => wait_for_stream(stream);
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t
        => wait_for_event(event);

    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: u32) -> hipError_t
        => StreamOrder::wait(On(stream, false), event, flags);
    fn hipStreamWaitEvent_spt(stream: hipStream_t, event: hipEvent_t, flags: u32) -> hipError_t
        => StreamOrder::wait(On(stream, true), event, flags);
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t
        => StreamOrder::record(event, On(stream, false), 0);
    fn hipEventRecord_spt(event: hipEvent_t, stream: hipStream_t) -> hipError_t
        => StreamOrder::record(event, On(stream, true), 0);
    fn hipEventRecordWithFlags(event: hipEvent_t, stream: hipStream_t, flags: u32) -> hipError_t
        => StreamOrder::record(event, On(stream, false), flags);

    fn hipStreamDestroy(stream: hipStream_t) -> hipError_t
        => DestroyStream::before_call(stream);
}

// Introduced with hip_6.4.
unexported! { "hipEventRecordWithFlags" }
