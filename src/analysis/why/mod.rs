//! Explains each distinct decision of a trace by a chain of causes, from what was requested to what
//! decided, each link with its evidence class, and states what would change it.
//!
//! A decision is which library, solution or kernel family served a GEMM, a convolution or a ggml
//! product. Records are gathered in one pass; the library's alternatives come from catalogs that
//! the caller has read (`rocshim_catalog`), so nothing here opens a file.
//!
//! Layers, lowest first: `environment` (variables that steer a decision), `rows` (the result),
//! `callers` (who launched a kernel first), `catalogs` (what was read), `seen` (what was requested
//! and launched), `matmuls` (those of hipBLASLt), `gather` (records to that), `rules` (statements
//! with their premises), `backend` (rocBLAS or hipBLASLt), `tensile`, `hipblaslt`, `miopen`, `ggml`
//! (one library's chain each), `explain`.

mod backend;
mod callers;
mod catalogs;
mod environment;
mod explain;
mod gather;
mod ggml;
mod hipblaslt;
mod matmuls;
mod miopen;
mod rows;
mod rules;
mod seen;
mod tensile;
#[cfg(test)]
mod tests;

pub use callers::{BinaryFile, Functions};
pub use catalogs::{CatalogFolder, FoundProblem, LibraryText, OnDisk, Wanted, WantedProblem};
pub use environment::{STEERING_VARIABLES, VariableRow, variables};

pub use gather::WhyBuilder;
pub use rows::{
    CALLERS, CallChain, CallerRow, Change, DECISIONS, Decision, FirstCall, FirstLaunch, LINKS, Link,
    SET_VARIABLES, Subject, Why,
};
pub(crate) use rules::rules;
