//! Runs of bits in the words that say which chunks are ready, or cold.

use crate::sync::Bits;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Bits of a word.
pub(super) const BITS: usize = u64::BITS as usize;

/// The lowest `count` bits.
pub(super) fn mask(count: usize) -> u64 {
    if count >= BITS { u64::MAX } else { (1 << count) - 1 }
}

/// Clears the bits that `choose` chooses of those that are set; gives them.
pub(super) fn claim(word: &Bits, choose: impl Fn(u64) -> u64) -> Option<u64> {
    let mut bits = word.load(Relaxed);
    while bits != 0 {
        let chosen = choose(bits);
        match word.compare_exchange(bits, bits & !chosen, Acquire, Relaxed) {
            Ok(_) => return Some(chosen),
            Err(now) => bits = now,
        }
    }
    None
}

/// At most `most` bits in a row, from the lowest that is set.
pub(super) fn first_run(bits: u64, most: usize) -> u64 {
    let from = bits.trailing_zeros() as usize;
    mask((!(bits >> from)).trailing_zeros() as usize).min(mask(most)) << from
}

/// The same up to the highest.
pub(super) fn last_run(bits: u64, most: usize) -> u64 {
    first_run(bits.reverse_bits(), most).reverse_bits()
}
