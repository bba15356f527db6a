//! The program's own marks and ranges (roctx, `rocshim.h`); their text is stored in the event.
#![allow(unsafe_code)] // reads the text that the program passed

use crate::abi::Pointer;
use crate::abi::hip::CName;
use crate::abi::roctx::{Level, roctx_range_id_t, roctx_thread_id_t};
use crate::hook::{Intercept, ReturnValue};
use rocshim_ring::mark::{Mark, TEXT_BYTES, store_level, store_value};
use rocshim_ring::{CallGuard, Producer};

/// Indices of `rocshim_ring::mark::MARK_ACTIONS`.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Action {
    Mark,
    Push,
    Pop,
    Start,
    Stop,
    Pause,
    Resume,
    NameThread,
    NameAgent,
    NameDevice,
    NameStream,
}

/// A call of roctx or of `rocshim.h`.
pub(crate) struct MarkCall {
    action: Action,
    text: CName,
    value: u64,
}

const fn call(action: Action, text: CName, value: u64) -> MarkCall {
    MarkCall { action, text, value }
}

/// A mark.
pub(crate) fn mark(text: CName) -> MarkCall {
    call(Action::Mark, text, 0)
}

/// Begin of a range of the calling thread.
pub(crate) fn push(text: CName) -> MarkCall {
    call(Action::Push, text, 0)
}

/// End of the thread's innermost range.
pub(crate) fn pop() -> MarkCall {
    call(Action::Pop, std::ptr::null(), 0)
}

/// Begin of a range that any thread may end.
pub(crate) fn start(text: CName) -> MarkCall {
    call(Action::Start, text, 0)
}

/// End of such a range.
pub(crate) fn stop(range: roctx_range_id_t) -> MarkCall {
    call(Action::Stop, std::ptr::null(), range.0)
}

/// Request to profilers to pause.
pub(crate) fn pause(thread: roctx_thread_id_t) -> MarkCall {
    call(Action::Pause, std::ptr::null(), thread)
}

/// Request to profilers to resume.
pub(crate) fn resume(thread: roctx_thread_id_t) -> MarkCall {
    call(Action::Resume, std::ptr::null(), thread)
}

/// Name of the calling thread.
pub(crate) fn name_thread(text: CName) -> MarkCall {
    call(Action::NameThread, text, 0)
}

/// Name of an HSA agent.
pub(crate) fn name_agent(text: CName, agent: Pointer) -> MarkCall {
    call(Action::NameAgent, text, agent as u64)
}

/// Name of a HIP device.
pub(crate) fn name_device(text: CName, device: i32) -> MarkCall {
    call(Action::NameDevice, text, device as u64)
}

/// Name of a HIP stream.
pub(crate) fn name_stream(text: CName, stream: Pointer) -> MarkCall {
    call(Action::NameStream, text, stream as u64)
}

impl<R: StoredResult> Intercept<R> for MarkCall {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.store_event(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, result: R) {
        if let Some(span) = span {
            result.store(&span);
            span.leave(returned, result.status());
        }
    }
}

impl MarkCall {
    #[inline(never)]
    fn store_event(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        let (text, cut) = read(self.text);
        let mark = Mark { action: self.action as u8, value: self.value, level: None, text, cut };
        thread.enter(hook, &mark)
    }
}

/// Returns the text as far as it is kept, and whether it is longer.
fn read<'a>(text: CName) -> (Option<&'a [u8]>, bool) {
    if text.is_null() {
        return (None, false);
    }
    // SAFETY: `text` is not NULL and roctx takes C strings; `strnlen` reads no further than the
    // final NUL.
    let length = unsafe { libc::strnlen(text, TEXT_BYTES + 1) };
    // SAFETY: `strnlen` has just read that many bytes, and the program keeps the text for the
    // length of its call.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast(), length.min(TEXT_BYTES)) };
    (Some(bytes), length > TEXT_BYTES)
}

/// A result that the event stores.
trait StoredResult: ReturnValue {
    fn store(self, _span: &CallGuard) {}
}

impl StoredResult for () {}
impl StoredResult for i32 {}

impl StoredResult for Level {
    fn store(self, span: &CallGuard) {
        store_level(self.0, |index, value| span.put(index, value));
    }
}

impl StoredResult for roctx_range_id_t {
    fn store(self, span: &CallGuard) {
        store_value(self.0, |index, value| span.put(index, value));
    }
}

/// A negative level is a failure, such as a pop without a push (roctx.h).
impl ReturnValue for Level {
    fn missing(_of: &str) -> Level {
        Level(-1)
    }
    fn status(self) -> i32 {
        self.0.min(0)
    }
}

impl ReturnValue for roctx_range_id_t {
    fn missing(_of: &str) -> roctx_range_id_t {
        roctx_range_id_t(0)
    }
    fn status(self) -> i32 {
        0
    }
}
