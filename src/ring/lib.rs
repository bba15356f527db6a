//! What crosses from the application's threads to whoever reads: event slots, per-thread rings, the definition log.
//!
//! Everything here lives in shared memory files, so that what was recorded is still there when the process is not.
//!
//! Layers, lowest first:
//! - `sync`: what threads meet in, as it is or as loom models it;
//! - `clock`: the stamp of every event; `sandbox`: whether system calls may end the program;
//! - `map`: shared memory files;
//! - `slot`: how an event lies in 64-byte slots; `payload`, `event`, `blas`, `conv`, `hip`, `named`, `mark`, `gpu`: the words of
//!   each kind; `arguments`: what a launch passes to its kernel;
//! - `page`: the head of a ring file: positions, losses, calls in flight;
//! - `chunk`, `pool`: the memory of a process's rings, and who has which piece of it;
//! - `producer`: the hot path; `ring`: a thread's ring; `consumer`: the reading end; `frozen`: a copy of a ring that goes on;
//! - `kernel`: what is known of a kernel's code; `definition`, `log`: names and all else that is written once;
//! - `orders`: what is asked of a process that records; `folder`: the files of one process, and what makes writing them out exactly-once.
//!
//! Invariants: one producer a ring, one consumer a ring; an event is in the ring or counted as lost; what `Folder`
//! commits is never written twice.

pub mod arguments;
pub mod blas;
mod chunk;
pub mod clock;
mod consumer;
pub mod conv;
pub mod definition;
pub mod event;
pub mod folder;
mod frozen;
pub mod gpu;
pub mod hip;
pub mod kernel;
pub mod log;
mod map;
pub mod mark;
pub mod named;
pub mod orders;
pub mod page;
pub mod payload;
pub mod pool;
mod producer;
mod ring;
pub mod sandbox;
pub mod slot;
mod sync;
#[cfg(test)]
mod tests;

pub use chunk::{CHUNK_BYTES, CHUNK_SLOTS, SLOT_BYTES};
pub use consumer::{Account, Consumer, Position};
pub use definition::Definition;
pub use folder::{Committed, Control, Folder};
pub use frozen::Frozen;
pub use log::{Log, LogReader};
pub use map::file_limit;
pub use page::{DEPTH, WhenFull};
pub use pool::Pool;
pub use producer::{Frame, Producer, Span};
pub use ring::Ring;
