//! The decoder from ring slots and definitions to trace lines, and the recovery of a dead process's
//! rings.
//!
//! The collector inside the traced process and the command outside it share this crate, so a trace
//! reads the same whether its process wrote it or died first.
//!
//! Layers, lowest first: `values` (names of the vendors' constants), `code_object` (format and
//! kernel metadata of an image), `parameters` (parameter types from a kernel's name), `arguments`
//! (argument bytes to values), `history` (the meanings of a handle over time), `kernels` (handle →
//! kernel → code object), `settings` (settings of BLAS handles), `ids` (ids of streams and
//! kernels), `library_files` (the file of an image in memory), `captures` (stream → capture),
//! `graphs` (instantiated graph → contents), `solutions` (MIOpen's handles), `elf_identity`
//! (identity of a library file), `records`, `blas`, `hip` (event payloads to records), `hook_rows`
//! (the hook table), `decoder` (definitions and events to lines), `stat` (`/proc/PID/stat`),
//! `frames` (compressed lines), `recover` (rings of dead processes), `live` (processes that are
//! recording).
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
mod hook_rows;
mod ids;
mod kernels;
mod library_files;
pub mod live;
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
pub use recover::{
    Leftover, Remains, Stale, deleted, header_of, is_running, leftover, recover, stale, unbegun,
};
pub use rocshim_ring::failure;
pub use stat::Stat;
pub use values::{CONV_ACTIONS, CONV_DIRECTIONS};
