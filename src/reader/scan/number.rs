//! Parses digits to a number, eight at a time.

/// Returns the number that `text` begins with, and its number of digits. Leading zeros are not
/// JSON; such a line is left to the parser, which reports it.
#[inline(always)]
pub(super) fn number(text: &[u8]) -> Option<(u64, usize)> {
    let Some(bytes) = text.first_chunk() else { return one_by_one(text) };
    let (value, digits) = leading_number(*bytes);
    if digits == 0 || digits > 1 && text[0] == b'0' {
        return None;
    }
    if digits < 8 {
        return Some((value, digits));
    }
    let Some(bytes) = text[8..].first_chunk() else { return one_by_one(text) };
    let (more, digits) = leading_number(*bytes);
    if digits == 8 { one_by_one(text) } else { Some((value * POWERS[digits] + more, 8 + digits)) }
}

/// Parses a very long number, or one at the end of the line.
fn one_by_one(text: &[u8]) -> Option<(u64, usize)> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = |sum: u64, digit: &u8| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    match &text[..digits] {
        [] | [b'0', _, ..] => None,
        number => Some((number.iter().try_fold(0, value)?, digits)),
    }
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Returns the number written by the leading digits of these bytes, and how many they are. Free of
/// branches that depend on that, which a processor could not predict.
#[inline(always)]
fn leading_number(bytes: [u8; 8]) -> (u64, usize) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(bytes) ^ (b'0' as u64 * EACH);
    // A byte over 9 gets its high bit; its carry affects only later bytes, which do not matter
    // then.
    let others = (bytes.wrapping_add(0x76 * EACH) | bytes) & (0x80 * EACH);
    let digits = (others.trailing_zeros() / 8) as usize;
    // Moves the last digit to the highest byte, with zeros before the first.
    let tens = bytes.checked_shl(64 - 8 * digits as u32).unwrap_or(0);
    let pairs = tens.wrapping_mul(10).wrapping_add(tens >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let eight = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    (eight, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read_wherever_they_stand() {
        let numbers = (0..20).map(|digits| "12345678901234567890"[..digits].to_owned());
        let others =
            ["0", "00", "01", "7", "18446744073709551615", "18446744073709551616", "9999999999999999"];
        for text in numbers.chain(others.map(str::to_owned)) {
            let is_json = text == "0" || !text.starts_with('0');
            let expected = text.parse::<u64>().ok().filter(|_| is_json).map(|value| (value, text.len()));
            for behind in ["", "}", ",\"key\":1}\n", "           ", "\u{80}\u{80}\u{80}\u{80}\u{80}"] {
                assert_eq!(number(format!("{text}{behind}").as_bytes()), expected, "{text}{behind}");
            }
        }
    }
}
