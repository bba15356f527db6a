//! Deserialises one JSON value of a server's response: keeps numbers and short texts, and skips
//! everything else.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::{fmt, marker::PhantomData};

/// Limit of the kept characters of a text.
const TEXT: usize = 300;

/// A value of which a number, a flag or the beginning of a text is kept.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Cell {
    #[default]
    Absent,
    /// A non-negative integer.
    Whole(u64),
    /// Any other number.
    Number(f64),
    Flag(bool),
    Text(String),
    /// A list or an object.
    Other,
}

/// A member that should be an object, or what it is instead.
#[derive(Default)]
pub(super) enum Part<T> {
    #[default]
    Absent,
    Text(String),
    Other,
    Object(T),
}

impl<T> Part<T> {
    pub(super) fn object(&self) -> Option<&T> {
        if let Part::Object(object) = self { Some(object) } else { None }
    }
}

impl Cell {
    pub(super) fn is_absent(&self) -> bool {
        *self == Cell::Absent
    }

    pub(super) fn is(&self, flag: bool) -> bool {
        *self == Cell::Flag(flag)
    }

    pub(super) fn flag(&self) -> Option<bool> {
        if let Cell::Flag(flag) = self { Some(*flag) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Cell::Text(text) = self { Some(text) } else { None }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Absent => f.write_str("absent"),
            Cell::Whole(number) => number.fmt(f),
            Cell::Number(number) => number.fmt(f),
            Cell::Flag(flag) => flag.fmt(f),
            Cell::Text(text) => write!(f, "\"{}\"", text.chars().take(40).collect::<String>().escape_debug()),
            Cell::Other => f.write_str("a list or an object"),
        }
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Cell, E> {
        Ok(Cell::Whole(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Cell, E> {
        Ok(u64::try_from(number).map_or(Cell::Number(number as f64), Cell::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Cell, E> {
        Ok(Cell::Number(number))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Cell, E> {
        Ok(Cell::Flag(flag))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cell, E> {
        Ok(Cell::Text(beginning(text)))
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Cell, A::Error> {
        IgnoredAny.visit_seq(list).map(|_| Cell::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Cell, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Cell::Other)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cell, D::Error> {
        from.deserialize_any(CellVisitor)
    }
}

struct PartVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PartVisitor<T> {
    type Value = Part<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E>(self, _number: u64) -> Result<Part<T>, E> {
        Ok(Part::Other)
    }

    fn visit_i64<E>(self, _number: i64) -> Result<Part<T>, E> {
        Ok(Part::Other)
    }

    fn visit_f64<E>(self, _number: f64) -> Result<Part<T>, E> {
        Ok(Part::Other)
    }

    fn visit_bool<E>(self, _flag: bool) -> Result<Part<T>, E> {
        Ok(Part::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Part<T>, E> {
        Ok(Part::Text(beginning(text)))
    }

    fn visit_unit<E>(self) -> Result<Part<T>, E> {
        Ok(Part::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Part<T>, A::Error> {
        IgnoredAny.visit_seq(list).map(|_| Part::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Part<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Part::Object)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Part<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Part<T>, D::Error> {
        from.deserialize_any(PartVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_value_only_what_a_count_or_a_name_can_be_is_kept() {
        let long = "x".repeat(1000);
        let list = format!(r#"[7,null,-1,1.5,true,[1,[2]],{{"a":1}},"{long}"]"#);
        let cells: Vec<Cell> = serde_json::from_str(&list).unwrap();
        let expected = [
            Cell::Whole(7),
            Cell::Absent,
            Cell::Number(-1.0),
            Cell::Number(1.5),
            Cell::Flag(true),
            Cell::Other,
            Cell::Other,
        ];
        assert_eq!(cells[..7], expected);
        assert_eq!(cells[7].text().map(str::len), Some(TEXT));
        assert_eq!(cells[7].to_string().len(), 42, "40 in quotes");
    }
}
