//! What threads and processes meet in: shared words, the fences between them, locks and waits. Under `cfg(loom)` the same
//! as loom models them, so that its tests run the code that is here.

#[cfg(loom)]
pub(crate) use modelled::{
    AtomicU64, Bits, Deadline, Mutex, OnceLock, copy, fence, nap, read, reads, relax, write, wrote,
};
#[cfg(not(loom))]
pub(crate) use plain::{
    AtomicU64, Bits, Deadline, Mutex, OnceLock, copy, fence, nap, read, reads, relax, write, wrote,
};

#[cfg(loom)]
pub(crate) mod modelled;
#[cfg(not(loom))]
mod plain;
