//! The options of `ranks`.

use super::Forms;
use clap::Args;
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
A rank is a process that calls RCCL, or that a launcher numbers (RANK, OMPI_COMM_WORLD_RANK, \
PMIX_RANK, PMI_RANK, SLURM_PROCID). Its communicators are matched with those of other ranks by \
the unique id of ncclCommInitRank, else by the order of their use; their collectives are aligned \
by their order. A step is the period in that order.

Times in and before collectives come from the GPU (traces with --gpu-time), else from the host: \
from the call to the end of the wait for its stream. `rocshim help fleet` has the rules.

--json prints one object: format (1), expected, findings, ranks, groups, clocks, around (medians \
before, in and after each collective of a step), steps (with --steps), notes. Times are ns.

Example:  srun rocshim run -o traces -- python3 train.py; rocshim ranks traces";

/// The options of `ranks`.
#[derive(Args)]
pub(crate) struct Ranks {
    /// Trace files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// List every step of every rank too
    #[arg(long)]
    pub(crate) steps: bool,
    #[command(flatten)]
    pub(crate) forms: Forms,
}
