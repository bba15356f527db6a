//! Verdicts on whether a function or library was called, with the evidence.
//!
//! That a library was called is confirmed by an intercepted call, or by a launch of a kernel of its
//! code objects. That it was not is confirmed if no process loaded it; or if nothing can have been
//! missed, and all its functions are hooked. Otherwise it is limited (a program without a handle
//! may still query a version), and unresolved if a called function could not be found.

use super::evidence::Evidence;
use super::evidence::rules::{Class, Rule, RuleRow, premises};
use super::{table::Cell, units::count};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A hooked function, over all processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FunctionRow {
    /// The symbol.
    pub function: String,
    /// Its ROCm library, without version.
    pub library: String,
    /// The interception points, each with the calls through it.
    pub points: BTreeMap<String, u64>,
    /// `armed` (never called), `bound` (called, and the real function was found), `unbound` (not
    /// found) or `off` (excluded).
    pub state: String,
    /// The files that hold the real function.
    pub bound_to: BTreeSet<String>,
    /// Why it is unbound or off.
    pub why: BTreeSet<String>,
    /// Calls seen.
    pub calls: u64,
    /// Those of them that made no events.
    #[serde(skip)]
    pub(super) silent: u64,
    /// Processes in which it was called, but how often is not known (they were killed, still run,
    /// or were not recording for a while).
    pub uncounted: u64,
    /// Processes that looked it up (`dlsym`) and left no count of its calls: whether it was called
    /// is unknown.
    pub looked_up: u64,
}

crate::table! {
    /// The hooked functions.
    FUNCTIONS: FunctionRow = "functions", "Hooked functions", "a hooked function, over all processes";
    |row|
    count("calls", "calls", "calls seen; with + where there may have been more, ? where not counted")
        => Cell::Shown(row.calls_in_words(), row.calls);
    words("state", "state", "armed (never called), bound, unbound (real function not found) or off")
        => &row.state;
    words("points", "point", "the interception points that calls came through") => row.points_in_words();
    words("library", "library", "its ROCm library").on_page() => &row.library;
    words("why", "remark", "why it is unbound or off").on_page()
        => row.why.iter().cloned().collect::<Vec<_>>().join("; ");
    code("function", "function", "the symbol").name() => &row.function;
}

