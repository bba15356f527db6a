//! Renders the findings of `rocshim doctor`: a paragraph each, which begins with `ok`, `warn` or
//! `fail`.

use super::table::broken;
use rocshim_analysis::units::counted;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Something may be missed.
    Warn,
    /// Nothing will be recorded.
    Fail,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What was checked.
    pub subject: &'static str,
    /// What was found.
    pub what: String,
    /// What to do.
    pub advice: Option<String>,
}

impl Finding {
    /// As it should be.
    pub fn ok(subject: &'static str, what: impl Into<String>) -> Self {
        Finding { level: Level::Ok, subject, what: what.into(), advice: None }
    }

    /// Something may be missed; what to do about it.
    pub fn warn(subject: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { level: Level::Warn, subject, what: what.into(), advice: Some(advice.into()) }
    }

    /// Nothing will be recorded; what to do about it.
    pub fn fail(subject: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { level: Level::Fail, subject, what: what.into(), advice: Some(advice.into()) }
    }
}

/// Returns the conclusion from all findings, then each finding.
pub fn findings(findings: &[Finding], width: Option<usize>) -> String {
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
    let verdict = broken(&verdict(findings), width.unwrap_or(usize::MAX)).join("\n");
    format!("{verdict}\n\n{page}")
}

fn verdict(findings: &[Finding]) -> String {
    let all = |level| findings.iter().filter(|finding| finding.level == level).count();
    match findings.iter().map(|finding| finding.level).max() {
        Some(Level::Fail) => {
            let first = findings.iter().find(|finding| finding.level == Level::Fail);
            format!("Nothing will be recorded: {}.", first.map_or("", |finding| &finding.what))
        }
        Some(Level::Warn) => {
            let some = counted(all(Level::Warn) as u64, "warning");
            format!("The program will be recorded, with {some}: see `warn` below.")
        }
        _ => "The program will be recorded.".into(),
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
            "Nothing will be recorded: it is\nstatically linked.\n\n\
             ok    shim     /opt/librocshim.so\n\
             fail  program  it is statically linked →\n               \
             use another build of it\n"
        );
    }
}
