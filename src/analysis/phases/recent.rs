//! Passes of a process that still runs.

use super::{Kind, PhasesBuilder, kinds::judge, pass::Pass};
use crate::{Evidence, session::Session};

/// A pass that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recent {
    /// The lane, by number.
    pub lane: usize,
    pub kind: Kind,
    /// What the program calls it.
    pub label: Option<String>,
    pub evidence: Evidence,
    /// The columns that most of its products have, where that is one number.
    pub columns: Option<u64>,
    /// Launches that were executed in it.
    pub launches: u64,
    /// When its first launch was entered and its last call returned, in Unix ns.
    pub begin: u64,
    pub end: u64,
}

impl Recent {
    /// What the program calls it, or else what it is taken for.
    pub(crate) fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.kind.name())
    }
}

impl PhasesBuilder {
    /// Takes the passes that have ended since this was called last. Everything that was read is looked at,
    /// in its order in the trace: threads that were polled one after the other are merged no further.
    pub(crate) fn recent(&mut self, session: &Session) -> Vec<Recent> {
        if let Some(mut process) = self.process.take() {
            self.look_at_events(session, &mut process, true);
            self.process = Some(process);
        }
        let passes = std::mem::take(&mut self.passes);
        self.taken += passes.len();
        passes.into_iter().map(|pass| self.judged(&pass)).collect()
    }

    fn judged(&mut self, pass: &Pass) -> Recent {
        let label = pass.label.map(|label| self.names.labels.get(label));
        let by_time = label.is_some_and(|(_, by_time)| *by_time);
        let label = label.map(|(name, _)| name.clone());
        let known = &self.processes[pass.process];
        let (kind, evidence, _) = judge(pass, known.trains, known.is_language_model, by_time);
        let kernels = &self.contents.get(pass.content).kernels;
        Recent {
            lane: pass.lane,
            kind,
            label,
            evidence,
            columns: pass.columns.filter(|range| range.least == range.most).map(|range| range.most),
            launches: kernels.iter().map(|(_, launches)| launches.all()).sum(),
            begin: pass.begin,
            end: pass.end,
        }
    }
}
