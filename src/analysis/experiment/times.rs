//! The effect of a change on times: the same measure of every run, with the change and without.

use super::{CONFIRMED_CHANCE, Order};
use crate::{
    Evidence,
    evidence::rules::{Class, Rule, RuleRow, premises},
};
use serde::{Deserialize, Serialize};

/// A measured time of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// `wall`, `launch calls`, `GPU`.
    pub name: String,
    /// The time.
    pub ns: u64,
}

/// A measure over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeRow {
    /// The name of the measure: [`Measure::name`].
    pub name: String,
    /// The runs without the change.
    pub without: Spread,
    /// The runs with the change.
    pub with: Spread,
    /// The median with the change as a multiple of that without.
    pub ratio: f64,
    /// `confirmed` or `inferred` that they differ; `unresolved` where the runs overlap.
    pub evidence: Evidence,
    /// The rule.
    pub why: &'static str,
}

crate::table! {
    /// Times with a change and without.
    TIMES: TimeRow = "times", "Times (medians)", "a measure over all runs";
    |row|
    words("name", "time of a run", "the measure: wall, launch calls, GPU") => &row.name;
    time("without.median_ns", "without", "median without the change").no_sum() => row.without.median_ns;
    time("with.median_ns", "with", "median with the change").no_sum() => row.with.median_ns;
    words("ratio", "ratio", "the second as a multiple of the first").right()
        => format!("{:.2}x", row.ratio);
    evidence("evidence", "differs", "how certain it is that they differ") => row.evidence;
    sentence("why", "why", "the rule") => row.why;
}

/// The least, the middle and the most of some runs, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The shortest.
    pub least_ns: u64,
    /// The median.
    pub median_ns: u64,
    /// The longest.
    pub most_ns: u64,
}

/// What is known of a measure over all runs.
#[derive(Clone, Copy)]
struct Facts {
    are_apart: bool,
    /// The probability that the order of the runs alone shows the same.
    chance: f64,
}

const LONGER: Rule<Facts> = Rule {
    says: "a time differs with the change",
    class: Class::Confirmed,
    premises: premises! {
        "every run with the change is on one side of every run without" Observed |facts: &Facts| Some(facts.are_apart);
        "the runs came in random order, and by chance this would be so in at most 1 of 1000 orders" Observed
            |facts: &Facts| Some(facts.chance <= CONFIRMED_CHANCE);
    },
};

/// Returns the module's rules, for `rocshim help evidence`.
pub(super) fn rules() -> Vec<RuleRow> {
    vec![LONGER.row("try, bisect")]
}

const APART: &str = "every run with the change is on one side of every run without";
const FEW: &str = "every run with the change is on one side of every run without, but more runs would decide";
const OVERLAP: &str = "the runs with the change and without overlap";

/// Returns a row for each measure that all runs have. `runs` come in the order in which they were
/// made.
pub fn times(runs: &[(bool, Vec<Measure>)], order: &Order) -> Vec<TimeRow> {
    let names =
        runs.first().into_iter().flat_map(|(_, measures)| measures.iter().map(|measure| &measure.name));
    names.filter_map(|name| row(runs, name, order.chance(runs.len()))).collect()
}

fn row(runs: &[(bool, Vec<Measure>)], name: &str, chance: f64) -> Option<TimeRow> {
    let mut sides = [Vec::new(), Vec::new()];
    for (changed, measures) in runs {
        let measure = measures.iter().find(|measure| measure.name == name)?;
        sides[usize::from(*changed)].push(measure.ns);
    }
    let [without, with] = sides.map(spread);
    let (without, with) = (without?, with?);
    let are_apart = without.most_ns < with.least_ns || with.most_ns < without.least_ns;
    let facts = Facts { are_apart, chance };
    let (evidence, why) = match (LONGER.evidence(&facts), are_apart) {
        (Some(evidence), _) => (evidence, APART),
        (None, true) => (Evidence::Inferred, FEW),
        (None, false) => (Evidence::Unresolved, OVERLAP),
    };
    let ratio = with.median_ns as f64 / without.median_ns.max(1) as f64;
    Some(TimeRow { name: name.into(), without, with, ratio, evidence, why })
}

fn spread(mut times: Vec<u64>) -> Option<Spread> {
    times.sort_unstable();
    let (least_ns, most_ns) = (*times.first()?, *times.last()?);
    Some(Spread { least_ns, median_ns: times[(times.len() - 1) / 2], most_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::CONFIRMED;

    #[test]
    fn times_differ_where_no_run_overlaps() {
        let order = Order::draw(8, 3);
        let rows = |with: fn(u64) -> u64, count: usize| {
            let run = |(at, changed): (usize, &bool)| {
                let ns = if *changed { with(at as u64) } else { 100 + at as u64 };
                (*changed, vec![Measure { name: "wall".into(), ns }])
            };
            let runs: Vec<_> = order.changed.iter().take(count).enumerate().map(run).collect();
            let row = times(&runs, &order).remove(0);
            (row.evidence, row.ratio > 1.5)
        };
        assert_eq!(rows(|at| 200 + at, 16), (CONFIRMED, true));
        assert_eq!(rows(|at| 200 + at, 4), (Evidence::Inferred, true));
        assert_eq!(rows(|at| 101 + at, 16), (Evidence::Unresolved, false));
    }

    #[test]
    fn times_differ_only_where_chance_is_excluded() {
        let met = Facts { are_apart: true, chance: 0.0 };
        let not_met = [Facts { are_apart: false, ..met }, Facts { chance: 1.0, ..met }];
        crate::evidence::rules::check(&LONGER, &met, &not_met, &[]);
    }
}
