//! Finding the real functions behind the hooks, and what the exported functions lead to: a hook's body or the real function.
//!
//! Layers, lowest first: `trampolines`; `real`; `binding`.

pub(crate) mod binding;
pub(crate) mod real;
pub(crate) mod trampolines;
