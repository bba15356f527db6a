//! The sections of the summary: each takes the summary and gives its text, or nothing where there
//! is nothing to show.

mod calls;
mod columns;
pub(super) mod compared;
mod coverage;
mod fallback;
mod families;
mod gemms;
mod gpu;
mod gpu_shares;
mod graphs;
mod kernels;
mod processes;
mod spans;
mod streams;
mod sweeps;
mod threads;
mod troubles;

pub(crate) use calls::{convolutions, modules};
pub use calls::{offered, problem as conv_problem, solver};
pub(crate) use columns::columns;
pub(crate) use coverage::{code_objects, libraries};
pub use coverage::{place, targets};
pub(crate) use fallback::fallback;
pub(crate) use families::families;
pub(crate) use gemms::gemms;
pub use gemms::{asked, types};
pub(crate) use gpu::{gpu, past, seen};
pub(crate) use gpu_shares::{products, queues, shares};
pub(crate) use graphs::{copies, graphs, syncs};
pub(crate) use kernels::{kernels, label, missing_gpu_times};
pub(crate) use processes::processes;
pub(crate) use spans::spans;
pub(crate) use streams::streams;
pub(crate) use sweeps::sweeps;
pub(crate) use threads::{gaps, threads};
pub(crate) use troubles::{failures, in_flight, losses};

use super::section::section;
