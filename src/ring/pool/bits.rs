//! Finds and claims runs of bits in the bitmaps of ready and cold chunks.

use crate::sync::Bits;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Bits per word.
pub(super) const BITS: usize = u64::BITS as usize;

/// The lowest `count` bits.
pub(super) fn mask(count: usize) -> u64 {
    if count >= BITS { u64::MAX } else { (1 << count) - 1 }
}

/// Clears the set bits that `choose` selects; returns them.
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

/// At most `most` consecutive bits, from the lowest set bit.
pub(super) fn first_run(bits: u64, most: usize) -> u64 {
    let from = bits.trailing_zeros() as usize;
    mask((!(bits >> from)).trailing_zeros() as usize).min(mask(most)) << from
}

/// The same, up to the highest set bit.
pub(super) fn last_run(bits: u64, most: usize) -> u64 {
    first_run(bits.reverse_bits(), most).reverse_bits()
}
