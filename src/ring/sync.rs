//! The primitives that threads and processes share: atomic words, fences, locks and waits. Under
//! `cfg(loom)` they are loom's models, so that loom checks the code of this crate itself.

#[cfg(loom)]
pub(crate) use modelled::{
    AtomicU64, Bits, Deadline, Mutex, OnceLock, copy, fence, read, reads, relax, sleep, write, wrote,
};
#[cfg(not(loom))]
pub(crate) use plain::{
    AtomicU64, Bits, Deadline, Mutex, OnceLock, copy, fence, read, reads, relax, sleep, write, wrote,
};

#[cfg(loom)]
pub(crate) mod modelled;
#[cfg(not(loom))]
mod plain;
