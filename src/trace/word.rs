//! The words of records: what a vendor's number means (`f16_r`, `h2d`, `standard`), or the number itself.

/// A word; up to 23 bytes of it, which all of ours are, lie in place: making, copying and comparing one allocates nothing.
pub type Word = smol_str::SmolStr;
