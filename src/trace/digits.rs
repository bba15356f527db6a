//! Formats integers in decimal and hex, eight digits at a time.

/// Appends `value` in decimal.
#[inline]
pub(crate) fn decimal(out: &mut Vec<u8>, value: u64) {
    if value < EIGHT {
        return first_digits(out, value as u32);
    }
    let (high, low) = (value / EIGHT, value % EIGHT);
    if high < EIGHT {
        first_digits(out, high as u32);
    } else {
        first_digits(out, (high / EIGHT) as u32);
        out.extend_from_slice(&(eight_digits((high % EIGHT) as u32) | ZEROS).to_le_bytes());
    }
    out.extend_from_slice(&(eight_digits(low as u32) | ZEROS).to_le_bytes());
}

const EIGHT: u64 = 100_000_000;
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Appends a number below 10^8, without leading zeros. Each length has its own branch: lengths
/// repeat from line to line, so the branch is predicted and the next write does not wait for the
/// digits.
#[inline]
fn first_digits(out: &mut Vec<u8>, value: u32) {
    let digits = (eight_digits(value) | ZEROS).to_le_bytes();
    match value {
        0..=9 => out.push(digits[7]),
        10..=99 => out.extend_from_slice(&digits[6..]),
        100..=999 => out.extend_from_slice(&digits[5..]),
        1_000..=9_999 => out.extend_from_slice(&digits[4..]),
        10_000..=99_999 => out.extend_from_slice(&digits[3..]),
        100_000..=999_999 => out.extend_from_slice(&digits[2..]),
        1_000_000..=9_999_999 => out.extend_from_slice(&digits[1..]),
        _ => out.extend_from_slice(&digits),
    }
}

/// The eight digits of a number below 10^8, one per byte, the most significant in the lowest byte.
#[inline(always)]
pub(crate) fn eight_digits(value: u32) -> u64 {
    let value = u64::from(value);
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    // x * 10486 / 2^20 is x / 100 below 10,000; x * 103 / 2^10 is x / 10 below 100.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - 10 * tens) << 8)
}

/// The eight hex digits of a number as text, the most significant in the lowest byte.
#[inline(always)]
pub(crate) fn eight_hex(value: u32) -> u64 {
    let value = u64::from(value);
    let fours = (value | value << 16) & 0x0000_ffff_0000_ffff;
    let twos = (fours | fours << 8) & 0x00ff_00ff_00ff_00ff;
    let ones = (twos | twos << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // 1 where the digit is a letter: 'a' is 39 above the character after '9'.
    let letters = ((ones + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (ones + ZEROS + letters * 39).swap_bytes()
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends `value` in hex, without leading zeros.
#[inline]
pub(crate) fn hex(out: &mut Vec<u8>, value: u64) {
    let leading = (value.leading_zeros() / 4).min(15);
    let value = value << (4 * leading);
    let digits: [u8; 16] = std::array::from_fn(|i| DIGITS[(value >> (60 - 4 * i) & 15) as usize]);
    let length = out.len() + 16 - leading as usize;
    out.extend_from_slice(&digits);
    out.truncate(length);
}

/// Appends a byte as two hex digits.
#[inline]
pub(crate) fn byte(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_of_number_is_written_as_the_library_writes_it() {
        let powers = (0..20).map(|digits| 10_u64.pow(digits));
        let around = powers.flat_map(|power| [power - 1, power, power + 1, power.saturating_mul(9)]);
        let mut seed = 1_u64;
        let random = std::iter::repeat_with(move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> (seed % 64)
        });
        for value in around.chain((0..64).map(|bit| u64::MAX >> bit)).chain(random.take(200_000)) {
            let (mut ours, mut ours_hex) = (b"x".to_vec(), Vec::new());
            decimal(&mut ours, value);
            hex(&mut ours_hex, value);
            assert_eq!(String::from_utf8(ours).unwrap(), format!("x{value}"));
            assert_eq!(String::from_utf8(ours_hex).unwrap(), format!("{value:x}"));
        }
        (0..100_000_000_u32).step_by(9_973).for_each(|value| {
            let mut ours = Vec::new();
            decimal(&mut ours, value.into());
            assert_eq!(String::from_utf8(ours).unwrap(), value.to_string());
        });
    }
}
