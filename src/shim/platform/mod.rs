//! What the shim needs of the machine and the C library: signals, thread-local words, fork, memory,
//! descriptors, scheduling, loaded objects. Knows nothing of HIP or of recording.
//!
//! Layers, lowest first: `ids`, `descriptors`, `signals`, `elf`, `sanitizers`, `sched`, `tls`;
//! `pages`, `arena`, `memory`, `thread_exit`; `fork`, `idle`; `objects`; `probe`;
//! `unwind`, `python`.

mod arena;
pub(crate) mod descriptors;
pub(crate) mod elf;
pub(crate) mod fork;
pub(crate) mod idle;
pub(crate) mod ids;
pub(crate) mod memory;
pub(crate) mod objects;
mod pages;
pub(crate) mod probe;
pub(crate) mod python;
mod sanitizers;
pub(crate) mod sched;
pub(crate) mod signals;
mod thread_exit;
pub(crate) mod tls;
pub(crate) mod unwind;
