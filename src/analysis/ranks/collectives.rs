//! The collectives of one process as rows, for tables.

use super::{gather::RanksBuilder, steps::period};

/// A collective of a rank. Times are Unix ns of its own host's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveRow {
    /// The function, as in RCCL's header: `ncclAllReduce`, …
    pub function: String,
    /// Its count argument, in elements; absent where it has none.
    pub count: Option<u64>,
    /// Its element type: `f32`, …; absent where it has none.
    pub datatype: Option<String>,
    /// The reduction: `sum`, …; absent where it has none.
    pub op: Option<String>,
    /// The root's or the peer's number in the communicator, from 0; absent where the function has
    /// none.
    pub root: Option<i32>,
    /// The communicator of its process, from 0 in the order of their first use.
    pub communicator: usize,
    /// A hash of the communicator's unique id, the number of its ranks, and this one's number in
    /// it; absent where its creation is not in the trace.
    pub group: Option<(String, u32, u32)>,
    /// Its number in its communicator, from 0.
    pub sequence: usize,
    /// The step and the place in it, from 1 and 0; absent before the first, and without a period.
    pub step: Option<(usize, usize)>,
    /// When the host entered the call.
    pub begin: u64,
    /// When the call returned; 0: it had not when the process died.
    pub returned: u64,
    /// When the host's wait for it ended; 0 if unknown.
    pub done: u64,
    /// Begin and end on the GPU; 0 where that was not recorded.
    pub gpu: (u64, u64),
}

impl RanksBuilder {
    /// Returns the collectives of every rank that was read, communicator by communicator.
    pub fn collectives(&self) -> Vec<CollectiveRow> {
        let mut rows = Vec::new();
        for (communicator, of) in self.ranks.iter().flat_map(|rank| rank.communicators.iter().enumerate()) {
            let sequence: Vec<usize> = of.calls.iter().map(|call| call.signature).collect();
            let period = period(&sequence);
            for (sequence, call) in of.calls.iter().enumerate() {
                let signature = self.signatures.get(call.signature);
                let since =
                    period.and_then(|period| Some((sequence.checked_sub(period.skipped)?, period.length)));
                rows.push(CollectiveRow {
                    function: signature.function.clone(),
                    count: signature.count,
                    datatype: signature.datatype.clone(),
                    op: signature.op.clone(),
                    root: signature.root,
                    communicator,
                    group: of.created.map(|by| (by.group.to_string(), by.members, by.member)),
                    sequence,
                    step: since.map(|(since, length)| (since / length + 1, since % length)),
                    begin: call.enter,
                    returned: call.returned,
                    done: call.done,
                    gpu: call.gpu,
                });
            }
        }
        rows
    }

    /// Of a reading of one process: its number in the job, the number of ranks, and the call that
    /// it was in when it died; `None` where it is no rank.
    pub fn only_rank(&self) -> Option<(Option<u32>, Option<u32>, Option<String>)> {
        let rank = self.ranks.first()?;
        let in_flight = rank.in_flight.first().map(|call| call.function.clone());
        Some((rank.known_number(), rank.world, in_flight))
    }
}
