//! Renders short lists: environment variables, verified traces, recovered traces.

use super::{section::Part, sections, table::Style};
use rocshim_analysis::table;
use rocshim_analysis::units::{bytes, count, counted};
use rocshim_analysis::{Verdict, Verified};
use serde::Serialize;

/// An environment variable that the shim reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableLine {
    /// Its name.
    pub name: String,
    /// Its value where it is unset, in words.
    pub default: String,
    /// What it sets.
    pub meaning: String,
}

table! {
    /// The environment variables that the shim reads.
    VARIABLES: VariableLine = "variables", "Variables", "an environment variable that the shim reads";
    |row|
    words("name", "variable", "its name") => &row.name;
    words("default", "default", "its value where it is unset") => &row.default;
    sentence("meaning", "meaning", "what it sets") => &row.meaning;
}

/// The environment variables that the shim reads.
pub fn variables(variables: &[VariableLine], style: &Style) -> String {
    Part::new(&VARIABLES, variables).lines(style).text(style)
}

/// The result of finishing a trace.
#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Recovery {
    /// Its events in the ring files were added to it.
    Finished {
        /// How many.
        events: u64,
    },
    /// It is complete already.
    Whole,
    /// Its process still runs and will end it.
    Running,
    /// Its process and its ring files are gone.
    Lost,
    /// Its ring files were removed: the trace, or its folder, was deleted.
    Discarded,
    /// It could not be read or written.
    Failed {
        /// The reason, a sentence.
        why: String,
    },
}

/// A trace with the result of finishing it, also as JSON.
#[derive(Serialize)]
pub struct Recovered {
    /// Its path.
    pub trace: String,
    /// The result.
    #[serde(flatten)]
    pub outcome: Recovery,
}

/// A line for each file.
pub fn recovered(files: &[Recovered]) -> String {
    let line = |Recovered { trace: name, outcome }: &Recovered| match outcome {
        Recovery::Finished { events } => {
            format!("{name}: finished, {} recovered\n", counted(*events, "event"))
        }
        Recovery::Whole => format!("{name}: whole already\n"),
        Recovery::Running => format!("{name}: its process still runs, nothing to do\n"),
        Recovery::Lost => format!("{name}: its ring files are gone, nothing more can be recovered\n"),
        Recovery::Discarded => format!("{name}: it was deleted, its ring files were removed\n"),
        Recovery::Failed { why } => format!("{name}: {why}\n"),
    };
    files.iter().map(line).collect()
}

/// Returns the verdict on all traces if there are several, then a paragraph for each: its counts,
/// and what is wrong.
pub fn verified(traces: &[Verified]) -> String {
    let answer = if traces.len() > 1 { all_verified(traces) } else { String::new() };
    traces.iter().map(one_verified).fold(answer, |page, one| page + &one)
}

/// `6 of 6 traces are right: 12 563 events written, 0 lost`
fn all_verified(traces: &[Verified]) -> String {
    let is_right = |one: &&Verified| matches!(one.verdict, Verdict::Right | Verdict::RightSoFar);
    let right = traces.iter().filter(is_right).count() as u64;
    let sum = |of: fn(&Verified) -> u64| traces.iter().map(of).sum::<u64>();
    format!(
        "{} of {} are right: {} written, {} lost\n",
        count(right),
        counted(traces.len() as u64, "trace"),
        counted(sum(|one| one.written), "event"),
        count(sum(|one| one.lost))
    )
}

fn one_verified(one: &Verified) -> String {
    let word = match one.verdict {
        Verdict::Right => "right",
        Verdict::RightSoFar => "right so far, its process still runs",
        Verdict::Deleted => "deleted",
        Verdict::Wrong => "WRONG",
    };
    let mut text = format!("{}: {word}\n", one.trace);
    let reasons: Vec<String> =
        one.reasons.iter().map(|(reason, lost)| format!("{} {reason}", count(*lost))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    let (written, lost) = (counted(one.written, "event"), count(one.lost));
    if one.verdict == Verdict::RightSoFar {
        text += &format!("  {written} written so far, {lost} lost{reasons}\n");
    } else if one.threads != 0 || one.produced != 0 {
        let threads = counted(one.threads, "thread");
        let relation = if one.produced == one.written + one.lost { "=" } else { "≠" };
        text += &format!(
            "  {threads}: {} produced {relation} {} written + {lost} lost{reasons}\n",
            count(one.produced),
            count(one.written)
        );
    }
    if one.in_flight != 0 {
        text += &format!("  {} in flight when the process died\n", counted(one.in_flight, "call"));
    }
    if let Some(gpu) = &one.gpu {
        let lines = std::iter::once(sections::seen(gpu)).chain(sections::past(gpu, &Style::default()));
        lines.for_each(|line| text += &format!("  {line}\n"));
    }
    one.wrong.iter().chain(&one.deleted).for_each(|what| text += &format!("  {what}\n"));
    text
}

/// The ring files of a killed process, also as JSON.
#[derive(Serialize)]
pub struct StaleLine {
    /// Its trace.
    pub trace: String,
    /// The folder of its ring files.
    pub rings: String,
    /// Bytes of them.
    pub bytes: u64,
    /// True if the trace, or the folder that it was written to, was deleted.
    pub is_deleted: bool,
}

/// Returns a line for each killed process that has left ring files, at most `rows` lines.
pub fn stale(found: &[StaleLine], rows: Option<usize>) -> String {
    if found.is_empty() {
        return "no killed process of yours has left ring files\n".into();
    }
    let shown = rows.unwrap_or(found.len());
    let mut text = String::new();
    for line in found.iter().take(shown) {
        let what = if line.is_deleted { "deleted" } else { "not finished" };
        text += &format!("{}: {what}; {} in {}\n", line.trace, bytes(line.bytes), line.rings);
    }
    if found.len() > shown {
        text += &format!("and {} more\n", count((found.len() - shown) as u64));
    }
    let deleted = found.iter().filter(|line| line.is_deleted).count();
    let all = bytes(found.iter().map(|line| line.bytes).sum());
    text += &format!(
        "{} of ring files in all: `rocshim recover --finish-all` finishes what can be finished",
        all
    );
    if deleted != 0 {
        text += &format!(
            ", `rocshim recover --discard` removes the ring files of {}",
            counted(deleted as u64, "deleted trace")
        );
    }
    text + "\n"
}
