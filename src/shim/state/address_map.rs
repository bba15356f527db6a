//! A lock-free map of bounded size from an object's address to a few words of state.
//!
//! It serves objects that only one thread at a time may use, change or destroy, as their libraries
//! demand. So no thread reads a slot while another changes it, and two threads never write to one
//! slot. When an object finds no free slot, nothing is stored for it.

use crate::platform::memory;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Slots of the map.
const SLOTS: usize = 4096;
/// Probe limit: an address is stored in one of this many consecutive slots.
const PROBE_LIMIT: usize = 16;
/// Key of a free slot.
const FREE: u64 = 0;
/// Key of a slot that a thread has claimed and is filling.
const CLAIMED: u64 = 1;

/// The map. Its table is allocated by the first `put`.
pub(crate) struct AddressMap<const WORDS: usize>(OnceLock<Table<WORDS>>);

struct Table<const WORDS: usize> {
    /// The address of each slot's object, [`FREE`] or [`CLAIMED`]. Stored with release, after the
    /// words.
    keys: Box<[AtomicU64]>,
    words: Box<[[AtomicU64; WORDS]]>,
}

impl<const WORDS: usize> Default for AddressMap<WORDS> {
    fn default() -> Self {
        AddressMap(OnceLock::new())
    }
}

impl<const WORDS: usize> AddressMap<WORDS> {
    /// Returns the words of the object at `address`.
    pub(crate) fn find(&self, address: u64) -> Option<&[AtomicU64; WORDS]> {
        let table = self.0.get()?;
        Some(&table.words[table.slot(address)?])
    }

    /// Stores `words` for the object at `address`; `None` when no slot is free.
    pub(crate) fn put(&self, address: u64, words: [u64; WORDS]) -> Option<&[AtomicU64; WORDS]> {
        let table = match self.0.get() {
            Some(table) => table,
            None => memory::has(Table::<WORDS>::BYTES).then(|| self.0.get_or_init(Table::new))?,
        };
        let at = table.slot(address).or_else(|| table.claim(address))?;
        for (word, value) in table.words[at].iter().zip(words) {
            // Relaxed: the release store of the key follows.
            word.store(value, Relaxed);
        }
        table.keys[at].store(address, Release);
        Some(&table.words[at])
    }

    /// Removes the object at `address`.
    pub(crate) fn remove(&self, address: u64) {
        let found = self.0.get().and_then(|table| Some(&table.keys[table.slot(address)?]));
        if let Some(key) = found {
            // Release: the next owner of the slot writes to it only after our reads of it.
            key.store(FREE, Release);
        }
    }
}

impl<const WORDS: usize> Table<WORDS> {
    const BYTES: usize = SLOTS * (WORDS + 1) * size_of::<AtomicU64>();

    fn new() -> Self {
        let words = || std::array::from_fn(|_| AtomicU64::new(0));
        Table {
            keys: (0..SLOTS).map(|_| AtomicU64::new(FREE)).collect(),
            words: (0..SLOTS).map(|_| words()).collect(),
        }
    }

    /// Returns the slots that may hold the object at `address`.
    fn probe(address: u64) -> impl Iterator<Item = usize> {
        let first = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        (first..first + PROBE_LIMIT).map(|at| at % SLOTS)
    }

    /// Returns the slot that holds the object at `address`.
    fn slot(&self, address: u64) -> Option<usize> {
        // Acquire: pairs with the release store of the key, which follows the words.
        Self::probe(address).find(|at| address > CLAIMED && self.keys[*at].load(Acquire) == address)
    }

    /// Claims a free slot for the object at `address`.
    fn claim(&self, address: u64) -> Option<usize> {
        let claim = |at: &usize| self.keys[*at].compare_exchange(FREE, CLAIMED, Acquire, Relaxed).is_ok();
        Self::probe(address).find(|at| address > CLAIMED && claim(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(slots: &AddressMap<2>, address: u64) -> Option<[u64; 2]> {
        slots.find(address).map(|words| [0, 1].map(|i: usize| words[i].load(Relaxed)))
    }

    #[test]
    fn an_object_is_found_until_it_is_removed() {
        let slots = AddressMap::default();
        assert!(slots.find(0x40).is_none());
        slots.remove(0x40);
        slots.put(0x40, [1, 2]);
        slots.put(0x80, [3, 4]);
        assert_eq!((words(&slots, 0x40), words(&slots, 0x80)), (Some([1, 2]), Some([3, 4])));
        slots.put(0x40, [5, 6]);
        assert_eq!(words(&slots, 0x40), Some([5, 6]));
        slots.remove(0x40);
        assert_eq!((words(&slots, 0x40), words(&slots, 0x80)), (None, Some([3, 4])));
        for mark in [FREE, CLAIMED] {
            assert!(slots.put(mark, [7, 7]).is_none() && slots.find(mark).is_none(), "no address");
        }
    }

    #[test]
    fn a_full_map_stores_nothing_more_and_keeps_the_rest() {
        let slots = AddressMap::default();
        let addresses = || (1..=2 * SLOTS as u64).map(|i| i << 5);
        let known: Vec<u64> =
            addresses().filter(|address| slots.put(*address, [*address, 0]).is_some()).collect();
        assert!(known.len() > SLOTS * 9 / 10 && known.len() <= SLOTS, "{}", known.len());
        let found: Vec<u64> =
            addresses().filter(|address| words(&slots, *address) == Some([*address, 0])).collect();
        assert_eq!(found, known);
        known.iter().for_each(|address| slots.remove(*address));
        assert!(addresses().all(|address| slots.find(address).is_none()));
        assert!(slots.put(0x20, [1, 1]).is_some());
    }

    #[test]
    fn each_thread_finds_its_own_objects() {
        let slots: AddressMap<2> = AddressMap::default();
        std::thread::scope(|scope| {
            for thread in 1..=4_u64 {
                let slots = &slots;
                scope.spawn(move || {
                    for round in 0..20_000 {
                        let address = (thread << 32) + ((round % 64) << 5);
                        assert!(slots.put(address, [thread, round]).is_some());
                        assert_eq!(words(slots, address), Some([thread, round]));
                        slots.remove(address);
                        assert_eq!(words(slots, address), None);
                    }
                });
            }
        });
    }
}
