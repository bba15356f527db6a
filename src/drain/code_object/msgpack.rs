//! A streaming MessagePack reader for untrusted data: it allocates nothing, and every step consumes
//! at least a byte.

use rmp::Marker;
use rmp::decode::{read_array_len, read_int, read_map_len, read_marker, read_str_from_slice};

/// The unread rest. After a `None` from anything but the `…_or_skip` functions its position is
/// undefined.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Unread bytes: the position of a value, counted from the end.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    /// The number of pairs of the map that begins here; `None` if it is not a map.
    pub(super) fn map(&mut self) -> Option<u32> {
        read_map_len(&mut self.0).ok()
    }

    /// The number of elements of the array that begins here; `None` if it is not an array.
    pub(super) fn array(&mut self) -> Option<u32> {
        read_array_len(&mut self.0).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let (text, rest) = read_str_from_slice(self.0).ok()?;
        self.0 = rest;
        Some(text)
    }

    /// The next string, `Some(None)` for a value of another type; `None` if the message is damaged.
    pub(super) fn text_or_skip(&mut self) -> Option<Option<&'a str>> {
        let mut ahead = *self;
        let text = ahead.text();
        if text.is_some() {
            *self = ahead;
        } else {
            self.skip()?;
        }
        Some(text)
    }

    /// The same for a number that fits an unsigned 32-bit integer.
    pub(super) fn number_or_skip(&mut self) -> Option<Option<u32>> {
        let mut ahead = *self;
        let number = read_int::<u32, _>(&mut ahead.0).ok();
        if number.is_some() {
            *self = ahead;
        } else {
            self.skip()?;
        }
        Some(number)
    }

    /// Skips the next value, with all that it contains.
    pub(super) fn skip(&mut self) -> Option<()> {
        let mut values = 1_u64;
        while values > 0 {
            values -= 1;
            let marker = read_marker(&mut self.0).ok()?;
            values = values.checked_add(self.skip_after(marker)?)?;
        }
        Some(())
    }

    /// Skips the data of `marker`; returns the number of contained values, which follow.
    fn skip_after(&mut self, marker: Marker) -> Option<u64> {
        let bytes = match marker {
            Marker::FixMap(pairs) => return Some(2 * u64::from(pairs)),
            Marker::FixArray(elements) => return Some(elements.into()),
            Marker::Array16 => return self.length(2),
            Marker::Array32 => return self.length(4),
            Marker::Map16 => return Some(2 * self.length(2)?),
            Marker::Map32 => return Some(2 * self.length(4)?),
            Marker::FixStr(length) => length.into(),
            Marker::Str8 | Marker::Bin8 => self.length(1)?,
            Marker::Str16 | Marker::Bin16 => self.length(2)?,
            Marker::Str32 | Marker::Bin32 => self.length(4)?,
            Marker::Ext8 => self.length(1)? + 1,
            Marker::Ext16 => self.length(2)? + 1,
            Marker::Ext32 => self.length(4)? + 1,
            Marker::U8 | Marker::I8 => 1,
            Marker::U16 | Marker::I16 | Marker::FixExt1 => 2,
            Marker::FixExt2 => 3,
            Marker::U32 | Marker::I32 | Marker::F32 => 4,
            Marker::FixExt4 => 5,
            Marker::U64 | Marker::I64 | Marker::F64 => 8,
            Marker::FixExt8 => 9,
            Marker::FixExt16 => 17,
            Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Null | Marker::True | Marker::False => 0,
            Marker::Reserved => return None,
        };
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(0)
    }

    /// A length in `bytes` bytes, big-endian.
    fn length(&mut self, bytes: usize) -> Option<u64> {
        let (digits, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(digits.iter().fold(0, |length, digit| length << 8 | u64::from(*digit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_value_is_skipped_whole() {
        let values: &[&[u8]] = &[
            &[0x05],
            &[0xe0],
            &[0xc0],
            &[0xc2],
            &[0xcc, 1],
            &[0xcd, 1, 2],
            &[0xce, 1, 2, 3, 4],
            &[0xcf, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0xd2, 1, 2, 3, 4],
            &[0xca, 1, 2, 3, 4],
            &[0xcb, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0xa2, b'h', b'i'],
            &[0xd9, 1, b'x'],
            &[0xda, 0, 1, b'x'],
            &[0xdb, 0, 0, 0, 1, b'x'],
            &[0xc4, 2, 0, 0],
            &[0xd4, 7, 0],
            &[0xd8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xc7, 1, 7, 0],
            &[0x92, 0x01, 0x91, 0xc0],
            &[0x81, 0xa1, b'k', 0x90],
            &[0xdc, 0, 1, 0x01],
            &[0xdf, 0, 0, 0, 1, 0x01, 0x02],
        ];
        for value in values {
            let mut bytes = value.to_vec();
            bytes.push(0x7f);
            let mut reader = Reader::new(&bytes);
            assert_eq!((reader.skip(), reader.left()), (Some(()), 1), "{value:x?}");
            for cut in 0..value.len() {
                assert_eq!(Reader::new(&value[..cut]).skip(), None, "{value:x?} cut at {cut}");
            }
        }
        assert_eq!(Reader::new(&[0xc1]).skip(), None);
    }

    #[test]
    fn a_message_with_excessive_lengths_ends() {
        // A map of 4 billion pairs, of maps of 4 billion pairs, …
        let deep = [0xdf, 0xff, 0xff, 0xff, 0xff].repeat(100_000);
        assert_eq!(Reader::new(&deep).skip(), None);
    }

    #[test]
    fn values_of_other_types_are_skipped() {
        let mut reader = Reader::new(&[0xcd, 1, 0, 0xa1, b'x', 0xd0, 0xff, 0xcf, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(reader.number_or_skip(), Some(Some(256)));
        assert_eq!(reader.number_or_skip(), Some(None), "a string");
        assert_eq!(reader.number_or_skip(), Some(None), "-1");
        assert_eq!(reader.number_or_skip(), Some(None), "2^56");
        assert_eq!(reader.number_or_skip(), None, "the end");
        let mut reader = Reader::new(&[0xa1, b'x', 0x05, 0xa1, 0xff]);
        assert_eq!(reader.text_or_skip(), Some(Some("x")));
        assert_eq!(reader.text_or_skip(), Some(None), "a number");
        assert_eq!(reader.text_or_skip(), Some(None), "not UTF-8");
        assert_eq!(reader.text_or_skip(), None, "the end");
    }
}
