//! A null GPU: a device that retires every packet of the real ROCm runtime, computes nothing, and
//! logs what it was given.
//!
//! ROCr 7.2 can put a software model in the place of the kernel driver (`HSA_MODEL_LIB`). This
//! library is such a model, and the runtime's tool (`HSA_TOOLS_LIB`) that gives the model a clock
//! and calm. With both, unmodified ROCm programs run on a machine without a GPU: memory is real,
//! copies and fills are done, kernels are retired unread. The log ([`log`]), written only by the
//! device, has all dispatches: traces are compared with it.
//!
//! | variable | meaning |
//! |---|---|
//! | `NULL_GPU_LOG` | file that the log is appended to; without it none is written |
//! | `NULL_GPU_KERNEL_NS` | how long a kernel occupies its queue, in nanoseconds; 0 without it |
//! | `NULL_GPU_POLL_US` | longest sleep of an idle queue between two looks, in microseconds; 500 without it |
//!
//! Layers, lowest first; each uses only those above it in this list.

mod clock;
mod log;
mod memory;

mod signal;

mod kernel_name;
mod queue;

mod builtin;
mod sdma;

mod aql;

mod calm;
mod device;

mod interface;
mod tool;
