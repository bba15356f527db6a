//! Opens the traces that `tail` and `top` follow while they are written, and reads the counters of
//! their collectors.

use crate::launch;
use anyhow::Result;
use rocshim_analysis::{Collector, Live};
use rocshim_reader::Follower;
use std::{collections::BTreeMap, path::PathBuf};

/// Returns a follower of the named traces or, without names, of the default folder; and its
/// description.
pub(crate) fn follow(named: &[PathBuf]) -> Result<(Vec<PathBuf>, Follower)> {
    let traces = match named {
        [] => vec![launch::chosen_folder(None)?],
        traces => traces.to_vec(),
    };
    let follower = Follower::new(&traces)?;
    Ok((traces, follower))
}

/// The collectors of running processes, by trace.
#[derive(Default)]
pub(super) struct Collectors(BTreeMap<usize, Option<rocshim_drain::live::Live>>);

impl Collectors {
    /// Reads the counters of the processes on this machine, without waking their collectors.
    pub(super) fn ask(&mut self, live: &Live) -> BTreeMap<usize, Collector> {
        let mut answers = BTreeMap::new();
        let running: Vec<_> = live.running().collect();
        self.0.retain(|trace, _| running.iter().any(|(number, _)| number == trace));
        for (trace, header) in running {
            let is_it = |found: &rocshim_drain::live::Live| found.header.epoch == header.epoch;
            let found = || rocshim_drain::live::Live::find(header.pid).ok().filter(is_it);
            let Some(process) = self.0.entry(trace).or_insert_with(found) else { continue };
            let Some(account) = process.account() else { continue };
            let full = |ring: &rocshim_drain::live::RingState| ring.filled as f64 / ring.slots.max(1) as f64;
            let rings = process.rings().unwrap_or_default();
            let fullest_ring = rings.iter().map(full).fold(0.0, f64::max);
            answers.insert(trace, Collector { busy_ns: account.collector_ns, fullest_ring });
        }
        answers
    }
}
