//! The process whose file is read: what it has defined, its events in time, and its lanes.

use super::{definitions::Local, in_time::InTime, labels::Ranges, lanes::Lanes, pass::Last};
use rocshim_trace::Header;

/// A process whose file is read.
pub(super) struct Process {
    pub(super) header: Header,
    pub(super) number: usize,
    pub(super) epoch: u64,
    pub(super) local: Local,
    pub(super) events: InTime,
    pub(super) lanes: Lanes,
    pub(super) ranges: Ranges,
    /// It launches kernels of PyTorch's: what its launches are for is told by thread and name.
    pub(super) is_torch: bool,
    /// The last pass of each lane.
    pub(super) last: Vec<Option<Last>>,
}
