//! 64-bit handles and pointers, written as hex strings because many JSON readers round integers
//! above 2^53.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A handle, pointer or other 64-bit value: `"0x7f3a"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hex(pub u64);

impl Hex {
    /// True for NULL; such fields are omitted from a line.
    pub fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(from)?;
        let digits =
            text.strip_prefix("0x").ok_or_else(|| D::Error::custom("a handle must start with 0x"))?;
        u64::from_str_radix(digits, 16).map(Hex).map_err(D::Error::custom)
    }
}
