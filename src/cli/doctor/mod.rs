//! Checks what will and what will not be seen, as a list of findings; starts and changes nothing.

mod gpu;
mod libraries;
mod machine;
mod ollama;
mod probe;
mod process;
mod program;
mod shim;
mod surroundings;

pub(crate) use machine::{any_program, machine};
pub(crate) use probe::probe;
pub(crate) use process::{process, why};
pub(crate) use program::program;
pub(crate) use shim::shim;

use std::path::PathBuf;

/// Facts about the shim.
pub(crate) struct Shim {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The libraries of which it hooks functions, without versions, in the order of its table.
    pub(crate) libraries: Vec<String>,
    /// The newest glibc that it needs.
    pub(crate) glibc: Option<crate::launch::Glibc>,
}
