//! What is known of things by their addresses: a table of bounded size, read and written without a lock.
//!
//! It is for things that only one thread at a time may use, change or destroy, as their libraries demand: so nobody reads
//! a slot while another thread changes it, and two threads never write to one. What finds no room is not known.

use crate::platform::memory;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Slots of a table.
const SLOTS: usize = 4096;
/// How many of them may hold the thing with a given address, one behind the other.
const REACH: usize = 16;
/// Key of a slot that is free.
const FREE: u64 = 0;
/// Key of a slot that a thread has taken and fills.
const TAKEN: u64 = 1;

/// The table, made when the first thing is put into it.
pub(crate) struct Slots<const WORDS: usize>(OnceLock<Table<WORDS>>);

struct Table<const WORDS: usize> {
    /// The address of the thing in each slot, [`FREE`] or [`TAKEN`]. Release: after its words.
    keys: Box<[AtomicU64]>,
    words: Box<[[AtomicU64; WORDS]]>,
}

impl<const WORDS: usize> Default for Slots<WORDS> {
    fn default() -> Self {
        Slots(OnceLock::new())
    }
}

impl<const WORDS: usize> Slots<WORDS> {
    /// What is known of the thing at `address`.
    pub(crate) fn find(&self, address: u64) -> Option<&[AtomicU64; WORDS]> {
        let table = self.0.get()?;
        Some(&table.words[table.slot(address)?])
    }

    /// `words` is what is known of the thing at `address` from now on, if there is room.
    pub(crate) fn put(&self, address: u64, words: [u64; WORDS]) -> Option<&[AtomicU64; WORDS]> {
        let table = match self.0.get() {
            Some(table) => table,
            None => memory::has(Table::<WORDS>::BYTES).then(|| self.0.get_or_init(Table::new))?,
        };
        let at = table.slot(address).or_else(|| table.take(address))?;
        for (word, value) in table.words[at].iter().zip(words) {
            // Relaxed: the key is stored after them.
            word.store(value, Relaxed);
        }
        table.keys[at].store(address, Release);
        Some(&table.words[at])
    }

    /// Nothing is known of what is at `address` any more.
    pub(crate) fn remove(&self, address: u64) {
        let found = self.0.get().and_then(|table| Some(&table.keys[table.slot(address)?]));
        if let Some(key) = found {
            // Release: whoever takes the slot writes to it after what was read from it.
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

    /// The slots that may hold the thing at `address`.
    fn reach(address: u64) -> impl Iterator<Item = usize> {
        let first = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        (first..first + REACH).map(|at| at % SLOTS)
    }

    /// The slot that holds the thing at `address`.
    fn slot(&self, address: u64) -> Option<usize> {
        // Acquire: with the key come the words.
        Self::reach(address).find(|at| address > TAKEN && self.keys[*at].load(Acquire) == address)
    }

    /// A slot for the thing at `address`, which no other thread takes.
    fn take(&self, address: u64) -> Option<usize> {
        let take = |at: &usize| self.keys[*at].compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok();
        Self::reach(address).find(|at| address > TAKEN && take(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(slots: &Slots<2>, address: u64) -> Option<[u64; 2]> {
        slots.find(address).map(|words| [0, 1].map(|i: usize| words[i].load(Relaxed)))
    }

    #[test]
    fn a_thing_is_known_from_when_it_is_put_there_until_it_is_removed() {
        let slots = Slots::default();
        assert!(slots.find(0x40).is_none());
        slots.remove(0x40);
        slots.put(0x40, [1, 2]);
        slots.put(0x80, [3, 4]);
        assert_eq!((words(&slots, 0x40), words(&slots, 0x80)), (Some([1, 2]), Some([3, 4])));
        slots.put(0x40, [5, 6]);
        assert_eq!(words(&slots, 0x40), Some([5, 6]));
        slots.remove(0x40);
        assert_eq!((words(&slots, 0x40), words(&slots, 0x80)), (None, Some([3, 4])));
        for mark in [FREE, TAKEN] {
            assert!(slots.put(mark, [7, 7]).is_none() && slots.find(mark).is_none(), "no address");
        }
    }

    #[test]
    fn what_finds_no_room_is_not_known_and_the_others_stay() {
        let slots = Slots::default();
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
    fn threads_with_things_of_their_own_find_each_what_it_has_put_there() {
        let slots: Slots<2> = Slots::default();
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
