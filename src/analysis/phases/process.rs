//! The process that is read: its events in time, its lanes, and what its graphs execute.

use crate::reorder::ReorderBuffer;

use super::{Waiting, executed::Graphs, gpu::Reports, labels::Ranges, lanes::Lanes, pass::Last};

/// The process that is read.
#[derive(Default)]
pub(super) struct Process {
    pub(super) number: usize,
    /// In Unix ns.
    pub(super) epoch: u64,
    pub(super) graphs: Graphs,
    pub(super) events: ReorderBuffer<Waiting>,
    pub(super) lanes: Lanes,
    pub(super) ranges: Ranges,
    pub(super) reports: Reports,
    /// It launches kernels of PyTorch's: the role of a launch follows from thread and name.
    pub(super) is_torch: bool,
    /// The last pass of each lane.
    pub(super) last: Vec<Option<Last>>,
}
