//! hipBLASLt's descriptors as the program has made them: what a product is, is told by them and not by its arguments.
//!
//! They are opaque, and asking the library for their contents would show in its log, so what the program puts into them
//! is kept here, from the calls that make, change and destroy them. A product looks its five descriptors up on the
//! program's own thread, before the program's call: programs make, use and destroy descriptors around every product
//! (PyTorch does), so telling each of them to the collector would flood the definition log. That takes a lock, for the
//! time of a look-up in a hash table, which is why it is done here and never for a launch. The locks are many, by the
//! descriptor's address, so that threads with descriptors of their own do not meet. Nobody waits for long: who does not
//! get a lock in time goes on without it, and what lies behind that lock is known to nobody any more.
//!
//! A descriptor that was never seen being made is not here: what it holds is absent from the trace, never guessed.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Descriptors that are kept behind each lock; what is made beyond that is not known.
const MOST: usize = 4096;
const SHARDS: usize = 16;
/// Compute types of ROCm 6 on are below; up to 5.7 they were `hipblasLtComputeType_t`, from 300 on.
const FIRST_OLD_COMPUTE_TYPE: u32 = 150;
/// How long a thread waits for another that looks something up.
const PATIENCE: Duration = Duration::from_millis(5);

/// A matrix layout, with the defaults of a new one (hipBLASLt, handle.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) element: u32,
    pub(crate) rows: u64,
    pub(crate) cols: u64,
    pub(crate) ld: i64,
    pub(crate) batch: i32,
    pub(crate) stride: i64,
    pub(crate) order: i32,
}

/// The descriptor of a product, with the defaults of a new one (hipBLASLt, handle.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    /// Compute type, and that of the scalars.
    pub(crate) compute: [u32; 2],
    pub(crate) trans: [u32; 2],
    pub(crate) epilogue: u32,
    pub(crate) bias: u64,
    pub(crate) bias_type: u32,
    /// Of A, B, C, D.
    pub(crate) scales: [u64; 4],
    /// Of A, B.
    pub(crate) scale_modes: [u32; 2],
    pub(crate) aux: u64,
    pub(crate) aux_ld: i64,
    pub(crate) pointer_mode: u32,
}

impl Product {
    /// It is of ROCm 6 or later, and so is all that goes with it: up to 5.7 attributes from 5 on were something else, and
    /// algorithms and their results had other layouts.
    pub(crate) fn is_of_rocm_6_on(&self) -> bool {
        self.compute[0] < FIRST_OLD_COMPUTE_TYPE
    }
}

/// A descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Descriptor {
    Layout(Layout),
    Product(Product),
}

#[derive(Default)]
struct Shard {
    known: Mutex<HashMap<u64, Descriptor>>,
    /// A change was missed: nothing behind this lock is sure any more.
    unsure: AtomicBool,
}

impl Shard {
    fn change(&self, change: impl FnOnce(&mut HashMap<u64, Descriptor>)) {
        match self.known.try_lock_for(PATIENCE) {
            Some(mut known) => change(&mut known),
            // Relaxed: who reads it late has looked up before the change.
            None => self.unsure.store(true, Relaxed),
        }
    }
}

/// The descriptors of a process, by address.
#[derive(Default)]
pub(crate) struct Descriptors {
    shards: [Shard; SHARDS],
}

impl Descriptors {
    fn shard(&self, address: u64) -> &Shard {
        // Descriptors lie at least 32 bytes apart.
        &self.shards[(address >> 5) as usize % SHARDS]
    }

    /// A descriptor was made.
    pub(crate) fn made(&self, address: u64, descriptor: Descriptor) {
        self.shard(address).change(|known| {
            if known.len() < MOST || known.contains_key(&address) {
                known.insert(address, descriptor);
            }
        });
    }

    /// An attribute was set: `change` puts it into the descriptor, if that is known.
    pub(crate) fn changed(&self, address: u64, change: impl FnOnce(&mut Descriptor)) {
        self.shard(address).change(|known| {
            if let Some(descriptor) = known.get_mut(&address) {
                change(descriptor);
            }
        });
    }

    /// A descriptor is about to be destroyed.
    pub(crate) fn gone(&self, address: u64) {
        self.shard(address).change(|known| {
            known.remove(&address);
        });
    }

    /// What the descriptor at `address` holds.
    pub(crate) fn get(&self, address: u64) -> Option<Descriptor> {
        let shard = self.shard(address);
        let known = shard.known.try_lock_for(PATIENCE)?;
        // Relaxed: set before the change was given up; see `change`.
        known.get(&address).filter(|_| !shard.unsure.load(Relaxed)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(rows: u64) -> Descriptor {
        Descriptor::Layout(Layout { element: 0, rows, cols: 1, ld: 1, batch: 1, stride: 0, order: 0 })
    }

    #[test]
    fn a_descriptor_is_known_from_its_making_to_its_end() {
        let descriptors = Descriptors::default();
        assert_eq!(descriptors.get(0x40), None);
        descriptors.made(0x40, layout(7));
        descriptors.changed(0x40, |it| *it = layout(8));
        descriptors.changed(0x60, |_| panic!("it was never made"));
        assert_eq!(descriptors.get(0x40), Some(layout(8)));
        descriptors.gone(0x40);
        assert_eq!(descriptors.get(0x40), None);
    }

    #[test]
    fn a_change_that_was_missed_makes_everything_behind_its_lock_unknown() {
        let descriptors = Descriptors::default();
        descriptors.made(0x40, layout(7));
        let other = 0x40 + 32;
        descriptors.made(other, layout(9));
        let held = descriptors.shard(0x40).known.lock();
        descriptors.changed(0x40, |_| panic!("it cannot be reached"));
        drop(held);
        assert_eq!(descriptors.get(0x40), None, "its rows may have changed");
        assert_eq!(descriptors.get(other), Some(layout(9)));
    }

    #[test]
    fn there_are_never_more_than_so_many() {
        let descriptors = Descriptors::default();
        let address = |i: usize| (i * SHARDS * 32) as u64;
        (1..=MOST + 10).for_each(|i| descriptors.made(address(i), layout(i as u64)));
        assert_eq!(descriptors.get(address(MOST)), Some(layout(MOST as u64)));
        assert_eq!(descriptors.get(address(MOST + 1)), None);
    }
}
