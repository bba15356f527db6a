//! Renders the list of evidence rules for `rocshim help evidence`.

use rocshim_analysis::{Basis, RuleRow};

const INTRODUCTION: &str = "\
Each statement that a page derives follows from premises. It is made where all of them hold; else
the page says what is missing (limited: only part was observed; unresolved: it cannot be decided).
Confirmed, confirmed absent and contradicted are printed only where every premise was observed: in
intercepted calls, their arguments, the code objects that they launch from, and the counters of
lost events. Other premises are knowledge of how such programs work: what follows is inferred.
";

/// Returns all rules, grouped by subject.
pub fn evidence_rules(rules: &[RuleRow]) -> String {
    let mut text = INTRODUCTION.to_string();
    let mut about = "";
    for rule in rules {
        if rule.about != about {
            about = rule.about;
            text.push_str(&format!("\n{about}\n"));
        }
        text.push_str(&format!("  {}: {}\n", rule.class, rule.says));
        for (premise, basis) in &rule.premises {
            let basis = match basis {
                Basis::Observed => "observed",
                Basis::Known => "known",
            };
            text.push_str(&format!("      {basis:9} {premise}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::evidence_rules;

    #[test]
    fn every_rule_stands_with_its_class_and_premises() {
        let rules = rocshim_analysis::evidence_rules();
        let text = evidence_rules(&rules);
        assert!(rules.iter().all(|rule| text.contains(&format!("  {}: {}\n", rule.class, rule.says))));
        assert_eq!(text.matches("      observed ").count() + text.matches("      known ").count(), {
            rules.iter().map(|rule| rule.premises.len()).sum::<usize>()
        });
    }
}
