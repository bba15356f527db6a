//! A chain of callers, as it was read from the stack of the calling thread.

use serde::{Deserialize, Serialize};

/// A chain of callers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The thread.
    pub tid: u32,
    /// Where it returns to, innermost first: the number of a [`super::Definition::Binary`], and the
    /// address in that file as linked.
    pub frames: Vec<(u32, u64)>,
    /// Why it ends there.
    pub end: ChainEnd,
    /// The Python functions on the stack, innermost first: the number of a
    /// [`super::Definition::PythonFunction`], and the line that runs; 0: not known. Empty where
    /// there are none or the interpreter's frames cannot be read.
    pub python: Vec<(u32, u32)>,
}

/// Why a chain of callers ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChainEnd {
    /// At the thread's first function.
    Whole,
    /// At the most callers that are recorded.
    Limit,
    /// At a signal handler.
    Signal,
    /// At code without unwind information, or at a stack that does not agree with it.
    Unknown,
}
