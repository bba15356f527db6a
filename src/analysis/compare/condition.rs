//! `--fail-if`: a condition, parsed before any trace is read, and tested in each run but the
//! baseline.
//!
//! `QUANTITY OPERATOR NUMBER`, or `NUMBERx` for a multiple of the baseline's value. Relative to 0,
//! 0 is equal (1x) and anything else is infinite.

use super::{
    ComparedRun, Comparison,
    quantity::{self, Quantity},
};
use crate::evidence::observations::complete;
use crate::{Evidence, units};
use serde::Serialize;

/// A condition that must not hold.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The condition as the user wrote it.
    text: String,
    quantity: Quantity,
    operator: Operator,
    number: f64,
    /// The number is a multiple of the baseline's value.
    of_baseline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    More,
    AtLeast,
    Less,
    AtMost,
    Equal,
    Unequal,
}

/// Operators of two characters first.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">", Operator::More),
    ("<", Operator::Less),
];

/// The result of a condition in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// The condition, as it was written.
    pub condition: String,
    /// The run.
    #[serde(rename = "side")]
    pub run: String,
    /// Its value; absent when unknown.
    pub value: Option<f64>,
    /// The baseline's value, if the condition states a multiple of it.
    pub baseline: Option<f64>,
    /// The run's value divided by the baseline's; absent if that is infinite.
    pub ratio: Option<f64>,
    /// True if the condition holds: the comparison fails.
    pub holds: bool,
    /// `confirmed`, or the class of what makes it doubtful; `unresolved` where there is no value.
    pub evidence: Evidence,
    /// Why it is not confirmed.
    pub why: Option<String>,
}

crate::table! {
    /// The conditions of `--fail-if`, each for each run.
    CONDITIONS: Checked = "conditions", "Conditions: the comparison fails where one holds",
        "a condition of --fail-if and a run";
    |row|
    words("holds", "", "FAILED where it holds") => if row.holds { "FAILED" } else { "passed" };
    words("condition", "condition", "the condition, as it was written").name() => &row.condition;
    words("side", "run", "the run") => &row.run;
    words("value", "is", "what the run has; with what the baseline has, and their ratio").right()
        => row.value_in_words();
    evidence("evidence", "evidence", "how sure that is") => row.evidence;
    sentence("why", "why", "why it is not confirmed").absent("") => row.why.as_ref();
}

impl Checked {
    /// Returns the run's value: `1.12x (112, baseline 100)`.
    pub fn value_in_words(&self) -> String {
        // Quantities are counts and nanoseconds.
        let whole = |value: f64| units::count(value as u64);
        let Some(value) = self.value else { return "unknown".into() };
        match (self.baseline, self.ratio) {
            (Some(baseline), Some(ratio)) => {
                format!("{} ({}, baseline {})", units::multiple(ratio), whole(value), whole(baseline))
            }
            (Some(baseline), None) => format!("{}, baseline {}", whole(value), whole(baseline)),
            _ => whole(value),
        }
    }
}

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// What is wrong with it, and what is allowed in its place.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let (quantity, rest) = quantity::parse(text.trim())?;
        let rest = rest.trim_start();
        let operator =
            OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)));
        let Some((operator, rest)) = operator else {
            return Err(format!("after the quantity comes > >= < <= == or !=, not `{rest}`"));
        };
        let rest = rest.trim();
        let (digits, of_baseline) = rest.strip_suffix('x').map_or((rest, false), |digits| (digits, true));
        let number = digits.trim_end().parse().ok().filter(|number: &f64| number.is_finite());
        let Some(number) = number else {
            return Err(format!("`{rest}` is no number; write 0, or 1.05x for a multiple of the baseline's"));
        };
        match quantity.change().filter(|_| of_baseline) {
            Some(name) => Err(format!(
                "{name} is counted against the baseline and has no multiple of it: leave out the x"
            )),
            None => Ok(Condition { text: text.trim().to_string(), quantity, operator, number, of_baseline }),
        }
    }

    /// Tests the condition in each run but the baseline.
    pub(super) fn judge(&self, all: &Comparison, runs: &[ComparedRun]) -> Vec<Checked> {
        (1..runs.len()).map(|run| self.on(all, runs, run)).collect()
    }

    fn on(&self, all: &Comparison, runs: &[ComparedRun], run: usize) -> Checked {
        let value = self.quantity.value(all, runs, run);
        let baseline = self.quantity.value(all, runs, 0).filter(|_| self.of_baseline);
        let compared = match (value, self.of_baseline) {
            (Some(value), true) => baseline.map(|baseline| multiple(value, baseline)),
            (value, _) => value,
        };
        let against_baseline = self.of_baseline || self.quantity.change().is_some();
        let doubt = |of: usize| {
            let doubt = self.quantity.doubt(&runs[of]);
            doubt.map(|(evidence, why)| (evidence, Some(format!("{}: {why}", runs[of].label))))
        };
        let doubt = doubt(run).or_else(|| doubt(0).filter(|_| against_baseline));
        let (evidence, why) = match compared {
            None => (Evidence::Unresolved, Some("there are no calls to take it from".to_string())),
            Some(_) => doubt.unwrap_or_else(|| complete(None)),
        };
        Checked {
            condition: self.text.clone(),
            run: runs[run].label.clone(),
            value,
            baseline,
            ratio: compared.filter(|ratio| self.of_baseline && ratio.is_finite()),
            holds: compared.is_some_and(|compared| self.operator.holds(compared, self.number)),
            evidence,
            why,
        }
    }
}

