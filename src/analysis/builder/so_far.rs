//! A summary before the end.

use super::SummaryBuilder;
use crate::Summary;
use rocshim_reader::End;

impl SummaryBuilder {
    /// All tables of what was taken so far, of a process that goes on.
    pub(crate) fn so_far(&self) -> Summary {
        let mut builder = self.clone();
        builder.end_process(End::Running, Vec::new());
        builder.finish()
    }
}
