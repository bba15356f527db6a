//! Passes of a process that is still running.

use super::{PhaseKind, PhasesBuilder, kinds::judge, pass::Pass};
use crate::{Evidence, session::Session};

/// A pass that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recent {
    /// Number of its stream group.
    pub stream_group: usize,
    pub kind: PhaseKind,
    /// What the program calls it.
    pub label: Option<String>,
    pub evidence: Evidence,
    /// Columns of most of its GEMMs, if they are one number.
    pub columns: Option<u64>,
    /// Executed launches.
    pub launches: u64,
    /// Entry of its first launch and return of its last call, in Unix ns.
    pub begin: u64,
    pub end: u64,
}

impl Recent {
    /// The program's label, or else the kind.
    pub(crate) fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.kind.name())
    }
}

impl PhasesBuilder {
    /// Returns the passes that have ended since the last call. Processes everything that was read,
    /// in the trace's order: threads that were polled one after the other are not merged further.
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
            stream_group: pass.stream_group,
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
