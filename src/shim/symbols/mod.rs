//! Real functions behind the hooks: how they are found, and what the exported functions are bound
//! to.
//!
//! Layers, lowest first: `builtin`; `real`; `binding`.

pub(crate) mod binding;
pub(crate) mod builtin;
pub(crate) mod real;
