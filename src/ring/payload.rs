//! What every payload is: a row of 64-bit words, stored on the application's thread.

use crate::slot::Kind;

/// What a hook tells of its call.
pub trait Payload: Copy {
    /// The kind of event it makes.
    const KIND: Kind;
    /// Words that every event of this kind stores (the most it may store).
    const WORDS: usize;
    /// Words that this one stores: fewer than [`Payload::WORDS`] where the length differs from event to event.
    #[inline(always)]
    fn words(&self) -> usize {
        Self::WORDS
    }
    /// True when the event may leave out slot 1: only for payloads of at most five words unless [`Payload::is_wide`].
    const SHORT: bool = false;
    /// For short kinds: this one does not fit five words.
    #[inline(always)]
    fn is_wide(&self) -> bool {
        false
    }
    /// True for kinds that are stored in their place in the ring: short ones, calls of the HIP runtime, whose words are all
    /// known before the call.
    const IN_PLACE: bool = false;
    /// For those that are not wide: stores the five words.
    ///
    /// # Safety
    /// `to` is valid for writes of five words.
    #[inline(always)]
    #[allow(unsafe_code)] // writes to the slot
    unsafe fn store_in_place(&self, _to: *mut u64) {}
    /// Gives each word to `put(index, value)`.
    fn store(&self, put: impl FnMut(usize, u64));
    /// True for short kinds that may have bytes behind their words.
    const BYTES: bool = false;
    /// Copies those bytes; gives how many there are, at most [`crate::arguments::ARGUMENT_BYTES`].
    ///
    /// # Safety
    /// `to` is valid for writes of `ARGUMENT_BYTES` bytes.
    #[inline(always)]
    #[allow(unsafe_code)] // what is copied lies wherever the program has it
    unsafe fn store_bytes(&self, _to: *mut u8) -> usize {
        0
    }
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
