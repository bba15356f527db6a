//! The trait of all payloads: a sequence of 64-bit words, stored on the application's thread.

use crate::slot::EventKind;

/// What a hook records of its call.
pub trait Payload: Copy {
    /// The kind of event it makes.
    const KIND: EventKind;
    /// Number of words of every event of this kind, or the maximum if it varies.
    const WORDS: usize;
    /// Number of words of this one: fewer than [`Payload::WORDS`] if the length varies.
    #[inline(always)]
    fn words(&self) -> usize {
        Self::WORDS
    }
    /// True if the event may omit slot 1: only for payloads of at most five words unless
    /// [`Payload::is_wide`].
    const SHORT: bool = false;
    /// For short kinds: this one does not fit five words.
    #[inline(always)]
    fn is_wide(&self) -> bool {
        false
    }
    /// True for kinds that are reserved in the ring: short ones, calls of the HIP runtime, whose
    /// words are all known before the call.
    const RESERVED: bool = false;
    /// Stores the five words of a payload that is not wide.
    ///
    /// # Safety
    /// `to` is valid for writes of five words.
    #[inline(always)]
    #[allow(unsafe_code)] // writes to the slot
    unsafe fn store_reserved(&self, _to: *mut u64) {}
    /// Passes each word to `put(index, value)`.
    fn store(&self, put: impl FnMut(usize, u64));
    /// Bits of the words that make the shape of a problem, which has no addresses; 0: it has none.
    const SHAPE: u64 = 0;
    /// True if this one has a shape.
    #[inline(always)]
    fn has_shape(&self) -> bool {
        Self::SHAPE != 0
    }
    /// A fingerprint of its shape: two shapes have different ones but for chance.
    #[inline(always)]
    fn shape(&self) -> u64 {
        let mut sum = 0_u64;
        self.store(|index, value| {
            if index < 64 && Self::SHAPE >> index & 1 != 0 {
                sum = sum.wrapping_add(value.wrapping_mul(FACTORS[index]));
            }
        });
        sum
    }
    /// True for short kinds that may have bytes after their words.
    const BYTES: bool = false;
    /// Copies those bytes; returns how many there are, at most
    /// [`crate::arguments::ARGUMENT_BYTES`].
    ///
    /// # Safety
    /// `to` is valid for writes of `ARGUMENT_BYTES` bytes.
    #[inline(always)]
    #[allow(unsafe_code)] // reads memory of the program
    unsafe fn store_bytes(&self, _to: *mut u8) -> usize {
        0
    }
}

/// A factor of each word of a shape: odd, without a relation to the others, and so short that it is
/// part of an instruction.
const FACTORS: [u64; 64] = {
    let (mut factors, mut at) = ([0; 64], 0);
    while at < factors.len() {
        // The mixing function of SplitMix64.
        let mut mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        factors[at] = mixed >> 33 | 1;
        at += 1;
    }
    factors
};

/// Bits `first` to `last` of [`Payload::SHAPE`].
pub(crate) const fn words(first: usize, last: usize) -> u64 {
    u64::MAX >> (63 - (last - first)) << first
}

#[inline(always)]
pub(crate) fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

pub(crate) fn low(word: u64) -> u32 {
    word as u32
}

pub(crate) fn high(word: u64) -> u32 {
    (word >> 32) as u32
}
