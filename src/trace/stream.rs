//! How an event refers to its stream.

use serde::{Deserialize, Serialize};

/// The stream of a call: in a line, the id of a [`crate::Stream`], and 0 for the default stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub enum StreamRef {
    /// The default stream (NULL): absent from a line, or 0.
    #[default]
    Default,
    /// The [`crate::Stream`] with this id.
    Id(u32),
}

impl StreamRef {
    /// True for the default stream.
    pub fn is_default(&self) -> bool {
        *self == StreamRef::Default
    }
}

impl From<u32> for StreamRef {
    fn from(id: u32) -> StreamRef {
        if id == 0 { StreamRef::Default } else { StreamRef::Id(id) }
    }
}

impl From<StreamRef> for u32 {
    fn from(stream: StreamRef) -> u32 {
        match stream {
            StreamRef::Default => 0,
            StreamRef::Id(id) => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_from_its_id() {
        for (json, stream) in [("0", StreamRef::Default), ("7", StreamRef::Id(7))] {
            assert_eq!(serde_json::from_str::<StreamRef>(json).unwrap(), stream);
            assert_eq!(serde_json::to_string(&stream).unwrap(), json);
        }
        for wrong in ["-1", "4294967296", r#""0x7f""#, "null", "[1]"] {
            assert!(serde_json::from_str::<StreamRef>(wrong).is_err(), "{wrong}");
        }
    }
}
