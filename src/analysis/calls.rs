//! The counts of a kind of library call: calls, failures, host time, kernels launched inside.

use super::{
    evidence::{
        Evidence,
        rules::{Class, Rule, RuleRow, premises},
    },
    host_times::{HostTimes, HostTimesBuilder},
    kernels::{Inside, inside},
    nesting::Contents,
    session::{ProcessId, Session},
    table::Cell,
};
use rocshim_trace::Call;
use serde::Serialize;

/// The counts of one kind of call, while they are added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    calls: u64,
    failed: u64,
    times: HostTimesBuilder,
    /// Calls that succeeded although no launch was seen inside.
    silent: u64,
    trials: u64,
    inside: Contents,
}

/// The counts of one kind of call, as part of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallCounts {
    /// Calls, failed ones among them.
    pub calls: u64,
    /// Calls that returned an error or were left by an exception.
    pub failed: u64,
    /// Calls that were trials: made while MIOpen searched for the fastest solver.
    pub trials: u64,
    /// Host time of all calls.
    pub total_ns: u64,
    /// That of the first call in each process, and median, p99 and maximum of the later ones that
    /// did not fail.
    #[serde(flatten)]
    pub times: HostTimes,
    /// Kernels launched inside these calls, on the same thread, at any depth.
    pub kernels: Vec<Inside>,
    /// Whether those kernels are all of them.
    pub evidence: Evidence,
    /// Why the evidence is not *confirmed*.
    pub why: Option<String>,
}

/// What is known of the launches inside calls of one kind.
#[derive(Clone, Copy)]
struct InsideFacts {
    /// Calls of a kind that launches, which succeeded and in which no launch was seen.
    silent: u64,
    /// Events were lost, or calls not recorded.
    has_gap: bool,
}

const INSIDE: Rule<InsideFacts> = Rule {
    says: "these kernels are all that the calls launched",
    class: Class::Confirmed,
    premises: premises! {
        "nothing was lost, and recording was never stopped" Observed |facts: &InsideFacts| Some(!facts.has_gap);
        "each call that succeeded has a launch inside, if it is of a kind that launches" Observed
            |facts: &InsideFacts| Some(facts.silent == 0);
    },
};

/// Returns the module's rules, for `rocshim help evidence`.
pub(crate) fn rules() -> Vec<RuleRow> {
    vec![INSIDE.row("kernels inside a call")]
}

impl CallCounts {
    pub(crate) fn kernels_cell(&self) -> Cell {
        let kernel = |row: &Inside| (row.launches + row.captured, row.kernel.clone(), row.demangled.clone());
        Cell::Kernels(self.kernels.iter().map(kernel).collect())
    }
}

impl Calls {
    /// Counts a call of `process` that contained `inside`.
    pub(crate) fn count(&mut self, process: ProcessId, call: &Call, inside: &Contents) {
        let failed = call.status != 0 || call.unwound;
        self.calls += 1;
        self.failed += u64::from(failed);
        self.times.add(process, call.dur, !failed);
        self.silent += u64::from(!failed && inside.kernels.is_empty());
        self.inside.add(inside);
    }

    /// Counts calls that were trials; they are counted as calls already.
    pub(crate) fn count_trials(&mut self, trials: u64) {
        self.trials += trials;
    }

    /// What the kinds are ranked by: host time without first calls, then with them.
    pub(crate) fn weight(&self) -> (u64, u64) {
        (self.times.later_ns(), self.times.total_ns())
    }

    /// Returns the number of calls that were not trials.
    pub(crate) fn no_trials(&self) -> u64 {
        self.calls - self.trials
    }

    /// Returns the kinds of GEMMs made inside, by index, with their calls.
    pub(crate) fn products(&self) -> &[(usize, u64)] {
        &self.inside.products
    }

    /// Returns the counts as part of a row. `launches`: such a call is expected to launch kernels.
    pub(crate) fn row(&self, session: &Session, launches: bool, gap: Option<&str>) -> CallCounts {
        let facts = InsideFacts { silent: if launches { self.silent } else { 0 }, has_gap: gap.is_some() };
        let (evidence, why) = match (INSIDE.evidence(&facts), gap) {
            (Some(evidence), _) => (evidence, None),
            (None, Some(gap)) => (Evidence::Limited, Some(gap.to_string())),
            (None, None) => (Evidence::Unresolved, Some(self.silence())),
        };
        CallCounts {
            calls: self.calls,
            failed: self.failed,
            trials: self.trials,
            total_ns: self.times.total_ns(),
            times: self.times.finish(),
            kernels: inside(session, &self.inside.kernels),
            evidence,
            why,
        }
    }

    fn silence(&self) -> String {
        let which = if self.silent == self.calls {
            String::new()
        } else {
            format!(" of {} of the {} calls", self.silent, self.calls)
        };
        format!(
            "no launch was seen inside{which}: it was a query, or the library launched from another thread or \
             through a function that is not hooked"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::nesting::Launches;
    use super::*;
    use crate::evidence::made::CONFIRMED;
    use crate::interner::Id;

    #[test]
    fn a_call_without_launches_is_unresolved_unless_it_failed_or_never_launches() {
        let mut session = Session::default();
        let kernel = session.intern_symbol("k".into(), None);
        let launches = Launches { launches: 2, trials: 1, ..Launches::default() };
        let with = Contents { kernels: vec![(kernel, launches)], ..Contents::default() };
        let mut calls = Calls::default();
        calls.count(ProcessId::at(0), &Call { dur: 5, ..Call::default() }, &with);
        calls.count(ProcessId::at(0), &Call { dur: 7, status: 3, ..Call::default() }, &Contents::default());
        let row = calls.row(&session, true, None);
        assert_eq!((row.calls, row.failed, row.total_ns, row.evidence), (2, 1, 12, CONFIRMED));
        let launched = Inside {
            kernel: "k".into(),
            demangled: None,
            launches: 2,
            failed: 0,
            trials: 1,
            captured: 0,
            tensile: None,
        };
        assert_eq!(row.kernels, [launched]);

        calls.count(ProcessId::at(0), &Call::default(), &Contents::default());
        let row = calls.row(&session, true, None);
        assert_eq!(row.evidence, Evidence::Unresolved);
        assert!(row.why.unwrap().starts_with("no launch was seen inside of 1 of the 3 calls: "));
        assert_eq!(calls.row(&session, true, Some("9 events were lost")).evidence, Evidence::Limited);
        assert_eq!(calls.row(&session, false, None).evidence, CONFIRMED);
    }

    #[test]
    fn the_kernels_inside_are_all_only_where_nothing_is_missing() {
        let whole = InsideFacts { silent: 0, has_gap: false };
        let not_met = [InsideFacts { silent: 1, ..whole }, InsideFacts { has_gap: true, ..whole }];
        crate::evidence::rules::check(&INSIDE, &whole, &not_met, &[]);
    }
}
