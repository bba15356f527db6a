//! The process being read: its events in order of time, its stream groups, and what its graphs
//! execute.

use crate::reorder::ReorderBuffer;

use super::{
    Waiting, executed::Graphs, gpu::Reports, labels::Ranges, pass::Last, stream_groups::StreamGroups,
};

/// The process being read.
#[derive(Default)]
pub(super) struct CurrentProcess {
    pub(super) number: usize,
    /// Epoch in Unix ns.
    pub(super) epoch: u64,
    pub(super) graphs: Graphs,
    pub(super) events: ReorderBuffer<Waiting>,
    pub(super) stream_groups: StreamGroups,
    pub(super) ranges: Ranges,
    pub(super) reports: Reports,
    /// True when it launches PyTorch's kernels: the role of a launch then follows from thread and
    /// name.
    pub(super) is_torch: bool,
    /// Last pass of each stream group.
    pub(super) last: Vec<Option<Last>>,
}
