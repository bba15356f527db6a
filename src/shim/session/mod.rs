//! A recorded process: its identity, the paths of its files, the state of its collector, and the
//! rings, definitions and registries that its threads record into.
//!
//! Layers, lowest first: `identity`, `collector_state`, `quiesce`; `paths`; `process`.

pub(crate) mod collector_state;
pub(crate) mod identity;
pub(crate) mod paths;
pub(crate) mod process;
pub(crate) mod quiesce;
