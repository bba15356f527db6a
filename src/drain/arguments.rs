//! Decodes a launch's argument bytes to values, by the code object's metadata or else the kernel's
//! name.

use crate::parameters::parameters;
use rocshim_ring::kernel::{Argument, KernelCode};
use rocshim_trace::{Arg, Hex, Text, write_arg};

/// The representation of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Signed,
    Unsigned,
    /// 2, 4 or 8 bytes.
    Float,
    /// `bfloat16`.
    Brain,
    Pointer,
    Bytes,
}

/// The arguments of a kernel, as far as they are known.
pub(crate) struct Arguments {
    places: Vec<(usize, usize, Reading)>,
}

impl Arguments {
    /// The arguments of a kernel with this metadata and, for a C++ name, this demangled name. Adds
    /// to `code` the types that only the name has; `None` if the arguments are not known.
    pub(crate) fn of(code: &mut KernelCode<'static>, demangled: Option<&str>) -> Option<Arguments> {
        let args = code.args.as_mut()?;
        take_types_of_name(args, demangled);
        let place = |arg: &Argument| (arg.offset as usize, arg.size as usize, reading(arg));
        Some(Arguments { places: args.iter().map(place).collect() })
    }

    /// The values in `bytes`, where each argument is at its offset, up to the first incomplete one;
    /// and how many are missing.
    pub(crate) fn read(&self, bytes: &[u8]) -> (Vec<Arg>, u64) {
        let value = |(offset, size, reading): &(usize, usize, Reading)| {
            Some(read(bytes.get(*offset..offset.checked_add(*size)?)?, *reading))
        };
        let values: Vec<Arg> = self.places.iter().map_while(value).collect();
        // If nothing was recorded, nothing counts as missing.
        let cut = if bytes.is_empty() { 0 } else { self.places.len() - values.len() };
        (values, cut as u64)
    }
}

/// Bytes as 64-bit words, and how many of the bytes are valid.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a>(pub(crate) &'a [u64], pub(crate) usize);

impl Words<'_> {
    /// The value of up to 8 bytes within them.
    #[inline(always)]
    fn bits(&self, offset: usize, size: usize) -> u64 {
        let (at, shift) = (offset / 8, offset % 8 * 8);
        let low = self.0[at] >> shift;
        let high = if shift + 8 * size > 64 { self.0[at + 1] << (64 - shift) } else { 0 };
        (low | high) & u64::MAX >> (64 - 8 * size)
    }

    fn byte(&self, offset: usize) -> u8 {
        (self.0[offset / 8] >> (offset % 8 * 8)) as u8
    }
}

impl Arguments {
    /// Fills `encoders` with those of the arguments that are complete in `bytes`, as for
    /// [`Arguments::read`]. Returns how many are missing.
    pub(crate) fn encoders(&self, bytes: Words, encoders: &mut Vec<ArgumentEncoder>) -> u64 {
        let lies_whole = |(offset, size, _): &&(usize, usize, Reading)| {
            offset.checked_add(*size).is_some_and(|end| end <= bytes.1)
        };
        encoders.clear();
        encoders.extend(self.places.iter().take_while(lies_whole).map(|place| ArgumentEncoder::new(*place)));
        (self.places.len() - encoders.len()) as u64
    }
}

/// The range in which numbers of single and double precision are written alike, without an
/// exponent.
const SIMPLE: std::ops::Range<f32> = 1e-4..1e7;

/// Writes one argument of a kernel for launch after launch. It caches the text of the last value,
/// because most values repeat.
pub(crate) struct ArgumentEncoder {
    offset: usize,
    size: usize,
    reading: Reading,
    /// The value of `text`; `None` if there is none yet, or the argument is written byte by byte.
    last: Option<u64>,
    text: Text<32>,
}

impl ArgumentEncoder {
    fn new((offset, size, reading): (usize, usize, Reading)) -> ArgumentEncoder {
        let reading = if value(reading, size, || 0).is_none() { Reading::Bytes } else { reading };
        ArgumentEncoder { offset, size, reading, last: None, text: Text::default() }
    }

    /// The maximum length that [`ArgumentEncoder::write`] appends, bytes.
    pub(crate) fn longest(&self) -> usize {
        32.max(2 * self.size + 16)
    }

    /// Appends the argument and a comma.
    #[inline(always)]
    pub(crate) fn write<const N: usize>(&mut self, bytes: Words, line: &mut Text<N>) {
        if self.reading == Reading::Bytes {
            return self.write_bytes(bytes, line);
        }
        let bits = bytes.bits(self.offset, self.size);
        if self.last != Some(bits) {
            self.encode(bits);
        }
        line.put_text(&self.text);
    }

