//! Handles of the BLAS libraries: made, set, destroyed. What they are set to is told on the program's thread, before the
//! call returns, so that every product finds its stream.
#![allow(unsafe_code)] // reads where calls that have just succeeded have stored their results

use crate::abi::Pointer;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use rocshim_ring::blas::{CREATE, DESTROY, Handle, INITIALIZE};
use rocshim_ring::definition::{Definition, STREAM};
use rocshim_ring::{CallGuard, Producer, clock};

/// A handle is made.
pub(crate) struct Create {
    pub(crate) handle: *mut Pointer,
    /// It has a stream, at first the default one.
    pub(crate) has_stream: bool,
}

impl Observed<i32> for Create {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Handle { action: CREATE, handle: 0 })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: i32) {
        if status == 0 && !self.handle.is_null() {
            // SAFETY: the call succeeded, so it has stored the handle here.
            let handle = unsafe { *self.handle } as u64;
            if self.has_stream {
                guarded(|process| process.set(returned, handle, STREAM, 0));
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

/// A handle is destroyed.
pub(crate) struct Destroy {
    handle: Pointer,
    /// Before the call: another thread may be given the same address as soon as it is free.
    stamp: u64,
}

impl Destroy {
    /// The call is about to be made: from here on, whoever is given this address tells of it anew.
    pub(crate) fn now(handle: Pointer) -> Destroy {
        guarded(|process| process.forget_settings(handle as u64));
        Destroy { handle, stamp: clock::now() }
    }
}

impl Observed<i32> for Destroy {
    const TELLS: bool = true;
    const FRESHENS: bool = false; // whoever has a handle has made it

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

/// A library loads everything that it may need.
pub(crate) fn initialize() -> Handle {
    Handle { action: INITIALIZE, handle: 0 }
}

/// A setting is given a value.
pub(crate) struct Set {
    pub(crate) handle: Pointer,
    pub(crate) setting: u8,
    pub(crate) value: u64,
}

impl Observed<i32> for Set {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a handle has made it

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: i32) {
        if status == 0 {
            guarded(|process| process.set(returned, self.handle as u64, self.setting, self.value));
        }
    }
}

/// A handle's stream is asked for: what it is, is known even where its setting was not seen.
pub(crate) struct GetStream {
    pub(crate) handle: Pointer,
    pub(crate) stream: *const Pointer,
}

impl Observed<i32> for GetStream {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a handle has made it

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: i32) {
        if status == 0 && !self.stream.is_null() {
            // SAFETY: the call succeeded, so it has stored the stream here.
            let stream = unsafe { *self.stream } as u64;
            guarded(|process| process.set(returned, self.handle as u64, STREAM, stream));
        }
    }
}
