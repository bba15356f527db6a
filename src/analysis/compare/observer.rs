//! Measures the cost of observation: a program's own numbers with the shim and without.

use crate::Evidence;
use rocshim_reader::Results;
use serde::Serialize;

/// The comparison, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observed {
    /// Format of this object: 1.
    pub format: u32,
    /// The program that printed the results: `llama-bench`, `llama-server`, `Ollama`.
    pub program: &'static str,
    /// The file with the results of the traced runs.
    pub traced: String,
    /// The file with the results of the runs without the shim.
    pub untraced: String,
    /// A row for each test, in the order of the traced results.
    pub tests: Vec<ObservedTest>,
}

/// A test, with the shim and without.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObservedTest {
    /// The name that the program gives the test.
    pub test: String,
    /// Its results with the shim.
    pub traced: Rate,
    /// Its results without the shim.
    pub untraced: Rate,
    /// Tokens a second with the shim, as a multiple of those without.
    pub ratio: f64,
    /// True when the mean with the shim is within the range of the samples without; absent with
    /// fewer than two of those.
    pub within_spread: Option<bool>,
    /// `inferred`; `unresolved` with a single sample without the shim.
    pub evidence: Evidence,
    /// The rule, or what is missing.
    pub why: &'static str,
}

crate::table! {
    /// The tests of `--observer`.
    OBSERVED: ObservedTest = "tests", "Tokens a second with the shim and without", "a test of llama-bench";
    |row|
    words("test", "test", "its name").name() => &row.test;
    words("traced.mean", "traced", "tokens a second with the shim").right() => format!("{:.1}", row.traced.mean);
    words("traced.samples", "its samples", "least, most, and number of samples").right().optional()
        => row.traced.in_words();
    words("untraced.mean", "untraced", "tokens a second without").right()
        => format!("{:.1}", row.untraced.mean);
    words("untraced.samples", "its samples", "least, most, and number of samples").right()
        => row.untraced.in_words();
    words("ratio", "ratio", "the one divided by the other").right() => format!("{:.4}", row.ratio);
    words("within_spread", "difference", "whether it is within the spread of those without")
        => match (row.within_spread, row.ratio < 1.0) {
            (Some(true), _) => "within the spread",
            (Some(false), true) => "SLOWER than every sample without",
            (Some(false), false) => "faster than every sample without",
            (None, _) => "unresolved: too few samples",
        };
    evidence("evidence", "evidence", "how sure that is") => row.evidence;
}

/// Samples of a rate, in tokens per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Number of samples.
    pub samples: usize,
    /// Their arithmetic mean.
    pub mean: f64,
    /// The slowest sample.
    pub least: f64,
    /// The fastest sample.
    pub most: f64,
}

impl Rate {
    fn in_words(&self) -> String {
        format!("{:.1} to {:.1} ({})", self.least, self.most, self.samples)
    }
}

const RULE: &str =
    "inferred: the mean with the shim is held against the least and the most of the samples without";
const ONE: &str = "one sample without the shim has no spread: run it several times (llama-bench -r 5, or several responses in the file)";

/// Compares the two files.
///
/// # Errors
/// When they are not results of one program and of the same tests.
pub fn observe(traced: &Results, untraced: &Results) -> Result<Observed, String> {
    if traced.program != untraced.program {
        return Err(format!(
            "{} holds results of {}, {} of {}: give two of one program",
            traced.file, traced.program, untraced.file, untraced.program
        ));
    }
    let missing = |from: &Results, of: &Results| {
        let name = of
            .tests
            .iter()
            .map(|(name, _)| name)
            .find(|name| from.tests.iter().all(|(known, _)| known != *name));
        name.map(|name| {
            format!("{} has no results of `{name}`, which {} has: run the same tests", from.file, of.file)
        })
    };
    if let Some(why) = missing(untraced, traced).or_else(|| missing(traced, untraced)) {
        return Err(why);
    }
    let tests = traced.tests.iter().filter_map(|(name, with)| {
        let (_, without) = untraced.tests.iter().find(|(known, _)| known == name)?;
        Some(test(name, rate(with)?, rate(without)?))
    });
    Ok(Observed {
        format: 1,
        program: traced.program,
        traced: traced.file.clone(),
        untraced: untraced.file.clone(),
        tests: tests.collect(),
    })
}

fn test(name: &str, traced: Rate, untraced: Rate) -> ObservedTest {
    let within = (untraced.least..=untraced.most).contains(&traced.mean);
    let has_spread = untraced.samples > 1;
    ObservedTest {
        test: name.to_string(),
        traced,
        untraced,
        ratio: traced.mean / untraced.mean,
        within_spread: has_spread.then_some(within),
        evidence: if has_spread { Evidence::Inferred } else { Evidence::Unresolved },
        why: if has_spread { RULE } else { ONE },
    }
}

fn rate(samples: &[f64]) -> Option<Rate> {
    let least = samples.iter().copied().min_by(f64::total_cmp)?;
    let most = samples.iter().copied().max_by(f64::total_cmp)?;
    Some(Rate {
        samples: samples.len(),
        mean: samples.iter().sum::<f64>() / samples.len() as f64,
        least,
        most,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(file: &str, tests: &[(&str, &[f64])]) -> Results {
        let tests = tests.iter().map(|(name, samples)| (name.to_string(), samples.to_vec())).collect();
        Results { file: file.into(), program: "llama-bench", tests }
    }

    #[test]
    fn a_difference_is_held_against_the_spread_without_the_shim() {
        let without =
            results("u", &[("pp512", &[100.0, 110.0, 90.0]), ("tg128", &[50.0, 52.0]), ("one", &[7.0])]);
        let with = results("t", &[("tg128", &[45.0, 47.0]), ("pp512", &[99.0, 95.0]), ("one", &[7.0])]);
        let found = observe(&with, &without).unwrap();
        let tests: Vec<_> =
            found.tests.iter().map(|t| (t.test.as_str(), t.ratio, t.within_spread, t.evidence)).collect();
        // 46 of 51 is below 50; 97 of 100 is within 90 to 110.
        assert_eq!(
            tests,
            [
                ("tg128", 46.0 / 51.0, Some(false), Evidence::Inferred),
                ("pp512", 0.97, Some(true), Evidence::Inferred),
                ("one", 1.0, None, Evidence::Unresolved),
            ]
        );
    }

    #[test]
    fn files_that_do_not_fit_are_reported_in_a_sentence() {
        let (one, two) = (results("t.json", &[("pp512", &[1.0])]), results("u.json", &[("tg128", &[1.0])]));
        assert_eq!(
            observe(&one, &two).unwrap_err(),
            "u.json has no results of `pp512`, which t.json has: run the same tests"
        );
        let other = Results { program: "Ollama", ..one.clone() };
        assert_eq!(
            observe(&one, &other).unwrap_err(),
            "t.json holds results of llama-bench, t.json of Ollama: give two of one program"
        );
    }
}