fn multiple(value: f64, baseline: f64) -> f64 {
    match (value, baseline) {
        (0.0, 0.0) => 1.0,
        (value, baseline) => value / baseline,
    }
}

impl Operator {
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Operator::More => left > right,
            Operator::AtLeast => left >= right,
            Operator::Less => left < right,
            Operator::AtMost => left <= right,
            Operator::Equal => left == right,
            Operator::Unequal => left != right,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_read_in_every_form() {
        for text in [
            "new_kernels > 0",
            "launches>1.05x",
            "  total_ns >= 1.2 x",
            "kernel('mul_mat_q<*').launches != 0",
            "kernel( \"Cijk_*\" ).median_ns < 0.5x",
            "family('ggml: mmq').total_ns <= 1e6",
            "library('libhipblaslt').calls == 0",
        ] {
            Condition::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
        let condition = Condition::parse("launches>1.05x").unwrap();
        assert_eq!(
            (condition.operator, condition.number, condition.of_baseline),
            (Operator::More, 1.05, true)
        );
    }

    #[test]
    fn a_wrong_condition_is_reported_what_could_stand_there() {
        let wrong = |text| Condition::parse(text).unwrap_err();
        assert!(wrong("launchs > 1").starts_with("there is no quantity `launchs`; there are: new_kernels, "));
        assert_eq!(wrong("launches = 1"), "after the quantity comes > >= < <= == or !=, not `= 1`");
        assert_eq!(wrong("launches"), "after the quantity comes > >= < <= == or !=, not ``");
        assert_eq!(
            wrong("launches > 5%"),
            "`5%` is no number; write 0, or 1.05x for a multiple of the baseline's"
        );
        assert_eq!(
            wrong("new_kernels > 1x"),
            "new_kernels is counted against the baseline and has no multiple of it: leave out the x"
        );
        for text in ["kernel > 0", "kernel('a').calls > 0", "kernel('a' > 0", "kernel(a).launches > 0"] {
            assert_eq!(
                wrong(text),
                "kernel is written kernel('PATTERN').launches or kernel('PATTERN').total_ns or kernel('PATTERN').median_ns"
            );
        }
        assert!(wrong("").starts_with("there is no quantity ``"));
    }

    #[test]
    fn a_multiple_of_nothing_is_one_or_infinitely_much() {
        assert_eq!((multiple(0.0, 0.0), multiple(3.0, 2.0)), (1.0, 1.5));
        assert!(Operator::More.holds(multiple(1.0, 0.0), 1e9));
    }
}
