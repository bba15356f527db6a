//! Parses MessagePack into a tree of values, from untrusted files.
//!
//! Every value takes at least one byte, and no memory is reserved for a claimed length, so the tree
//! is bounded by the file; nesting is bounded by [`DEEPEST`].

use rmp::Marker;

/// Limit of the nesting of maps and arrays; a Tensile catalog needs 16.
const DEEPEST: usize = 64;

/// A value; texts are borrowed from the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// Nil, and what Tensile's files do not use (binary data, extensions).
    Nothing,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(&'a str),
    Array(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Returns the value of `key` in a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Value<'a>> {
        let Value::Map(pairs) = self else { return None };
        pairs.iter().find(|(name, _)| *name == Value::Text(key)).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> Option<&'a str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        if let Value::Integer(number) = self { Some(*number) } else { None }
    }

    pub(crate) fn array(&self) -> Option<&[Value<'a>]> {
        if let Value::Array(values) = self { Some(values) } else { None }
    }
}

/// Parses a whole file.
///
/// # Errors
/// The byte at which the message is truncated or damaged.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value<'_>, usize> {
    let mut reader = Reader { rest: bytes };
    let value = reader.value(0);
    let at = bytes.len() - reader.rest.len();
    value.filter(|_| reader.rest.is_empty()).ok_or(at)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        let marker = Marker::from_u8(self.take(1)?[0]);
        let value = match marker {
            Marker::Null => Value::Nothing,
            Marker::True => Value::Bool(true),
            Marker::False => Value::Bool(false),
            Marker::FixPos(number) => Value::Integer(number.into()),
            Marker::FixNeg(number) => Value::Integer(number.into()),
            Marker::U8 => Value::Integer(i64::from_be_bytes(self.wide::<1>(false)?)),
            Marker::U16 => Value::Integer(i64::from_be_bytes(self.wide::<2>(false)?)),
            Marker::U32 => Value::Integer(i64::from_be_bytes(self.wide::<4>(false)?)),
            // A catalog has no numbers of 2^63 and more; clamped.
            Marker::U64 => {
                let number = u64::from_be_bytes(self.wide::<8>(false)?);
                Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
            }
            Marker::I8 => Value::Integer(i64::from_be_bytes(self.wide::<1>(true)?)),
            Marker::I16 => Value::Integer(i64::from_be_bytes(self.wide::<2>(true)?)),
            Marker::I32 => Value::Integer(i64::from_be_bytes(self.wide::<4>(true)?)),
            Marker::I64 => Value::Integer(i64::from_be_bytes(self.wide::<8>(true)?)),
            Marker::F32 => Value::Float(f32::from_be_bytes(self.take(4)?.try_into().ok()?).into()),
            Marker::F64 => Value::Float(f64::from_be_bytes(self.take(8)?.try_into().ok()?)),
            Marker::FixStr(length) => self.text(length.into())?,
            Marker::Str8 => self.length(1).and_then(|length| self.text(length))?,
            Marker::Str16 => self.length(2).and_then(|length| self.text(length))?,
            Marker::Str32 => self.length(4).and_then(|length| self.text(length))?,
            Marker::FixArray(length) => self.array(length.into(), depth)?,
            Marker::Array16 => self.length(2).and_then(|length| self.array(length, depth))?,
            Marker::Array32 => self.length(4).and_then(|length| self.array(length, depth))?,
            Marker::FixMap(length) => self.map(length.into(), depth)?,
            Marker::Map16 => self.length(2).and_then(|length| self.map(length, depth))?,
            Marker::Map32 => self.length(4).and_then(|length| self.map(length, depth))?,
            Marker::Bin8 => self.length(1).and_then(|length| self.skip(length))?,
            Marker::Bin16 => self.length(2).and_then(|length| self.skip(length))?,
            Marker::Bin32 => self.length(4).and_then(|length| self.skip(length))?,
            Marker::Ext8 => self.length(1).and_then(|length| self.skip(length + 1))?,
            Marker::Ext16 => self.length(2).and_then(|length| self.skip(length + 1))?,
            Marker::Ext32 => self.length(4).and_then(|length| self.skip(length.checked_add(1)?))?,
            Marker::FixExt1 => self.skip(2)?,
            Marker::FixExt2 => self.skip(3)?,
            Marker::FixExt4 => self.skip(5)?,
            Marker::FixExt8 => self.skip(9)?,
            Marker::FixExt16 => self.skip(17)?,
            Marker::Reserved => return None,
        };
        Some(value)
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }

    /// Reads a big-endian number of `N` bytes, sign-extended if signed.
    fn wide<const N: usize>(&mut self, signed: bool) -> Option<[u8; 8]> {
        let bytes = self.take(N)?;
        let fill = if signed && bytes[0] >= 0x80 { 0xff } else { 0 };
        let mut wide = [fill; 8];
        wide[8 - N..].copy_from_slice(bytes);
        Some(wide)
    }

    fn length(&mut self, bytes: usize) -> Option<usize> {
        let digits = self.take(bytes)?;
        Some(digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)))
    }

    fn text(&mut self, length: usize) -> Option<Value<'a>> {
        std::str::from_utf8(self.take(length)?).ok().map(Value::Text)
    }

    fn skip(&mut self, length: usize) -> Option<Value<'a>> {
        self.take(length).map(|_| Value::Nothing)
    }

    fn array(&mut self, length: usize, depth: usize) -> Option<Value<'a>> {
        let mut values = Vec::new();
        for _ in 0..self.claimed(length, depth)? {
            values.push(self.value(depth + 1)?);
        }
        Some(Value::Array(values))
    }

    fn map(&mut self, length: usize, depth: usize) -> Option<Value<'a>> {
        let mut pairs = Vec::new();
        for _ in 0..self.claimed(length, depth)? {
            pairs.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Some(Value::Map(pairs))
    }

    /// Reads this many values, if the file can hold them and none is too deep.
    fn claimed(&self, length: usize, depth: usize) -> Option<usize> {
        (depth < DEEPEST && length <= self.rest.len()).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_are_read() {
        let bytes = [
            0x8a, // a map of ten
            0xa1, b'a', 0x05, 0xa1, b'b', 0xe0, 0xa1, b'c', 0xcd, 1, 0, 0xa1, b'd', 0xd1, 0xff, 0, 0xa1,
            b'e', 0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xa1, b'f', 0xc3, 0xa1, b'g', 0x92, 0xc0, 0xc2, 0xa1,
            b'h', 0xd9, 2, b'h', b'i', 0xa1, b'i', 0xc7, 1, 7, 9, 0xa1, b'j', 0xcf, 0xff, 0, 0, 0, 0, 0, 0,
            0,
        ];
        let value = parse(&bytes).unwrap();
        let get = |key: &str| value.get(key).unwrap().clone();
        assert_eq!((get("a"), get("b")), (Value::Integer(5), Value::Integer(-32)));
        assert_eq!((get("c"), get("d")), (Value::Integer(256), Value::Integer(-256)));
        assert_eq!((get("e"), get("f")), (Value::Float(1.5), Value::Bool(true)));
        assert_eq!(get("g").array(), Some(&[Value::Nothing, Value::Bool(false)][..]));
        assert_eq!((get("h").text(), get("i")), (Some("hi"), Value::Nothing));
        assert_eq!((get("j").integer(), value.get("k")), (Some(i64::MAX), None));
        for cut in 0..bytes.len() {
            assert!(parse(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert_eq!(parse(&[5, 5]), Err(1), "bytes after the message");
    }

    #[test]
    fn a_message_that_claims_more_than_it_holds_is_refused() {
        assert_eq!(parse(&[0xdd, 0xff, 0xff, 0xff, 0xff]), Err(5));
        assert!(parse(&[0x91].repeat(100_000)).is_err(), "arrays in arrays");
        assert!(parse(&[0xc1]).is_err());
    }
}
