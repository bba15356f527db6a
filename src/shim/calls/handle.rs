//! Handles of the BLAS libraries: creation, settings, destruction. Definitions are emitted on the
//! program's thread before the call returns, so that every GEMM finds its stream.
#![allow(unsafe_code)] // reads where calls that have just succeeded have stored their results

use crate::abi::Pointer;
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use rocshim_ring::blas::{CREATE, DESTROY, Handle, INITIALIZE};
use rocshim_ring::definition::{Definition, STREAM};
use rocshim_ring::{CallGuard, Producer, clock};

/// Creation of a handle.
pub(crate) struct Create {
    pub(crate) handle: *mut Pointer,
    /// The handle has a stream, initially the default stream.
    pub(crate) has_stream: bool,
}

impl Intercept<i32> for Create {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Handle { action: CREATE, handle: 0 })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: i32) {
        if status == 0 && !self.handle.is_null() {
            // SAFETY: `handle` is not NULL, and the call succeeded, so it has stored the handle
            // there.
            let handle = unsafe { *self.handle } as u64;
            if self.has_stream {
                guarded(|process| process.set_blas(returned, handle, STREAM, 0));
            }
            if let Some(span) = &span {
                Handle::store_made(handle, |index, value| span.put(index, value));
            }
        }
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// Destruction of a handle.
pub(crate) struct Destroy {
    handle: Pointer,
    /// Taken before the call, because another thread may be given the same address as soon as it is
    /// free.
    stamp: u64,
}

impl Destroy {
    /// Forgets the handle's settings, right before the call: a thread that is given this address
    /// again emits new definitions.
    pub(crate) fn before_call(handle: Pointer) -> Destroy {
        guarded(|process| process.forget_blas(handle as u64));
        Destroy { handle, stamp: clock::now() }
    }
}

impl Intercept<i32> for Destroy {
    const HAS_SIDE_STATE: bool = true;
    const REBINDS: bool = false; // its users have called the function that created it

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Handle { action: DESTROY, handle: self.handle as u64 })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: i32) {
        if status == 0 {
            let handle = self.handle as u64;
            guarded(|process| {
                process.define(self.stamp, Definition::HandleGone { handle });
            });
        }
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// Initialisation of a library, which loads all its code.
pub(crate) fn initialize() -> Handle {
    Handle { action: INITIALIZE, handle: 0 }
}

/// Change of a handle's setting.
pub(crate) struct Set {
    pub(crate) handle: Pointer,
    pub(crate) setting: u8,
    pub(crate) value: u64,
}

impl Intercept<i32> for Set {
    const STATE_ONLY: bool = true;
    const REBINDS: bool = false; // its users have called the function that created it

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: i32) {
        if status == 0 {
            guarded(|process| process.set_blas(returned, self.handle as u64, self.setting, self.value));
        }
    }
}

/// Query for a handle's stream, which is then known even if setting it was not intercepted.
pub(crate) struct GetStream {
    pub(crate) handle: Pointer,
    pub(crate) stream: *const Pointer,
}

impl Intercept<i32> for GetStream {
    const STATE_ONLY: bool = true;
    const REBINDS: bool = false; // its users have called the function that created it

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: i32) {
        if status == 0 && !self.stream.is_null() {
            // SAFETY: `stream` is not NULL, and the call succeeded, so it has stored the stream
            // there.
            let stream = unsafe { *self.stream } as u64;
            guarded(|process| process.set_blas(returned, self.handle as u64, STREAM, stream));
        }
    }
}
