//! The findings of the doctor: one paragraph each, `ok`, `warn` or `fail` first.

use super::table::broken;
use crate::doctor::{Finding, Level};

/// All findings, and what follows from them.
pub(crate) fn findings(findings: &[Finding], width: Option<usize>) -> String {
    let subject = findings.iter().map(|finding| finding.subject.len()).max().unwrap_or(0);
    let indent = 6 + subject + 2;
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(20));
    let mut page = String::new();
    for finding in findings {
        let level = match finding.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        };
        let mut text = finding.what.clone();
        if let Some(advice) = &finding.advice {
            text.push_str(&format!(" → {advice}"));
        }
        let lines = broken(&text, room).join(&format!("\n{}", " ".repeat(indent)));
        page.push_str(&format!("{level:<4}  {:<subject$}  {lines}\n", finding.subject));
    }
    page + verdict(findings)
}

fn verdict(findings: &[Finding]) -> &'static str {
    match findings.iter().map(|finding| finding.level).max() {
        Some(Level::Fail) => "\nSomething keeps the program from being seen: see `fail` above.\n",
        Some(Level::Warn) => "\nThe program will be seen; something may be missed: see `warn` above.\n",
        _ => "\nAll is well.\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_paragraph_with_its_advice() {
        let finding = |level, subject, what: &str, advice: Option<&str>| Finding {
            level,
            subject,
            what: what.into(),
            advice: advice.map(str::to_string),
        };
        let list = [
            finding(Level::Ok, "shim", "/opt/librocshim.so", None),
            finding(Level::Fail, "program", "it is statically linked", Some("use another build of it")),
        ];
        // "fail  program  " takes 15 columns, so 40 leave 25.
        assert_eq!(
            findings(&list, Some(40)),
            "ok    shim     /opt/librocshim.so\n\
             fail  program  it is statically linked →\n               \
             use another build of it\n\
             \nSomething keeps the program from being seen: see `fail` above.\n"
        );
    }
}
