//! How an event refers to its stream.

use crate::Hex;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The stream of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamRef {
    /// The default one (NULL): absent from a line, or 0.
    #[default]
    Default,
    /// The [`crate::Stream`] with this id.
    Id(u32),
    /// The one with this handle: so format 1 has it.
    Handle(Hex),
}

impl StreamRef {
    /// True for the default one.
    pub fn is_default(&self) -> bool {
        *self == StreamRef::Default
    }
}

impl From<u32> for StreamRef {
    fn from(id: u32) -> StreamRef {
        if id == 0 { StreamRef::Default } else { StreamRef::Id(id) }
    }
}

impl From<Hex> for StreamRef {
    fn from(handle: Hex) -> StreamRef {
        if handle.is_zero() { StreamRef::Default } else { StreamRef::Handle(handle) }
    }
}

impl Serialize for StreamRef {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            StreamRef::Default => to.serialize_u32(0),
            StreamRef::Id(id) => to.serialize_u32(*id),
            StreamRef::Handle(handle) => handle.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for StreamRef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Value;
        impl Visitor<'_> for Value {
            type Value = StreamRef;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a stream's id or handle")
            }

            fn visit_u64<E: Error>(self, id: u64) -> Result<StreamRef, E> {
                u32::try_from(id).map(StreamRef::from).map_err(E::custom)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<StreamRef, E> {
                Hex::deserialize(serde::de::value::StrDeserializer::new(text)).map(StreamRef::from)
            }
        }
        from.deserialize_any(Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_from_its_id_and_from_its_handle() {
        for (json, stream) in [
            ("0", StreamRef::Default),
            ("7", StreamRef::Id(7)),
            (r#""0x0""#, StreamRef::Default),
            (r#""0x7f00""#, StreamRef::Handle(Hex(0x7f00))),
        ] {
            assert_eq!(serde_json::from_str::<StreamRef>(json).unwrap(), stream);
            let again = serde_json::to_string(&stream).unwrap();
            assert_eq!(serde_json::from_str::<StreamRef>(&again).unwrap(), stream);
        }
        for wrong in ["-1", "4294967296", r#""7f""#, "null", "[1]"] {
            assert!(serde_json::from_str::<StreamRef>(wrong).is_err(), "{wrong}");
        }
    }
}
