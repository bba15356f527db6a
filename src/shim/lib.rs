//! librocshim.so: an LD_PRELOAD interposition library that records a program's calls of ROCm.
//!
//! Layers, lowest first; a module uses only those above it in this list:
//! - `platform`: signals, thread-local words, fork, memory, scheduling, loaded objects; `abi`: C
//!   types of the ROCm libraries;
//! - `table`: a row of the hook table, the configuration variables;
//! - `symbols`: finding real functions, binding the exported functions to them;
//! - `state`: kernels, graphs, BLAS handles, descriptors, MIOpen problems;
//! - `session`: the recorded process: identity, paths, rings, definitions;
//! - `collector`: the thread that drains the rings and writes the trace;
//! - `lifecycle`: load, first call, fork, exit;
//! - `hook`: the macros that declare hooks, the functions that intercept a call, the slow path;
//! - `calls`: what each kind of call records; `hooks`: the rows, one file per library;
//! - `interception`: the interception points beside the exported symbols; the C API.
//!
//! Invariants (each has a test of its name under `tests/`):
//! 1. The real function is called exactly once with the caller's arguments; its result and `errno`
//!    are untouched.
//! 2. A process that calls no hooked function starts no thread, opens no file, prints nothing.
//! 3. After its first event a thread never waits, allocates, faults or enters the kernel to record
//!    another.
//! 4. Every event is written, or counted as lost at its place with a reason.
//! 5. The shim never records its own work, and no call twice.
//! 6. After `fork` the child writes its own trace; the parent's trace is unharmed.
//! 7. A trace file holds complete lines at every instant; what was recorded before a SIGKILL can be
//!    recovered.

#[macro_use]
mod table;
#[macro_use]
mod hook;

mod abi;
mod calls;
mod collector;
mod hooks;
mod interception;
mod lifecycle;
mod platform;
mod session;
mod state;
mod symbols;
