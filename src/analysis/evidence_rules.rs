//! Lists all rules by which statements are classified.

use super::{
    RuleRow, answers, bisect, calls, evidence::observations, experiment, fallback, gpu, phases, proxy,
    verdict, why,
};

/// Every rule, by what it is about.
pub fn evidence_rules() -> Vec<RuleRow> {
    [
        observations::rules(),
        verdict::rules(),
        calls::rules(),
        fallback::rules(),
        gpu::rules(),
        phases::rules(),
        proxy::rules(),
        answers::rules(),
        experiment::rules(),
        bisect::rules(),
        why::rules(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::rules::{Answer, Basis, decide};
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn each_rule_is_met_not_met_and_unknown_by_its_premises() {
        for rule in evidence_rules() {
            let texts: Vec<&'static str> = rule.premises.iter().map(|(text, _)| *text).collect();
            let with = |at: usize, holds: Option<bool>| {
                let value = |(place, text)| (text, if place == at { holds } else { Some(true) });
                decide(texts.iter().copied().enumerate().map(value))
            };
            assert!(!texts.is_empty(), "{rule:?}");
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(with(at, Some(true)), Answer::Met, "{rule:?}");
                assert_eq!(with(at, Some(false)), Answer::NotMet(text), "{rule:?}");
                assert_eq!(with(at, None), Answer::Unknown(text), "{rule:?}");
            }
        }
    }

    #[test]
    fn what_is_certain_was_observed() {
        for rule in evidence_rules().iter().filter(|rule| rule.class.is_certain()) {
            assert!(rule.premises.iter().all(|(_, basis)| *basis == Basis::Observed), "{rule:?}");
        }
    }

    #[test]
    fn no_two_rules_say_the_same() {
        let rules = evidence_rules();
        let said: BTreeSet<_> = rules.iter().map(|rule| (rule.about, rule.says)).collect();
        assert_eq!(said.len(), rules.len());
    }

    /// The source files of this crate, with their text.
    fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder of this crate") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                found.push((path.to_string_lossy().into_owned(), text));
            }
        }
    }

    #[test]
    fn every_rule_is_listed_and_shown_by_a_test() {
        let mut files = Vec::new();
        sources(Path::new(env!("CARGO_MANIFEST_DIR")), &mut files);
        let said: BTreeSet<&str> = evidence_rules().iter().map(|rule| rule.says).collect();
        let mut number = 0;
        for (path, text) in &files {
            let (code, tests) = text.split_once("#[cfg(test)]\nmod tests").unwrap_or((text, ""));
            let beside = format!("{}/tests.rs", path.trim_end_matches(".rs"));
            let beside = files.iter().find(|(path, _)| *path == beside).map_or("", |(_, text)| text);
            for rule in code.split("const ").skip(1) {
                let Some((name, rest)) = rule.split_once(": Rule<") else { continue };
                if !name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                    continue;
                }
                let says = rest.split_once("says: \"").and_then(|(_, rest)| rest.split_once('"'));
                let says = says.expect("a rule says something").0;
                assert!(said.contains(says), "{path}: {name} is not listed");
                let is_shown = [tests, beside].iter().any(|tests| tests.contains(name));
                assert!(is_shown, "{path}: no test shows {name}");
                number += 1;
            }
        }
        assert!(number > 20, "{number}");
    }

    #[test]
    fn what_tests_make_no_page_does() {
        let mut files = Vec::new();
        sources(Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("src"), &mut files);
        let declare = ["analysis/evidence.rs", "analysis/testing.rs", "analysis/evidence_rules.rs"];
        for (path, text) in files.iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
            let code = text.split_once("#[cfg(test)]\nmod tests").map_or(&**text, |(code, _)| code);
            let makes = code.contains("evidence::made")
                || code.contains("testing::{CONF")
                || code.contains("testing::CONF");
            assert!(!makes || declare.iter().any(|known| path.ends_with(known)), "{path}");
        }
    }
}
