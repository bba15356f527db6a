//! What each kind of call records: converts a row's arguments to an event or a definition.

pub(crate) mod code;
pub(crate) mod conv;
pub(crate) mod copy;
mod descriptors;
pub(crate) mod device;
pub(crate) mod gemm;
pub(crate) mod gemm_solutions;
pub(crate) mod graph;
pub(crate) mod graph_change;
pub(crate) mod handle;
pub(crate) mod launch;
pub(crate) mod launch_lists;
pub(crate) mod library;
pub(crate) mod lt;
pub(crate) mod lt_descriptors;
pub(crate) mod mark;
pub(crate) mod named;
pub(crate) mod problem;
pub(crate) mod proc_address;
pub(crate) mod solution;
pub(crate) mod sync;
pub(crate) mod tracer;