impl FunctionRow {
    /// The interception point that the calls came through; all of them with their calls where there
    /// are several.
    fn points_in_words(&self) -> String {
        let used: Vec<_> = self.points.iter().filter(|(_, calls)| **calls > 0).collect();
        match used.as_slice() {
            [] => "preload".into(),
            [(point, _)] => point.to_string(),
            several => {
                let words = several.iter().map(|(point, calls)| format!("{point} {}", count(**calls)));
                words.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// `12`; `12+` where some process did not count its calls, or not all of them; `?` where none
    /// did.
    fn calls_in_words(&self) -> String {
        match (self.calls, self.uncounted) {
            (0, _) if self.uncounted + self.looked_up > 0 => "?".into(),
            (calls, 0) => count(calls),
            (calls, _) => format!("{}+", count(calls)),
        }
    }

    /// It was called, whether or not the calls were counted.
    pub(super) fn was_called(&self) -> bool {
        self.calls > 0 || self.uncounted > 0
    }
}

/// Number of processes in which a library could have been called, and of those in which that could
/// have been missed.
#[derive(Clone, Default)]
pub(super) struct Circumstances {
    /// All that hooked it.
    pub(super) processes: u64,
    /// Those that had it loaded.
    pub(super) loaded_in: u64,
    /// Those of which events were lost.
    pub(super) lossy: u64,
    /// Those that still run.
    pub(super) running: u64,
    /// Why calls may be missing in those that had it loaded, though they are not counted as lost.
    pub(super) unrecorded: Option<String>,
    /// How a call could have passed the hooks by, in those that had it loaded.
    pub(super) open_way: Option<String>,
    /// Launches of kernels of its code objects.
    pub(super) launches: u64,
    /// Functions of its interface that its file exports, and how many of them are hooked, where it
    /// was read.
    pub(super) exported: Option<(u64, u64)>,
    /// Its files that could not be read.
    pub(super) unread: u64,
    /// Whether the functions that make its handles, without which it does nothing, are hooked and
    /// were not called; `None` where they are not known or not hooked.
    pub(super) without_handle: Option<bool>,
}

/// Facts for the rules: a library's hooked functions and their circumstances.
#[derive(Clone, Default)]
struct Facts {
    called: u64,
    looked_up: u64,
    unbound: Vec<String>,
    functions: u64,
    stats: Circumstances,
}

/// The functions that make what all functions of a library need that do work, and the library that
/// has them. rocSOLVER works on rocBLAS's handles. Not here: libraries that have functions which
/// need no handle.
pub(super) const HANDLES: &[(&str, &str, &[&str])] = &[
    ("librocblas.so", "librocblas.so", &["rocblas_create_handle"]),
    ("librocsolver.so", "librocblas.so", &["rocblas_create_handle"]),
    ("libhipblas.so", "libhipblas.so", &["hipblasCreate"]),
];

const CALLED: Rule<Facts> = Rule {
    says: "the library was called",
    class: Class::Confirmed,
    premises: premises! {
        "a hooked function of it was entered, and the real one was found" Observed
            |facts: &Facts| Some(facts.called > facts.unbound.len() as u64);
    },
};

const LAUNCHED: Rule<Facts> = Rule {
    says: "the library was called, by functions that are not hooked",
    class: Class::Confirmed,
    premises: premises! {
        "kernels of its own code objects were launched" Observed |facts: &Facts| Some(facts.stats.launches > 0);
    },
};

const NOT_LOADED: Rule<Facts> = Rule {
    says: "the library was not called: no process had it",
    class: Class::ConfirmedAbsent,
    premises: premises! {
        "no function of it was entered" Observed |facts: &Facts| Some(facts.called == 0);
        "no file of that name was loaded in any process" Observed |facts: &Facts| Some(facts.stats.loaded_in == 0);
    },
};

const NOT_CALLED: Rule<Facts> = Rule {
    says: "the library was loaded and did nothing",
    class: Class::ConfirmedAbsent,
    premises: premises! {
        "no function of it was entered" Observed |facts: &Facts| Some(facts.called == 0);
        "no kernel of its code objects was launched" Observed |facts: &Facts| Some(facts.stats.launches == 0);
        "no event was lost" Observed |facts: &Facts| Some(facts.stats.lossy == 0);
        "recording was never stopped, and every event that the threads counted was read" Observed
            |facts: &Facts| Some(facts.stats.unrecorded.is_none());
        "no caller could pass the hooks by" Observed |facts: &Facts| Some(facts.stats.open_way.is_none());
        "the calls of every function that was looked up were counted" Observed
            |facts: &Facts| if facts.looked_up == 0 { Some(true) } else { None };
        "all functions of its interface that its file exports are hooked" Observed
            |facts: &Facts| facts.stats.exported.map(|(all, hooked)| hooked >= all);
    },
};

/// What is known of a library in one phase of a process that called it.
#[derive(Clone, Copy, Default)]
pub(super) struct PhaseFacts {
    /// Calls whose work was done in the phase.
    pub(super) calls: u64,
    /// Launches of kernels of its code objects.
    pub(super) launches: u64,
    /// Events that were lost, and nodes of graphs that are not listed, in the phase.
    pub(super) unknown: u64,
    /// Functions of it that make no events were called, or may have been.
    pub(super) silent: bool,
    /// A call of it can have been missed in the process.
    pub(super) missed: bool,
}

const CALLED_THEN: Rule<PhaseFacts> = Rule {
    says: "the library was called in the phase",
    class: Class::Confirmed,
    premises: premises! {
        "a call of it, or a kernel of its code objects, is an event of the phase" Observed
            |facts: &PhaseFacts| Some(facts.calls + facts.launches > 0);
    },
};

const NOT_CALLED_THEN: Rule<PhaseFacts> = Rule {
    says: "the library was called in the process, and not in the phase",
    class: Class::ConfirmedAbsent,
    premises: premises! {
        "no call of it, and no kernel of its code objects, is an event of the phase" Observed
            |facts: &PhaseFacts| Some(facts.calls + facts.launches == 0);
        "no event of the phase was lost, and its graphs list their kernels" Observed
            |facts: &PhaseFacts| Some(facts.unknown == 0);
        "the functions of it that were called make events" Observed |facts: &PhaseFacts| Some(!facts.silent);
        "all functions of its interface are hooked, and no call could pass the hooks by" Observed
            |facts: &PhaseFacts| Some(!facts.missed);
    },
};

/// The class of "called" or "not called" in a phase; `in_process` is that of the process.
pub(super) fn judge_phase(in_process: Evidence, facts: PhaseFacts) -> Evidence {
    let called = CALLED_THEN.evidence(&facts);
    called.unwrap_or_else(|| match in_process {
        Evidence::Confirmed(_) => NOT_CALLED_THEN.evidence(&facts).unwrap_or(Evidence::Limited),
        other => other,
    })
}

/// As they are listed.
pub(crate) fn rules() -> Vec<RuleRow> {
    let of_process = [CALLED, LAUNCHED, NOT_LOADED, NOT_CALLED];
    let of_phase = [CALLED_THEN, NOT_CALLED_THEN];
    let rows = of_process.iter().map(|rule| rule.row("library"));
    rows.chain(of_phase.iter().map(|rule| rule.row("library in a phase"))).collect()
}

/// The class of "called" or "not called", with its reason.
pub(super) fn judge(functions: &[&FunctionRow], stats: &Circumstances) -> (Evidence, String) {
    let unbound =
        functions.iter().filter(|row| row.state == "unbound").map(|row| row.function.clone()).collect();
    let called = functions.iter().filter(|row| row.was_called()).count() as u64;
    let looked_up = functions.iter().filter(|row| row.looked_up > 0 && !row.was_called()).count() as u64;
    let facts = Facts { called, looked_up, unbound, functions: functions.len() as u64, stats: stats.clone() };
    facts.judge(functions.iter().filter(|row| row.state == "off").count())
}

impl Circumstances {
    /// Whether a call can have been missed: something was lost or not recorded, the hooks could be
    /// bypassed, or not all functions are known to be hooked.
    pub(super) fn may_miss(&self) -> bool {
        let all_hooked = self.exported.is_some_and(|(all, hooked)| hooked >= all);
        self.lossy > 0 || self.unrecorded.is_some() || self.open_way.is_some() || !all_hooked
    }
}

impl Facts {
    fn judge(&self, off: usize) -> (Evidence, String) {
        let stats = &self.stats;
        if let Some(evidence) = CALLED.evidence(self) {
            return (evidence, self.called_in_words(off));
        }
        if let Some(evidence) = LAUNCHED.evidence(self) {
            let why = format!(
                "{} launches of kernels of its code objects, by functions that are not hooked",
                stats.launches
            );
            return (evidence, why);
        }
        if !self.unbound.is_empty() {
            let why = format!("called, but the real one was not found: {}", self.unbound.join(", "));
            return (Evidence::Unresolved, why);
        }
        let so_far = if stats.running > 0 { " so far" } else { "" };
        if let Some(evidence) = NOT_LOADED.evidence(self) {
            let why = format!("not loaded in {}{so_far}", processes(stats.processes));
            return (evidence, why);
        }
        let loaded = format!("loaded in {}, no call seen{so_far}", of(stats.loaded_in, stats.processes));
        if let Some(evidence) = NOT_CALLED.evidence(self) {
            return (evidence, loaded);
        }
        (Evidence::Limited, format!("{loaded}; {}", self.doubt()))
    }

    fn called_in_words(&self, off: usize) -> String {
        let mut why = format!("{} of {} hooked functions called", self.called, self.functions);
        if !self.unbound.is_empty() {
            why.push_str(&format!("; the real one was not found of {}", self.unbound.join(", ")));
        }
        if off != 0 {
            why.push_str(&format!("; {off} are left out by ROCSHIM_RECORD"));
        }
        if let Some(unrecorded) = &self.stats.unrecorded {
            why.push_str(&format!("; {unrecorded}"));
        }
        why
    }

    /// Why it is not certain that a loaded library was not called.
    fn doubt(&self) -> String {
        let stats = &self.stats;
        if stats.lossy > 0 {
            return "lost events may have been calls of it".into();
        }
        if let Some(why) = stats.unrecorded.as_ref().or(stats.open_way.as_ref()) {
            return why.clone();
        }
        if self.looked_up > 0 {
            return format!(
                "{} of its functions were looked up, and nothing counted their calls to the end",
                self.looked_up
            );
        }
        let hooked = match stats.exported {
            Some((all, hooked)) => format!("{hooked} of its {all} functions are hooked"),
            None => format!("{} of its functions are hooked, not all", self.functions),
        };
        let handle = "; no handle was made, without which it computes nothing";
        format!("{hooked}{}", if stats.without_handle == Some(true) { handle } else { "" })
    }
}

fn processes(number: u64) -> String {
    if number == 1 { "the process".into() } else { format!("any of the {number} processes") }
}

fn of(some: u64, all: u64) -> String {
    match (some, all) {
        (1, 1) => "the process".into(),
        (some, all) if some == all => format!("all {all} processes"),
        (some, all) => format!("{some} of {all} processes"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::rules::check;
    use super::*;
    use crate::evidence::made::{CONFIRMED, CONFIRMED_ABSENT};

    /// Of a library that was loaded and not called, as far as the rules can know.
    fn idle() -> Facts {
        let stats = Circumstances {
            processes: 1,
            loaded_in: 1,
            exported: Some((10, 10)),
            ..Circumstances::default()
        };
        Facts { functions: 10, stats, ..Facts::default() }
    }

    fn with(change: impl Fn(&mut Facts)) -> Facts {
        let mut facts = idle();
        change(&mut facts);
        facts
    }

    #[test]
    fn each_rule_shows_its_three_answers() {
        let called = with(|facts| facts.called = 1);
        check(
            &CALLED,
            &called,
            &[idle(), with(|facts| (facts.called, facts.unbound) = (1, vec!["f".into()]))],
            &[],
        );
        let launched = with(|facts| facts.stats.launches = 1);
        check(&LAUNCHED, &launched, &[idle()], &[]);
        let not_loaded = with(|facts| facts.stats.loaded_in = 0);
        check(&NOT_LOADED, &not_loaded, &[idle(), called.clone()], &[]);
        let doubts = [
            called,
            launched,
            with(|facts| facts.stats.lossy = 1),
            with(|facts| facts.stats.unrecorded = Some("stopped".into())),
            with(|facts| facts.stats.open_way = Some("a tunnel".into())),
            with(|facts| facts.stats.exported = Some((11, 10))),
        ];
        let unknown = [with(|facts| facts.stats.exported = None), with(|facts| facts.looked_up = 3)];
        check(&NOT_CALLED, &idle(), &doubts, &unknown);
    }

    #[test]
    fn the_rules_of_a_phase_show_their_answers() {
        let quiet = PhaseFacts::default();
        let called = PhaseFacts { calls: 1, ..quiet };
        check(&CALLED_THEN, &called, &[quiet], &[]);
        let doubts = [
            called,
            PhaseFacts { unknown: 1, ..quiet },
            PhaseFacts { silent: true, ..quiet },
            PhaseFacts { missed: true, ..quiet },
        ];
        check(&NOT_CALLED_THEN, &quiet, &doubts, &[]);
        assert_eq!(judge_phase(CONFIRMED, doubts[3]), Evidence::Limited);
        assert_eq!(judge_phase(CONFIRMED, quiet), CONFIRMED_ABSENT);
        assert_eq!(judge_phase(Evidence::Unresolved, quiet), Evidence::Unresolved);
        assert!(Circumstances::default().may_miss(), "its functions are not known");
        assert!(!idle().stats.may_miss());
    }

    #[test]
    fn doubts_are_reported_in_words() {
        let found = |facts: &Facts| facts.judge(0);
        assert_eq!(found(&idle()).0, CONFIRMED_ABSENT);
        let some = with(|facts| facts.stats.exported = Some((40, 10)));
        assert_eq!(
            found(&some),
            (
                Evidence::Limited,
                "loaded in the process, no call seen; 10 of its 40 functions are hooked".into()
            )
        );
        let launched = with(|facts| facts.stats.launches = 406);
        assert_eq!(
            found(&launched),
            (
                CONFIRMED,
                "406 launches of kernels of its code objects, by functions that are not hooked".into()
            )
        );
        let looked_up = with(|facts| facts.looked_up = 44);
        assert_eq!(found(&looked_up).0, Evidence::Limited);
    }
}
