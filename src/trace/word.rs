//! The named values of records: the name of a vendor's constant (`f16_r`, `h2d`, `standard`), or
//! its number as text.

/// A named value. Up to 23 bytes are stored inline, and all of ours are shorter: creating, copying
/// and comparing one allocates nothing.
pub type Word = smol_str::SmolStr;
