//! The interception points beside the exported symbols: what a program can get a function's address from (`dlsym`, HIP's
//! dispatch table), and what bypasses them; and the functions of `include/rocshim.h` that make no event.
//!
//! Layers, lowest first: `c_library`, `c_api`; `bypass`, `dlsym`, `prctl`, `dispatch_table`.

mod bypass;
mod c_api;
mod c_library;
mod dispatch_table;
mod dlsym;
mod prctl;
