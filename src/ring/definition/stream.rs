//! A stream as definitions name it.

use serde::{Deserialize, Serialize};

/// A stream: a handle alone means as many streams as there are threads where it is `hipStreamPerThread`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stream {
    /// `hipStream_t`.
    pub handle: u64,
    /// The thread that it is the default stream of; 0 for all other streams.
    pub tid: u32,
}

/// `hipStreamPerThread`.
const PER_THREAD: u64 = 2;

impl Stream {
    /// The stream that `handle` means to thread `tid`. `spt`: the function is one of those for which the default stream is
    /// the thread's own.
    pub fn of(handle: u64, tid: u32, spt: bool) -> Stream {
        // NULL and `hipStreamLegacy` (1) are the default stream.
        match handle {
            PER_THREAD => Stream { handle, tid },
            0 | 1 if spt => Stream { handle: PER_THREAD, tid },
            handle => Stream { handle, tid: 0 },
        }
    }
}
