//! librocshim.so: preloaded under a ROCm program, it records what the program asks of ROCm.
//!
//! Floors, lowest first:
//! - `memory`: what is left when the program has none; `quiet`: work that nothing disturbs; `forks`: what no fork falls into;
//! - `section`: tables that the command reads from the file; `sanitizers`: what their run-time libraries ask of us; `abi`: C types of the ROCm libraries; `row`: a row of the hook table and the ways in to it; `config`: the
//!   variables; `elf`, `loaded`: the libraries in the process; `thread`: what a thread knows of itself; `own`: what functions of our own lead to; `real`: the real functions in the libraries; `bound`: what the exported functions lead to, recorded or past the hook;
//! - `nodes`: what a graph holds; `graphs`: what captures and graphs are to be told of; `problems`: what MIOpen's handles stand for;
//! - `layouts`: how each function's arguments lie; `names`: what the device code is called and says of its kernels;
//! - `slots`: what is known of things by their addresses; `settings`: what BLAS handles were told to be set to; `lt_descriptors`: what hipBLASLt's descriptors hold;
//! - `about`: who the process is; `doze`: the long sleep of a collector whose program rests; `turns`: its turns on a processor; `places`: where its files go; `writer`: who writes its trace; `process`: what it records into; `sink`: a trace file; `parts`: which one is written; `pause`: how long to sleep between two looks; `collector`: the thread that drains, names, writes;
//! - `lifecycle`: load, first call, fork, exit; `ways`: which function of ours leads to a real one; `prepare`: a hook's and a thread's first call;
//! - `hook`: the macro that declares and `observe`, which wraps a call; `span`: the same for calls of which only the name is told; `calls`: what each kind of call tells;
//! - `capi`: what `include/rocshim.h` has beside rows of the table; `hooks`: the table, a row a function; `doors`: what a program can get a function's address from.
//!
//! Invariants (each has a test of its name under `tests/`):
//! 1. The real function is called exactly once with the caller's arguments; its result and `errno` are untouched.
//! 2. A process that calls no hooked function starts no thread, opens no file, prints nothing.
//! 3. After its first event a thread never waits, allocates, faults or enters the kernel to record another.
//! 4. Every event is written or counted as lost, in its place, with a reason.
//! 5. The shim never records its own work, and no call twice.
//! 6. After `fork` the child writes its own trace; the parent's is unharmed.
//! 7. A trace file holds complete lines at every instant; what was recorded before a SIGKILL can be recovered.

#[macro_use]
mod section;
#[macro_use]
mod hook;
#[macro_use]
mod span;

mod abi;
mod about;
mod bound;
mod calls;
mod capi;
mod collector;
mod config;
mod doors;
mod doze;
mod elf;
mod forks;
mod graphs;
mod hooks;
mod layouts;
mod lifecycle;
mod loaded;
mod lt_descriptors;
mod memory;
mod names;
mod nodes;
mod own;
mod parts;
mod pause;
mod places;
mod prepare;
mod problems;
mod process;
mod quiet;
mod real;
mod row;
mod sanitizers;
mod settings;
mod sink;
mod slots;
mod thread;
mod turns;
mod ways;
mod writer;
