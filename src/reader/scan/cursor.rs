//! Position of a scan in its line, and the values that may follow.
//!
//! Text not written as rocshim writes it (white space, escapes, another order) gives `None`.

use super::number::number;
use rocshim_trace::{Arg, Hex, StreamRef, Word, arg_of_text};

/// Rest of the line.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    /// Byte before the next member: `{` before the first of an object, `,` before any other.
    lead: u8,
    /// Returns true when the arguments of a kernel's launches are read.
    pub(super) wants_arguments: &'a dyn Fn(Option<u32>) -> bool,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor behind the first member.
    pub(super) fn new(rest: &'a [u8], wants_arguments: &'a dyn Fn(Option<u32>) -> bool) -> Cursor<'a> {
        Cursor { rest, lead: b',', wants_arguments }
    }

    /// Skips `text` if it follows.
    #[inline(always)]
    pub(super) fn skip(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Skips `"key":`, given whole, if the next member has that key.
    #[inline(always)]
    pub(super) fn key(&mut self, key: &[u8]) -> bool {
        match self.rest.split_first() {
            Some((lead, rest)) if *lead == self.lead && rest.starts_with(key) => {
                self.rest = &rest[key.len()..];
                self.lead = b',';
                true
            }
            _ => false,
        }
    }

    /// Reads an object whose members `members` reads.
    pub(super) fn object<T>(&mut self, members: impl FnOnce(&mut Cursor<'a>) -> Option<T>) -> Option<T> {
        self.lead = b'{';
        let object = members(self)?;
        let is_empty = std::mem::replace(&mut self.lead, b',') == b'{';
        self.skip(if is_empty { b"{}" } else { b"}" }).then_some(object)
    }

    /// Returns true when no member follows.
    #[inline(always)]
    pub(super) fn has_ended(&self) -> bool {
        self.rest.first() == Some(&b'}')
    }

    /// Returns true when only the end of the line's object and spaces follow.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.strip_prefix(b"}").is_some_and(|rest| rest.iter().all(|byte| matches!(byte, b' ' | b'\n')))
    }

    /// Skips a list of numbers and plain strings.
    pub(super) fn pass_list(&mut self) -> Option<()> {
        self.skip(b"[").then_some(())?;
        let end = memchr::memchr(b']', self.rest)?;
        self.rest = &self.rest[end + 1..];
        Some(())
    }

    /// Returns the bytes up to the first for which `is_part` is false.
    #[inline(always)]
    fn take_while(&mut self, is_part: impl Fn(u8) -> bool) -> &'a [u8] {
        let length = self.rest.iter().position(|byte| !is_part(*byte)).unwrap_or(self.rest.len());
        let (part, rest) = self.rest.split_at(length);
        self.rest = rest;
        part
    }

    #[inline(always)]
    fn number(&mut self) -> Option<u64> {
        let (value, digits) = number(self.rest)?;
        self.rest = &self.rest[digits..];
        Some(value)
    }

    /// Reads a string without escapes.
    #[inline(always)]
    fn text(&mut self) -> Option<&'a str> {
        self.skip(b"\"").then_some(())?;
        let text = self.take_while(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
        self.skip(b"\"").then_some(())?;
        std::str::from_utf8(text).ok()
    }

    /// Reads a string of hex digits, two per byte; skips nothing if it is not one.
    fn bytes(&mut self) -> Option<Box<[u8]>> {
        let digits = self.rest.get(1..)?;
        let length = digits.iter().position(|byte| !byte.is_ascii_hexdigit())?;
        let (digits, rest) = digits.split_at(length);
        let (rest, is_even) = (rest.strip_prefix(b"\"")?, length % 2 == 0);
        let value = |digit: u8| (digit & 15) + if digit > b'9' { 9 } else { 0 };
        let byte = |pair: &[u8]| value(pair[0]) << 4 | value(pair[1]);
        is_even.then(|| {
            self.rest = rest;
            digits.chunks_exact(2).map(byte).collect()
        })
    }

    /// Reads a number in JSON's syntax.
    fn decimal(&mut self) -> Option<f64> {
        let text = self.take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        serde_json::from_slice(text).ok()
    }
}

