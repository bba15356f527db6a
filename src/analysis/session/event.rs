//! An intercepted call as analyses receive it: its record, and the ids that the record refers to.

use super::id::{CodeObjectId, FunctionId, KernelId, SymbolId};
use rocshim_trace::{Call, Record};

/// A call of the process being read, with resolved ids.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Its record: a launch, a GEMM, a copy …; one for which [`Record::call`] returns a call.
    pub record: &'a Record,
    /// The thread, the times and the result of the call.
    pub call: &'a Call,
    /// The ids that the record refers to.
    pub ids: Ids,
}

/// The ids that an event's record refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// The hook: the event's own or, where a launch names none, its kernel's.
    pub hook: u16,
    /// The function that was called; absent if its hook is not defined.
    pub function: Option<FunctionId>,
    /// The kernel that a launch launches; absent if its handle was never seen being made.
    pub kernel: Option<KernelId>,
    /// The symbol of that kernel; a launch of an unknown kernel has a symbol for its handle.
    pub symbol: Option<SymbolId>,
    /// The code object of that kernel, or the one that a module call loads; absent if unknown.
    pub code_object: Option<CodeObjectId>,
    /// The capture that recorded the call into a graph instead of executing it.
    pub capture: Option<u32>,
}

impl Event<'_> {
    /// Returns true if the call returned an error or was left by a C++ exception.
    pub fn failed(&self) -> bool {
        self.call.status != 0 || self.call.unwound
    }

    /// Returns the end of the call, ns since the process's epoch.
    pub fn end(&self) -> u64 {
        self.call.t.saturating_add(self.call.dur)
    }
}

/// Returns the capture that recorded a call's work instead of executing it.
pub(super) fn capture_of(record: &Record) -> Option<u32> {
    match record {
        Record::Launch(launch) => launch.capture,
        Record::Gemm(gemm) => gemm.capture,
        Record::Matmul(matmul) => matmul.capture,
        Record::Blas(blas) => blas.capture,
        Record::Conv(conv) => conv.capture,
        Record::Span(span) => span.capture,
        Record::Copy(copy) => copy.capture,
        Record::Sync(sync) => sync.capture,
        _ => None,
    }
}
