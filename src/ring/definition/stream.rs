//! The identity of a stream in definitions.

use serde::{Deserialize, Serialize};

/// A stream. The thread id is needed because `hipStreamPerThread` is one handle for one stream per
/// thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stream {
    /// `hipStream_t`.
    pub handle: u64,
    /// The thread whose default stream it is; 0 for all other streams.
    pub tid: u32,
}

/// `hipStreamPerThread`.
const PER_THREAD: u64 = 2;

impl Stream {
    /// The stream that `handle` means on thread `tid`. `spt`: the function treats the default
    /// stream as the per-thread one.
    pub fn of(handle: u64, tid: u32, spt: bool) -> Stream {
        // NULL and `hipStreamLegacy` (1) are the default stream.
        match handle {
            PER_THREAD => Stream { handle, tid },
            0 | 1 if spt => Stream { handle: PER_THREAD, tid },
            handle => Stream { handle, tid: 0 },
        }
    }
}
