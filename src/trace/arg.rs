//! The value of a kernel argument, as JSON writes and reads it.

use crate::Hex;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Integers beyond this lose digits in JSON readers that store numbers as doubles.
const LARGEST: i64 = 1 << 53;

/// The value of a kernel argument, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// An integer: a JSON number. Beyond ±2^53 it is [`Arg::Hex`].
    Integer(i64),
    /// A floating-point number: a JSON number with a point or an exponent if finite; else `inf`,
    /// `-inf`, `nan`.
    Float(f64),
    /// A pointer, or any 64 bits: `0x7f3a`.
    Hex(Hex),
    /// A value without a simpler type, byte for byte: two hex digits per byte.
    Bytes(Box<[u8]>),
}

impl Arg {
    /// The integer, or its 64 bits if it is too large for a JSON number.
    pub fn integer(value: i128) -> Arg {
        match i64::try_from(value) {
            Ok(value) if (-LARGEST..=LARGEST).contains(&value) => Arg::Integer(value),
            _ => Arg::Hex(Hex(value as u64)),
        }
    }

    /// The shortest decimal number that reads back as this `f32`.
    pub fn single(value: f32) -> Arg {
        let exact = f64::from(value);
        // Without a fraction, both types have the same digits.
        let is_simple = value.fract() == 0.0 && value.abs() < 1e7 || !value.is_finite();
        Arg::Float(if is_simple { exact } else { value.to_string().parse().unwrap_or(exact) })
    }
}

/// The word for a number that JSON cannot represent.
pub(crate) fn word_of(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some("nan"),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

/// Bytes displayed as hex digits.
struct Digits<'a>(&'a [u8]);

impl std::fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Arg {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Arg::Integer(value) => to.serialize_i64(*value),
            Arg::Float(value) => match word_of(*value) {
                Some(word) => to.serialize_str(word),
                None => to.serialize_f64(*value),
            },
            Arg::Hex(value) => value.serialize(to),
            Arg::Bytes(bytes) => to.collect_str(&Digits(bytes)),
        }
    }
}

/// Parses the text form: `0x…`, a word, or bytes in hex; `None` for anything else.
pub fn arg_of_text(text: &str) -> Option<Arg> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|value| Arg::Hex(Hex(value)));
    }
    match text {
        "nan" => return Some(Arg::Float(f64::NAN)),
        "inf" => return Some(Arg::Float(f64::INFINITY)),
        "-inf" => return Some(Arg::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    let digit = |digit: u8| (digit as char).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    text.as_bytes().chunks(2).map(byte).collect::<Option<Box<[u8]>>>().map(Arg::Bytes)
}

impl<'de> Deserialize<'de> for Arg {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Value;
        impl Visitor<'_> for Value {
            type Value = Arg;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number or a string")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Arg, E> {
                Ok(Arg::integer(value.into()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Arg, E> {
                Ok(Arg::integer(value.into()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Arg, E> {
                Ok(Arg::Float(value))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Arg, E> {
                arg_of_text(text).ok_or_else(|| E::custom(format_args!("{text} is not an argument value")))
            }
        }
        from.deserialize_any(Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(arg: &Arg) -> String {
        serde_json::to_string(arg).unwrap()
    }

    #[test]
    fn each_kind_of_value_is_written_and_read_back() {
        for (arg, json) in [
            (Arg::Integer(-7), "-7"),
            (Arg::integer(1 << 53), "9007199254740992"),
            (Arg::integer((1 << 53) + 1), r#""0x20000000000001""#),
            (Arg::integer(-1 << 62), r#""0xc000000000000000""#),
            (Arg::integer(u64::MAX.into()), r#""0xffffffffffffffff""#),
            (Arg::single(0.1), "0.1"),
            (Arg::single(1e-5), "0.00001"),
            (Arg::single(3.0), "3.0"),
            (Arg::single(f32::MAX), "3.4028235e+38"),
            (Arg::single(f32::NEG_INFINITY), r#""-inf""#),
            (Arg::Float(1e300), "1e+300"),
            (Arg::Hex(Hex(0)), r#""0x0""#),
            (Arg::Bytes([0, 0x1f, 0xff].into()), r#""001fff""#),
            (Arg::Bytes([].into()), r#""""#),
        ] {
            assert_eq!(text(&arg), json);
            assert_eq!(serde_json::from_str::<Arg>(json).unwrap(), arg, "{json}");
        }
        assert!(matches!(serde_json::from_str(r#""nan""#).unwrap(), Arg::Float(value) if value.is_nan()));
    }

    #[test]
    fn other_json_is_rejected() {
        for json in
            ["null", "true", "[1]", r#""0x""#, r#""0xg""#, r#""abc""#, r#""zz""#, r#""0x10000000000000000""#]
        {
            assert!(serde_json::from_str::<Arg>(json).is_err(), "{json}");
        }
    }
}
