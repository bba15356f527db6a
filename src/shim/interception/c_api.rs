//! The functions of `include/rocshim.h` that make no event: query the recording state, and flush.
//! (Those that make one are rows of the hook table: `hooks::rocshim`.)
#![allow(unsafe_code)] // exports

use crate::lifecycle::{await_answer, caught, current, is_recording};
use crate::platform::signals::keeping_errno;
use crate::session::collector_state::CollectorState;
use crate::session::process::{Message, Process};
use libc::{EIO, ENOTSUP, ETIMEDOUT, c_int};
use rocshim_ring::WhenFull;
use std::time::Duration;

/// Limit of the time for which `rocshim_flush` waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns 1 when calls are recorded, or will be from the first one on. Starts nothing.
#[unsafe(no_mangle)]
extern "C" fn rocshim_recording() -> c_int {
    c_int::from(is_recording())
}

/// Waits until everything recorded before the call is in the trace file. Returns 0 or an errno.
#[unsafe(no_mangle)]
extern "C" fn rocshim_flush() -> c_int {
    let done = || current().map_or(Ok(()), flush).err().unwrap_or(0);
    keeping_errno(|| caught(done)).unwrap_or(EIO)
}

fn flush(process: &Process) -> Result<(), c_int> {
    if process.config.when_full == WhenFull::Overwrite {
        return Err(ENOTSUP);
    }
    // A child made without `fork` has its parent's memory but no collector.
    if process.pid != std::process::id() || process.collector.get() != CollectorState::Running {
        return Err(EIO);
    }
    let (answer, answered) = crossbeam_channel::bounded(1);
    process.to_collector.send(Message::Flush(answer)).map_err(|_| EIO)?;
    process.waker.wake();
    match await_answer(&answered, PATIENCE) {
        Some(true) => Ok(()),
        Some(false) => Err(EIO),
        None => Err(ETIMEDOUT),
    }
}
