//! Determines the visibility gaps of a reading: the reasons why there may be more launches and
//! calls than were counted.

use super::SummaryBuilder;
use crate::summary::{Totals, VisibilityGaps};

impl SummaryBuilder {
    /// Returns the gaps, when everything was read.
    pub(super) fn visibility_gaps(&self, totals: &Totals) -> VisibilityGaps {
        let some = |number: u64, what: &str| (number > 0).then(|| format!("{number} {what}"));
        let graphs = totals.unlisted_graph_launches;
        let unlisted = (graphs > 0).then(|| format!("the kernels of {graphs} graph launches are not known"));
        let doubt = some(totals.launches_in_doubt, "captured calls may have launched");
        let open = unlisted.or(doubt).or_else(|| self.coverage.open_way("libamdhip64.so"));
        let unnamed = some(totals.unnamed_launches, "launches are of kernels whose names are not known");
        let unplaced =
            some(totals.unplaced_launches, "launches are of kernels whose code object is not known");
        let calls = self.lost(totals);
        VisibilityGaps {
            launches: calls.clone().or(unnamed).or_else(|| open.clone()),
            origins: calls.clone().or(unplaced).or(open),
            calls,
        }
    }

    fn lost(&self, totals: &Totals) -> Option<String> {
        let cut = self.processes.iter().filter(|row| row.end == "cut").count();
        match (totals.lost, cut) {
            (0, 0) if self.partial > 0 => Some("not all parts of a trace were read".to_string()),
            (0, 0) => self.unrecorded.clone(),
            (0, 1) => Some("a trace has no end".to_string()),
            (0, cut) => Some(format!("{cut} traces have no end")),
            (lost, _) => Some(format!("{lost} events were lost")),
        }
    }
}
