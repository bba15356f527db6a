//! Reads the catalogs that ROCm libraries install: the kernels that a library could choose from.
//!
//! The files are foreign: every reader is bounded by the file's length, and returns what is damaged
//! or missing instead of failing. What a trace means is decided in `analysis`, not here.
//!
//! It also names functions in executables and libraries, for chains of callers.
//!
//! Layers, lowest first: `symbols` (functions and lines at addresses); `msgpack` (values),
//! `product` (a GEMM in Tensile's terms), `predicate` (conditions on it), `solutions` (a solution
//! file with its table of sizes), `tensile` (the catalog of a target), `folder` (both on disk),
//! `miopen` (MIOpen's find database); `testing` (small catalogs, for tests).

#![forbid(unsafe_code)]

mod folder;
mod miopen;
mod msgpack;
mod predicate;
mod product;
mod solutions;
mod symbols;
mod tensile;
#[doc(hidden)]
pub mod testing;

pub use folder::{Folder, Stamp, Unread, has_content, stamp};
pub use miopen::{FindDatabase, FoundSolver};
pub use product::Product;
pub use solutions::{Chosen, Counted, Solutions};
pub use symbols::{Function, functions, has_text};
pub use tensile::{Catalog, Entry, Reached};
