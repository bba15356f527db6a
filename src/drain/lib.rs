//! From ring slots to trace lines: names, code objects, values, and what a dead process left.
//!
//! The collector inside the traced process and the command outside it use this one crate, so that a trace reads the
//! same whether its process wrote it or died first.
//!
//! Layers, lowest first: `values` (the vendors' numbers as words), `code_object` (what an image is and says of its
//! kernels), `parameters` (types, from a kernel's name), `arguments` (what a launch passes), `history` (what a handle
//! meant, by time), `names` (handle → kernel → code object), `settings` (what BLAS handles were set to), `ids` (what streams and kernels are called), `library_files`
//! (which file an image is), `captures` (stream → capture), `graphs` (instantiated graph → what it does), `solutions`
//! (what MIOpen's handles stand for), `elf_identity` (what a library's file says), `records`, `blas`, `hip` (what they hold as the trace's records), `decoder`
//! (definitions and events to lines), `stat` (a process as the system tells of it), `frames` (compressed lines), `recover` (the ring
//! files of the dead), `live` (processes that record now).
#![forbid(unsafe_code)]

mod arguments;
mod blas;
mod captures;
mod code_object;
mod decoder;
mod elf_identity;
mod frames;
mod graphs;
mod hip;
mod history;
mod ids;
mod library_files;
pub mod live;
mod names;
mod parameters;
mod records;
mod recover;
mod settings;
mod solutions;
mod stat;
mod values;

pub use code_object::{FileSource, Image, Metadata, Source, describe, fits, length, metadata};
pub use decoder::Decoder;
pub use frames::{Frames, Growing, is_compressed, lines_of};
pub use parameters::demangle;
pub use recover::{Leftover, Remains, Stale, header_of, is_running, leftover, recover, stale, unbegun};
pub use stat::Stat;
pub use values::{CONV_ACTIONS, CONV_DIRECTIONS};
