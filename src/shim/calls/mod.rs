//! What each kind of call tells: the arguments of a row, turned into an event or a definition.

pub(crate) mod code;
pub(crate) mod conv;
pub(crate) mod gemm;
pub(crate) mod launch;
pub(crate) mod proc_address;
