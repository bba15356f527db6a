//! Signals (`amd_signal_t`): what a packet waits for, and what it fires when it is done.

use crate::memory::Memory;
use std::sync::atomic::Ordering;

// Byte offsets in `amd_signal_t`.
const VALUE: u64 = 8;
const MAILBOX: u64 = 16;
const EVENT: u64 = 24;
pub(crate) const START: u64 = 32;
pub(crate) const END: u64 = 40;

/// The value of the signal at `signal`.
pub(crate) fn value(memory: &Memory, signal: u64) -> i64 {
    // Acquire: what the signaller wrote before it signalled is seen.
    memory.shared(signal + VALUE).load(Ordering::Acquire) as i64
}

/// Stamps the signal at `signal` with the time from `start` to `end` and counts it down by one;
/// returns the event to set. Nothing to do when `signal` is 0.
pub(crate) fn complete(memory: &Memory, signal: u64, start: u64, end: u64) -> Option<u32> {
    if signal == 0 {
        return None;
    }
    memory.write(signal + START, start);
    memory.write(signal + END, end);
    // Read before the count: who waits for the count may free the signal at once.
    let mailbox: u64 = memory.read(signal + MAILBOX);
    let event: u32 = memory.read(signal + EVENT);
    // AcqRel: the times, and all that the packet did, are seen by who sees the count.
    memory.shared(signal + VALUE).fetch_sub(1, Ordering::AcqRel);
    if mailbox != 0 {
        memory.shared(mailbox).store(u64::from(event), Ordering::Release);
    }
    (event != 0).then_some(event)
}
