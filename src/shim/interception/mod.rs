//! Interception points beside the exported symbols (`dlsym`, HIP's dispatch table), the objects
//! that bypass them, and the functions of `include/rocshim.h` that make no event.
//!
//! `prctl` and `syscall` are interposed for their effect on the shim itself.
//!
//! Layers, lowest first: `c_library`, `c_api`; `bypass`, `dlsym`, `prctl`, `dispatch_table`.

mod bypass;
mod c_api;
mod c_library;
mod dispatch_table;
mod dlsym;
mod prctl;
