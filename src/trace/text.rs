//! A short text of fixed capacity, written in blocks: no allocation, no call, one bounds check per
//! block.

use crate::digits::{eight_digits, eight_hex};
use crate::dims::shown;

/// A text of at most `N` bytes. Every write needs room for its whole block: 8 bytes for the last
/// digits of a number, the other text's capacity for [`Text::put_text`].
///
/// # Panics
/// The methods panic if the block does not fit.
#[derive(Clone, Debug)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Text<N> {
        Text { bytes: [0; N], length: 0 }
    }
}

const BLOCK: u64 = 100_000_000;
const ZEROS: u64 = 0x3030_3030_3030_3030;

impl<const N: usize> Text<N> {
    /// The text written so far.
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Makes it empty.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Removes the last byte, if there is one.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.length = self.length.saturating_sub(1);
    }

    /// Appends bytes.
    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Appends a text by copying its whole capacity, which makes the copy length a constant.
    #[inline(always)]
    pub fn put_text<const M: usize>(&mut self, text: &Text<M>) {
        self.put_block(&text.bytes, text.length);
    }

    /// Appends the first `length` of `block`.
    #[inline(always)]
    fn put_block<const M: usize>(&mut self, block: &[u8; M], length: usize) {
        self.bytes[self.length..self.length + M].copy_from_slice(block);
        self.length += length;
    }

    /// Appends `value` in decimal.
    #[inline(always)]
    pub fn put_decimal(&mut self, value: u64) {
        if value < BLOCK {
            return self.put_first(value);
        }
        let (high, low) = (value / BLOCK, value % BLOCK);
        if high < BLOCK {
            self.put_first(high);
        } else {
            self.put_first(high / BLOCK);
            self.put_eight(high % BLOCK);
        }
        self.put_eight(low);
    }

    /// Appends a number below 10^8 without leading zeros.
    #[inline(always)]
    fn put_first(&mut self, value: u64) {
        let digits = eight_digits(value as u32);
        // At least one digit remains.
        let leading = ((digits | 1 << 56).trailing_zeros() / 8) as usize;
        self.put_block(&((digits | ZEROS) >> (8 * leading)).to_le_bytes(), 8 - leading);
    }

    #[inline(always)]
    fn put_eight(&mut self, value: u64) {
        self.put_block(&(eight_digits(value as u32) | ZEROS).to_le_bytes(), 8);
    }

    /// Appends `value` in decimal.
    #[inline(always)]
    pub fn put_integer(&mut self, value: i64) {
        self.put_block(b"-", usize::from(value < 0));
        self.put_decimal(value.unsigned_abs());
    }

    /// Appends sizes separated by commas, trailing ones omitted: at least the first.
    #[inline(always)]
    pub fn put_dims(&mut self, sizes: &[u32; 3]) {
        for (at, size) in shown(sizes).iter().enumerate() {
            if at > 0 {
                self.put(b",");
            }
            self.put_decimal((*size).into());
        }
    }

    /// Appends `value` in hex, without leading zeros.
    #[inline(always)]
    pub fn put_hex(&mut self, value: u64) {
        let leading = (value.leading_zeros() / 4).min(15);
        let digits = value << (4 * leading);
        self.put_block(&eight_hex((digits >> 32) as u32).to_le_bytes(), 8.min(16 - leading as usize));
        if leading < 8 {
            self.put_block(&eight_hex(digits as u32).to_le_bytes(), 8 - leading as usize);
        }
    }

    /// Appends a byte as two hex digits.
    #[inline(always)]
    pub fn put_byte(&mut self, byte: u8) {
        self.put_block(&((eight_hex(byte.into()) >> 48) as u16).to_le_bytes(), 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_library_writes_them() {
        let powers = (0..20).map(|digits| 10_u64.pow(digits));
        let around = powers.flat_map(|power| [power - 1, power, power + 1, power.saturating_mul(9)]);
        let mut seed = 1_u64;
        let random = std::iter::repeat_with(move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> (seed % 64)
        });
        for value in around.chain((0..64).map(|bit| u64::MAX >> bit)).chain(random.take(200_000)) {
            let mut text: Text<128> = Text::default();
            text.put(b"x");
            text.put_decimal(value);
            text.put(b" ");
            text.put_integer(value as i64);
            text.put(b" ");
            text.put_hex(value);
            text.put(b" ");
            text.put_byte(value as u8);
            let expected = format!("x{value} {} {value:x} {:02x}", value as i64, value as u8);
            assert_eq!(std::str::from_utf8(text.as_bytes()), Ok(expected.as_str()));
        }
    }

    #[test]
    fn an_appended_text_keeps_its_length() {
        let (mut line, mut word): (Text<64>, Text<32>) = Default::default();
        word.put(b"one,");
        line.put_text(&word);
        word.clear();
        word.put(b"2,");
        line.put_text(&word);
        assert_eq!(line.as_bytes(), b"one,2,");
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_write_without_room_panics() {
        Text::<8>::default().put(b"123456789");
    }
}
