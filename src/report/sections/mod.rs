//! The sections of the summary: each takes the summary and returns its text, or nothing where there
//! is nothing to show.

mod calls;
pub(super) mod compared;
mod coverage;
mod fallback;
mod gemms;
mod gpu;
mod gpu_shares;
mod kernels;
mod lists;
mod processes;
mod ranks;
mod spans;

pub(crate) use super::label::label;
pub(crate) use calls::convolutions;
pub(crate) use coverage::{code_objects, libraries};
pub(crate) use fallback::fallback;
pub(crate) use gemms::gemms;
pub use gpu::gpu_remarks;
pub(crate) use gpu::{gpu, past, seen};
pub(crate) use gpu_shares::{clock_error, products, queues, shares, transfers};
pub use kernels::MISSING_GPU_TIMES;
pub(crate) use kernels::{kernels, missing_gpu_times};
pub(crate) use lists::{
    columns, copies, failures, families, gaps, graphs, in_flight, losses, modules, streams, sweeps, syncs,
    threads,
};
pub(crate) use processes::processes;
pub(crate) use ranks::{ranks, sentence as ranks_sentence};
pub(crate) use spans::spans;
