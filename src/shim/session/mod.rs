//! One recorded process: who it is, where its files go, who writes its trace, and the rings, definitions and state that its
//! threads record into.
//!
//! Layers, lowest first: `identity`, `collector_state`, `rest`; `paths`; `process`.

pub(crate) mod collector_state;
pub(crate) mod identity;
pub(crate) mod paths;
pub(crate) mod process;
pub(crate) mod rest;