    fn write_bytes<const N: usize>(&self, bytes: Words, line: &mut Text<N>) {
        line.put(b"\"");
        (self.offset..self.offset + self.size).for_each(|at| line.put_byte(bytes.byte(at)));
        line.put(b"\",");
    }

    fn encode(&mut self, bits: u64) {
        self.last = Some(bits);
        self.text.clear();
        let single = f32::from_bits(bits as u32);
        let is_simple = self.reading == Reading::Float && self.size == 4 && SIMPLE.contains(&single.abs());
        let value = if is_simple { None } else { value(self.reading, self.size, || bits) };
        match value {
            Some(Arg::Integer(value)) => self.text.put_integer(value),
            Some(Arg::Hex(Hex(value))) => {
                self.text.put(b"\"0x");
                self.text.put_hex(value);
                self.text.put(b"\"");
            }
            other => {
                let mut text = Vec::with_capacity(32);
                match other {
                    Some(arg) => write_arg(&mut text, &arg),
                    // The digits of the double-precision number that a record holds.
                    None => drop(serde_json::to_writer(&mut text, &single)), // writing to memory cannot fail
                }
                self.text.put(&text);
            }
        }
        self.text.put(b",");
    }
}

/// Adds the types in the kernel's name where the code object has none, if the name has as many
/// parameters, of the same sizes.
fn take_types_of_name(args: &mut [Argument], demangled: Option<&str>) {
    if args.iter().any(|arg| arg.type_name.is_some() || arg.value_type.is_some()) {
        return;
    }
    let Some(types) = demangled.and_then(parameters).filter(|types| types.len() == args.len()) else {
        return;
    };
    let is_right = |(arg, name): (&Argument, &&str)| scalar(name).is_none_or(|(size, _)| size == arg.size);
    if args.iter().zip(&types).all(is_right) {
        args.iter_mut().zip(types).for_each(|(arg, name)| arg.type_name = Some(name.to_owned().into()));
    }
}

/// The size and representation of a named scalar type in C++, OpenCL, or older metadata (`u32`).
fn scalar(name: &str) -> Option<(u32, Reading)> {
    use Reading::{Brain, Float, Pointer, Signed, Unsigned};
    if name.ends_with(['*', '&']) {
        return Some((8, Pointer));
    }
    Some(match name {
        "char" | "signed char" | "i8" => (1, Signed),
        "bool" | "unsigned char" | "uchar" | "u8" => (1, Unsigned),
        "short" | "i16" => (2, Signed),
        "unsigned short" | "ushort" | "u16" => (2, Unsigned),
        "int" | "i32" => (4, Signed),
        "unsigned int" | "unsigned" | "uint" | "u32" => (4, Unsigned),
        "long" | "long long" | "i64" => (8, Signed),
        "unsigned long" | "unsigned long long" | "ulong" | "u64" => (8, Unsigned),
        "_Float16" | "__half" | "half" | "f16" => (2, Float),
        "float" | "f32" => (4, Float),
        "double" | "f64" => (8, Float),
        "__bf16" | "std::bfloat16_t" | "__hip_bfloat16" | "hip_bfloat16" => (2, Brain),
        _ => return None,
    })
}

fn reading(arg: &Argument) -> Reading {
    let name = arg.type_name.as_deref().or(arg.value_type.as_deref());
    let is_pointer = match &*arg.kind {
        // Tensile declares a pointer as an integer.
        "by_value" => arg.name.as_deref().is_some_and(|name| name.starts_with("Address")),
        _ => true,
    };
    match name.and_then(scalar) {
        _ if is_pointer && arg.size == 8 => Reading::Pointer,
        Some((size, reading)) if size == arg.size => reading,
        None if name.is_none() && matches!(arg.size, 1 | 2 | 4 | 8) => Reading::Unsigned,
        _ => Reading::Bytes,
    }
}

fn read(bytes: &[u8], reading: Reading) -> Arg {
    let bits = || bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    value(reading, bytes.len(), bits).unwrap_or_else(|| Arg::Bytes(bytes.into()))
}

/// The value of `size` bytes with these bits; `None` if only its bytes are known.
fn value(reading: Reading, size: usize, bits: impl Fn() -> u64) -> Option<Arg> {
    let unused = 64 - 8 * size.min(8) as u32;
    Some(match (reading, size) {
        (Reading::Signed, 1..=8) => Arg::integer(((bits() << unused) as i64 >> unused).into()),
        (Reading::Unsigned, 1..=8) => Arg::integer(bits().into()),
        (Reading::Pointer, 8) => Arg::Hex(Hex(bits())),
        (Reading::Float, 2) => Arg::single(half(bits() as u16)),
        (Reading::Float, 4) => Arg::single(f32::from_bits(bits() as u32)),
        (Reading::Float, 8) => Arg::Float(f64::from_bits(bits())),
        (Reading::Brain, 2) => Arg::single(f32::from_bits((bits() as u32) << 16)),
        _ => return None,
    })
}

