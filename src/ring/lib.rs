//! The shared memory between the application's threads and the readers of their events: one SPSC
//! ring per thread, an append-only definition log, and a control page per process.
//!
//! All of it is in shared memory files, so recorded events outlive the process.
//!
//! Layers, lowest first:
//! - `sync`: atomics, fences and locks, real or as modelled by loom;
//! - `clock`: event time stamps; `sandbox`: whether a system call may kill the program;
//! - `owner`: files of another user, opened with that user's rights;
//! - `map`: shared memory files;
//! - `failure`: reports to `rocshim run` what kept a process from being recorded;
//! - `slot`: layout of an event in 64-byte slots; `payload`, `event`, `blas`, `conv`, `hip`,
//!   `named`, `mark`, `gpu`: the payload words of each event kind; `arguments`: kernel arguments of
//!   a launch;
//! - `page`: the head of a ring file: positions, losses, calls in flight;
//! - `chunk`, `pool`: the ring memory of a process and its allocation;
//! - `producer`: the hot path; `ring`: a thread's ring; `consumer`: its reading end; `snapshot`: a
//!   copy of a ring that is still being written;
//! - `kernel`: metadata of a kernel's code; `definition`, `log`: names and everything else that is
//!   written once;
//! - `requests`: control requests to a recording process; `folder`: the files of one process and
//!   the commit protocol that makes writing exactly-once.
//!
//! Invariants: one producer and one consumer per ring; an event is in the ring or counted as lost;
//! what `Folder` commits is never written twice.

pub mod arguments;
pub mod blas;
mod chunk;
pub mod clock;
mod consumer;
pub mod conv;
pub mod definition;
pub mod event;
pub mod failure;
pub mod folder;
pub mod gpu;
pub mod hip;
pub mod kernel;
pub mod log;
mod map;
pub mod mark;
pub mod named;
pub mod owner;
pub mod page;
pub mod payload;
pub mod pool;
mod producer;
pub mod requests;
mod ring;
pub mod sandbox;
pub mod slot;
mod snapshot;
mod sync;
#[cfg(test)]
mod tests;

pub use chunk::{CHUNK_BYTES, CHUNK_SLOTS, SLOT_BYTES};
pub use consumer::{Consumer, Counters, Position};
pub use definition::Definition;
pub use folder::{Committed, Control, Folder};
pub use log::{Log, LogReader};
pub use map::file_limit;
pub use page::{DEPTH, WhenFull};
pub use pool::Pool;
pub use producer::{CallGuard, Frame, Producer};
pub use ring::Ring;
pub use snapshot::RingSnapshot;
