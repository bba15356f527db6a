//! The sections of a comparison, and what they share: columns for each run, and who has a row.

mod calls;
mod kernels;
mod others;
mod runs;

pub(crate) use calls::{convolutions, gemms};
pub(crate) use kernels::{families, gpu, kernels};
pub(crate) use others::{code_objects, functions};
pub(crate) use runs::{conditions, ranks, runs};

use super::label;
use crate::table::Style;
use rocshim_analysis::{Comparison, Evidence, Presence};
use std::collections::HashMap;

/// The labels of all runs.
fn labels(all: &Comparison) -> Vec<&str> {
    all.runs.iter().map(|run| run.run.as_str()).collect()
}

/// The name of each kernel on this page; the names are distinct.
struct KernelLabels<'a>(HashMap<&'a str, String>);

impl<'a> KernelLabels<'a> {
    fn of(all: &'a Comparison, style: &Style) -> KernelLabels<'a> {
        let names: Vec<_> =
            all.kernels.iter().map(|row| (row.name.as_str(), row.demangled.as_deref())).collect();
        let labels = crate::label::labels(&names, style);
        KernelLabels(names.into_iter().map(|(name, _)| name).zip(labels).collect())
    }

    fn get(&self, name: &str, style: &Style) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| label(name, None, style))
    }
}

/// Returns the heading above the rows that the same runs have. `presences` are those of all runs
/// but the baseline; `both` is said of rows that all have.
fn standing(labels: &[&str], has: &[bool], presences: &[&Presence], both: &str) -> String {
    let with = |wanted: bool| {
        labels.iter().zip(has).filter(move |(_, has)| **has == wanted).map(|(label, _)| *label)
    };
    if has.iter().all(|has| *has) {
        return if labels.len() == 2 { format!("in both{both}") } else { format!("in all{both}") };
    }
    let only = if with(true).count() == 1 { "ONLY IN" } else { "IN" };
    let absent = with(false).map(|label| {
        let run = labels.iter().position(|known| *known == label).unwrap_or(0);
        // What the baseline lacks is in the rows of the runs that have it.
        let of_baseline =
            || presences.iter().zip(&has[1..]).find(|(_, has)| **has).map(|(presence, _)| *presence);
        let absence = if run == 0 { of_baseline() } else { presences.get(run - 1).copied() };
        absence.map_or_else(String::new, |absence| {
            format!("not in {label}, {}", evidence(absence.evidence, absence.why.as_deref()))
        })
    });
    format!("{only} {}; {}", with(true).collect::<Vec<_>>().join(", "), absent.collect::<Vec<_>>().join("; "))
}

/// `limited (9 events were lost)`.
pub(super) fn evidence(evidence: Evidence, why: Option<&str>) -> String {
    why.map_or_else(|| evidence.to_string(), |why| format!("{evidence} ({why})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::Seen;
    use rocshim_analysis::testing::{CONFIRMED, CONFIRMED_ABSENT};

    #[test]
    fn a_heading_says_who_has_the_rows_and_how_sure_it_is_that_others_have_not() {
        let absence =
            |seen, evidence, why: Option<&str>| Presence { seen, evidence, why: why.map(str::to_owned) };
        let both = absence(Seen::Both, CONFIRMED, None);
        let gone = absence(Seen::Gone, CONFIRMED_ABSENT, None);
        let new = absence(Seen::New, Evidence::Limited, Some("9 events were lost"));
        assert_eq!(standing(&["A", "B"], &[true, true], &[&both], ", alike"), "in both, alike");
        assert_eq!(
            standing(&["A", "B"], &[true, false], &[&gone], ""),
            "ONLY IN A; not in B, confirmed absent"
        );
        assert_eq!(
            standing(&["A", "B"], &[false, true], &[&new], ""),
            "ONLY IN B; not in A, limited (9 events were lost)"
        );
        assert_eq!(
            standing(&["A", "B", "C"], &[true, false, true], &[&gone, &both], ""),
            "IN A, C; not in B, confirmed absent"
        );
    }
}
