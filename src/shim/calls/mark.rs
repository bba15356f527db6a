//! Marks and ranges of the program's own: their text goes with the event.
#![allow(unsafe_code)] // reads the text that the program passed

use crate::abi::Pointer;
use crate::abi::hip::CName;
use crate::abi::roctx::{Level, roctx_range_id_t, roctx_thread_id_t};
use crate::hook::{Answer, Observed};
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

/// A call of roctx, or of our own by `rocshim.h`.
pub(crate) struct MarkCall {
    action: Action,
    text: CName,
    value: u64,
}

const fn told(action: Action, text: CName, value: u64) -> MarkCall {
    MarkCall { action, text, value }
}

/// A moment.
pub(crate) fn mark(text: CName) -> MarkCall {
    told(Action::Mark, text, 0)
}

/// A range of this thread begins.
pub(crate) fn push(text: CName) -> MarkCall {
    told(Action::Push, text, 0)
}

/// The innermost range of this thread ends.
pub(crate) fn pop() -> MarkCall {
    told(Action::Pop, std::ptr::null(), 0)
}

/// A range begins that any thread may end.
pub(crate) fn start(text: CName) -> MarkCall {
    told(Action::Start, text, 0)
}

/// Such a range ends.
pub(crate) fn stop(range: roctx_range_id_t) -> MarkCall {
    told(Action::Stop, std::ptr::null(), range.0)
}

/// Profilers are to look away.
pub(crate) fn pause(thread: roctx_thread_id_t) -> MarkCall {
    told(Action::Pause, std::ptr::null(), thread)
}

/// Profilers are to look again.
pub(crate) fn resume(thread: roctx_thread_id_t) -> MarkCall {
    told(Action::Resume, std::ptr::null(), thread)
}

/// The calling thread gets a name.
pub(crate) fn name_thread(text: CName) -> MarkCall {
    told(Action::NameThread, text, 0)
}

/// An HSA agent gets a name.
pub(crate) fn name_agent(text: CName, agent: Pointer) -> MarkCall {
    told(Action::NameAgent, text, agent as u64)
}

/// A HIP device gets a name.
pub(crate) fn name_device(text: CName, device: i32) -> MarkCall {
    told(Action::NameDevice, text, device as u64)
}

/// A HIP stream gets a name.
pub(crate) fn name_stream(text: CName, stream: Pointer) -> MarkCall {
    told(Action::NameStream, text, stream as u64)
}

impl<R: Told> Observed<R> for MarkCall {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        self.stage(thread, hook)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, answer: R) {
        if let Some(span) = span {
            answer.tell(&span);
            span.leave(returned, answer.code());
        }
    }
}

impl MarkCall {
    #[inline(never)]
    fn stage(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        let (text, cut) = read(self.text);
        let mark = Mark { action: self.action as u8, value: self.value, level: None, text, cut };
        thread.enter(hook, &mark)
    }
}

/// The text as far as it is kept, and whether there is more of it.
fn read<'a>(text: CName) -> (Option<&'a [u8]>, bool) {
    if text.is_null() {
        return (None, false);
    }
    // SAFETY: roctx takes C strings; nothing behind the final NUL is read.
    let length = unsafe { libc::strnlen(text, TEXT_BYTES + 1) };
    // SAFETY: so many bytes were just read there, and the program lends them for the length of its call.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast(), length.min(TEXT_BYTES)) };
    (Some(bytes), length > TEXT_BYTES)
}

/// An answer that the event holds.
trait Told: Answer {
    fn tell(self, _span: &CallGuard) {}
}

impl Told for () {}
impl Told for i32 {}

impl Told for Level {
    fn tell(self, span: &CallGuard) {
        store_level(self.0, |index, value| span.put(index, value));
    }
}

impl Told for roctx_range_id_t {
    fn tell(self, span: &CallGuard) {
        store_value(self.0, |index, value| span.put(index, value));
    }
}

/// roctx.h: a negative level is a failure, as a pop without a push.
impl Answer for Level {
    fn missing(_of: &str) -> Level {
        Level(-1)
    }
    fn code(self) -> i32 {
        self.0.min(0)
    }
}

impl Answer for roctx_range_id_t {
    fn missing(_of: &str) -> roctx_range_id_t {
        roctx_range_id_t(0)
    }
    fn code(self) -> i32 {
        0
    }
}
