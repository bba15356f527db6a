//! Starts a program under the shim: the shim's file, the output folder, the program's file, the
//! child process.

mod bounded;
mod child;
mod choice;
mod elf;
mod folder;
mod program;
mod recorded;
mod shim;
mod version;

pub(crate) use bounded::{Bounded, run_bounded};
pub(crate) use child::{Ending, run_child};
pub(crate) use choice::Choice;
pub(crate) use elf::{Elf, Exports, Glibc};
pub(crate) use folder::{check_folder, chosen_folder, chosen_path, prepare_folder};
pub(crate) use program::{PreflightWarning, Program, executed_file, find_program, preflight_warnings};
pub(crate) use recorded::{NotStarted, Recorded, Recording};
pub(crate) use shim::{find_shim, hooks_of, preload_value, unexported_of, variables_of};
pub(crate) use version::version;