/// A half-precision number (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, f32::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(i32::from(exponent) - 25),
    };
    if sign == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(offset: u32, size: u32, kind: &'static str) -> Argument<'static> {
        Argument { offset, size, kind: kind.into(), ..Argument::default() }
    }

    fn code(args: Vec<Argument<'static>>) -> KernelCode<'static> {
        KernelCode { args: Some(args), ..KernelCode::default() }
    }

    fn values(places: &[(u32, u32)], demangled: Option<&str>, bytes: &[u8]) -> (Vec<Arg>, u64) {
        let mut code =
            code(places.iter().map(|(offset, size)| argument(*offset, *size, "by_value")).collect());
        Arguments::of(&mut code, demangled).unwrap().read(bytes)
    }

    #[test]
    fn values_are_read_by_the_types_of_the_name() {
        let places = [(0, 4), (4, 4), (8, 8), (16, 2), (18, 2), (20, 1), (24, 8), (32, 12), (44, 4)];
        let name = "k(float, int, long, __half, __hip_bfloat16, bool, float*, uint3, Mode)";
        let mut bytes = Vec::new();
        bytes.extend(0.1_f32.to_le_bytes());
        bytes.extend((-5_i32).to_le_bytes());
        bytes.extend((-1_i64 << 60).to_le_bytes());
        bytes.extend([0x00, 0x3c, 0x80, 0xbf, 1, 0, 0, 0]);
        bytes.extend(0x7f00_u64.to_le_bytes());
        bytes.extend([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0]);
        let triple = Arg::Bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0].into());
        let mode = Arg::Bytes([7, 0, 0, 0].into());
        let numbers =
            [Arg::Float(0.1), Arg::Integer(-5), Arg::Hex(Hex(0xf << 60)), Arg::Float(1.0), Arg::Float(-1.0)];
        let others = [Arg::Integer(1), Arg::Hex(Hex(0x7f00)), triple, mode];
        let expected: Vec<Arg> = numbers.into_iter().chain(others).collect();
        assert_eq!(values(&places, Some(name), &bytes), (expected, 0));
    }

    #[test]
    fn without_fitting_types_a_value_is_an_unsigned_number_or_bytes() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 1, 2, 3];
        let plain = (vec![Arg::Integer(0xffff_ffff), Arg::Bytes([1, 2, 3].into())], 0);
        let places = [(0, 4), (4, 3)];
        for name in [None, Some("k(int)"), Some("k(double, Three)"), Some("k(int, int, int)"), Some("k")] {
            assert_eq!(values(&places, name, &bytes), plain, "{name:?}");
        }
        assert_eq!(values(&places, Some("k(int, Three)"), &bytes).0[0], Arg::Integer(-1));
    }

    #[test]
    fn cut_arguments_are_counted_and_unrecorded_ones_are_not() {
        let places = [(0, 4), (4, 4), (8, 8)];
        assert_eq!(values(&places, None, &[1, 0, 0, 0, 2, 0, 0]), (vec![Arg::Integer(1)], 2));
        assert_eq!(values(&places, None, &[]), (vec![], 0));
        assert_eq!(values(&[], None, &[]), (vec![], 0));
        assert_eq!(values(&[(u32::MAX, u32::MAX)], None, &[1]), (vec![], 1));
    }

    #[test]
    fn the_code_objects_own_types_come_first() {
        let typed = |kind, name: &'static str, value_type: &'static str| Argument {
            name: Some(name.into()),
            value_type: Some(value_type.into()),
            ..argument(0, 8, kind)
        };
        let mut code = code(vec![
            typed("by_value", "AddressA", "u64"),
            typed("by_value", "SizeA", "u64"),
            typed("global_buffer", "a", "f32"),
        ]);
        let arguments = Arguments::of(&mut code, Some("k(double, double, double)")).unwrap();
        let (values, _) = arguments.read(&7_u64.to_le_bytes());
        assert_eq!(values, [Arg::Hex(Hex(7)), Arg::Integer(7), Arg::Hex(Hex(7))]);
        assert!(code.args.unwrap().iter().all(|arg| arg.type_name.is_none()));
    }

    #[test]
    fn half_precision_numbers_are_exact() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2_f32.powi(-24)),
            (0x3555, 0.333_251_95),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c00) == f32::INFINITY && half(0xfc00) == f32::NEG_INFINITY && half(0x7e00).is_nan());
    }
}