/// A type that can be scanned.
pub(super) trait Scan: Sized {
    /// Reads the value, if it follows and is written as rocshim writes it.
    fn scan(at: &mut Cursor) -> Option<Self>;
}

impl Scan for u64 {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<u64> {
        at.number()
    }
}

impl Scan for i64 {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<i64> {
        let is_negative = at.skip(b"-");
        let size = at.number()?;
        match is_negative {
            true if size == 0 => None, // serde takes `-0` for a number with a fraction
            true => 0_i64.checked_sub_unsigned(size),
            false => size.try_into().ok(),
        }
    }
}

macro_rules! narrow {
    ($($narrow:ty: $wide:ty),*) => {
        $(impl Scan for $narrow {
            #[inline(always)]
            fn scan(at: &mut Cursor) -> Option<$narrow> {
                <$wide>::scan(at)?.try_into().ok()
            }
        })*
    };
}
narrow!(u8: u64, u16: u64, u32: u64, i32: i64);

impl Scan for f32 {
    fn scan(at: &mut Cursor) -> Option<f32> {
        at.decimal().map(|value| value as f32)
    }
}

impl Scan for bool {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<bool> {
        at.skip(b"true").then_some(true)
    }
}

impl Scan for Hex {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<Hex> {
        at.skip(b"\"0x").then_some(())?;
        let (mut value, mut digits) = (0_u64, 0);
        loop {
            let digit = match at.rest.get(digits)? {
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'a'..=b'f' => digit - b'a' + 10,
                b'"' if (1..=16).contains(&digits) => break,
                _ => return None,
            };
            value = value << 4 | u64::from(digit);
            digits += 1;
        }
        at.rest = &at.rest[digits + 1..];
        Some(Hex(value))
    }
}

impl Scan for StreamRef {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<StreamRef> {
        u32::scan(at).map(StreamRef::from)
    }
}

impl Scan for Word {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<Word> {
        at.text().map(Word::from)
    }
}

impl Scan for String {
    fn scan(at: &mut Cursor) -> Option<String> {
        at.text().map(str::to_owned)
    }
}

impl Scan for Arg {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<Arg> {
        if at.rest.starts_with(b"\"0x") {
            return Hex::scan(at).map(Arg::Hex);
        }
        if at.rest.starts_with(b"\"") {
            return at.bytes().map(Arg::Bytes).or_else(|| arg_of_text(at.text()?));
        }
        let start = at.rest;
        match i64::scan(at) {
            Some(value) if !matches!(at.rest.first(), Some(b'.' | b'e' | b'E')) => {
                Some(Arg::integer(value.into()))
            }
            _ => {
                at.rest = start;
                let text = at.take_while(|byte| !matches!(byte, b',' | b']'));
                serde_json::from_slice(text).ok()
            }
        }
    }
}

impl<T: Scan> Scan for Option<T> {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<Option<T>> {
        T::scan(at).map(Some)
    }
}

impl<T: Scan> Scan for Vec<T> {
    fn scan(at: &mut Cursor) -> Option<Vec<T>> {
        at.skip(b"[").then_some(())?;
        if at.skip(b"]") {
            return Some(Vec::new());
        }
        let mut values = Vec::with_capacity(16);
        loop {
            values.push(T::scan(at)?);
            if at.skip(b"]") {
                return Some(values);
            }
            at.skip(b",").then_some(())?;
        }
    }
}

impl<T: Scan + Copy + Default, const N: usize> Scan for [T; N] {
    #[inline(always)]
    fn scan(at: &mut Cursor) -> Option<[T; N]> {
        let mut values = [T::default(); N];
        for (i, value) in values.iter_mut().enumerate() {
            at.skip(if i == 0 { b"[" } else { b"," }).then_some(())?;
            *value = T::scan(at)?;
        }
        at.skip(b"]").then_some(values)
    }
}
