//! Answers users' questions about a trace: a short summary, and questions that a profiler cannot
//! answer, each with its evidence class and the reason.

mod questions;
#[cfg(test)]
mod tests;
mod warnings;

use super::evidence::observations::{Observation, absence, complete};
use super::evidence::rules::{Class, Rule, RuleRow, premises};
use super::{Environment, Evidence, Phase, Phases, Summary, Verdict, Verified};
use crate::table::Cell;
use crate::units::{count, counted, range};
use rocshim_trace::file_name;
use serde::Serialize;
use std::collections::BTreeSet;

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The question, in the words of the page.
    pub question: &'static str,
    /// The answer, in a phrase.
    pub answer: String,
    /// How certain the answer is.
    pub evidence: Evidence,
    /// The source of the answer, the rule by which it follows, or what is missing.
    pub why: String,
}

crate::table! {
    /// What is asked for a phase of inference or training.
    QUESTIONS: Answer = "questions", "Can it be shown?", "a question that users ask of a trace";
    |row|
    words("question", "question", "the question") => row.question;
    words("answer", "this trace says", "the answer, in a phrase")
        => Cell::Statements(row.answer.split("; ").map(|line| (line.to_owned(), None)).collect());
    evidence("evidence", "evidence", "how certain the answer is") => row.evidence;
    sentence("why", "why", "the source of the answer, or what is missing") => &row.why;
}

/// All answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// What may be missing from the trace, one sentence each: losses, unbound hooks, unread files.
    pub warnings: Vec<String>,
    /// The summary: what ran, on which GPU, by which path, and what was lost.
    pub glance: Vec<Answer>,
    /// Questions about phases of inference or training.
    pub questions: Vec<Answer>,
}

/// What was read of a run, from which answers follow.
pub(crate) struct Facts<'a> {
    pub summary: &'a Summary,
    pub phases: &'a Phases,
    pub environment: &'a Environment,
    pub verified: &'a [Verified],
}

/// What is known of the losses of a run.
#[derive(Clone, Copy)]
struct LossFacts {
    /// A recount of some trace disagrees with its counters.
    is_wrong: bool,
    /// Processes that still run.
    running: u64,
}

const COUNTED: Rule<LossFacts> = Rule {
    says: "the number of lost events is exact",
    class: Class::Confirmed,
    premises: premises! {
        "of each thread, the events in the trace and those counted as lost are all that it produced" Observed
            |facts: &LossFacts| Some(!facts.is_wrong);
        "every process has ended" Observed |facts: &LossFacts| Some(facts.running == 0);
    },
};

/// Returns the module's rules, for `rocshim help evidence`.
pub(crate) fn rules() -> Vec<RuleRow> {
    vec![COUNTED.row("losses")]
}

/// Lists of more items than this are shortened to their number.
const NAMED: usize = 6;

fn list(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<String> = names.into_iter().collect();
    match names.len().checked_sub(NAMED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}

impl Facts<'_> {
    /// Answers all questions.
    pub(crate) fn answers(&self) -> Answers {
        Answers {
            warnings: warnings::warnings(self.summary, self.verified),
            glance: vec![self.ran(), self.gpu(), self.path(), self.blas(), self.fallback(), self.lost()],
            questions: vec![
                self.columns(),
                self.families(),
                self.objects(),
                self.tensile(),
                self.longest_prompt(),
                self.hipblaslt(),
                self.libraries(),
            ],
        }
    }

    fn ran(&self) -> Answer {
        let totals = &self.summary.totals;
        let programs: BTreeSet<&str> = self.summary.processes.iter().map(|row| file_name(&row.exe)).collect();
        let failed: u64 = self.summary.kernels.iter().map(|row| row.launches - row.ran).sum();
        let failed = if failed > 0 { format!(" ({} failed)", count(failed)) } else { String::new() };
        let answer = format!(
            "{} in {}: {}{failed} of {}, {}",
            list(programs.into_iter().map(str::to_owned)),
            counted(totals.processes, "process"),
            counted(totals.launches, "launch"),
            counted(totals.kernels, "kernel"),
            counted(totals.gemms, "BLAS GEMM"),
        );
        let (evidence, why) = complete(self.summary.visibility_gaps.launches.clone());
        let why = why.unwrap_or_else(|| "each launch was seen as the call that it is".into());
        Answer { question: "What ran?", answer, evidence, why }
    }

    fn gpu(&self) -> Answer {
        let question = "On which GPU?";
        let devices = &self.environment.devices;
        if !devices.is_empty() {
            let found: BTreeSet<String> =
                devices.iter().map(|row| format!("{} {}", row.gfx, row.name)).collect();
            let by: BTreeSet<&str> = devices.iter().map(|row| row.how.as_str()).collect();
            return Answer {
                question,
                answer: list(found.into_iter().map(|gpu| gpu.trim_end().to_owned())),
                evidence: Observation::Device.evidence(),
                why: format!("as stated by {}", by.into_iter().collect::<Vec<_>>().join(", ")),
            };
        }
        let objects = self.phases.kinds.iter().flat_map(|kind| &kind.code_objects);
        let targets: BTreeSet<String> = objects.filter_map(|object| object.target.clone()).collect();
        if targets.is_empty() {
            let why = "the program never asked HIP for its properties, and no launched kernel's code object names its target";
            return Answer {
                question,
                answer: "not known".into(),
                evidence: Evidence::Unresolved,
                why: why.into(),
            };
        }
        Answer {
            question,
            answer: list(targets),
            evidence: Evidence::Inferred,
            why: "the target of the code objects that launched kernels came from".into(),
        }
    }

    fn path(&self) -> Answer {
        let question = "By which path?";
        let found: Vec<String> = self.phases.kinds.iter().take(NAMED).map(path_of).collect();
        if found.is_empty() {
            let (evidence, why) = absence(self.summary.visibility_gaps.launches.clone());
            let why = why.unwrap_or_else(|| "no launch was seen that succeeded".into());
            let answer = match self.summary.totals.launches {
                0 => "no kernel was launched".to_string(),
                _ => "no kernel ran: each launch failed".to_string(),
            };
            return Answer { question, answer, evidence, why };
        }
        let evidence = self.least_sure();
        let rules: BTreeSet<&str> = self.phases.phases.iter().map(|phase| phase.why).collect();
        let why = match rules.len() {
            1 => rules.into_iter().collect(),
            _ => "found from what was launched; `rocshim phases` prints the rule of each phase".to_string(),
        };
        Answer { question, answer: found.join("; "), evidence, why }
    }

    /// Returns the evidence class of the least certain phase.
    fn least_sure(&self) -> Evidence {
        Evidence::least_sure(self.phases.phases.iter().map(|phase| phase.evidence))
    }

    fn blas(&self) -> Answer {
        let libraries = ["librocblas.so", "libhipblas.so", "libhipblaslt.so"];
        let rows: Vec<_> =
            self.summary.libraries.iter().filter(|row| libraries.contains(&row.library.as_str())).collect();
        let name = |library: &str| library.trim_end_matches(".so").to_string();
        let called = rows.iter().filter(|row| row.calls > 0);
        let called: Vec<String> =
            called.map(|row| format!("{} {}", name(&row.library), counted(row.calls, "call"))).collect();
        // Launches of its kernels show a call too, by a function that is not hooked.
        let unsure = rows.iter().find(|row| row.calls == 0 && !row.evidence.is_confirmed_absent());
        let (answer, evidence, why) = match (called.is_empty(), unsure) {
            _ if rows.is_empty() => {
                ("not known".into(), Evidence::Unresolved, "the shim hooked no BLAS library".to_string())
            }
            (true, None) => {
                let loaded: Vec<String> =
                    rows.iter().filter(|row| row.loaded_in > 0).map(|row| name(&row.library)).collect();
                let why = match loaded.is_empty() {
                    true => "none is loaded".to_string(),
                    false => {
                        format!("loaded, every entry point was hooked, no call seen: {}", loaded.join(", "))
                    }
                };
                let rows = rows.iter().map(|row| row.evidence);
                ("none was called".to_string(), Evidence::least_sure(rows), why)
            }
            (true, Some(row)) if row.evidence.is_confirmed() => {
                (name(&row.library), row.evidence, row.why.clone())
            }
            (true, Some(row)) => ("no call was seen".to_string(), row.evidence, row.why.clone()),
            (false, _) => (list(called), Observation::Call.evidence(), "intercepted calls".to_string()),
        };
        Answer { question: "Were BLAS libraries called?", answer, evidence, why }
    }

    fn fallback(&self) -> Answer {
        let fallback = &self.summary.fallback;
        let launches: u64 = fallback.kernels.iter().map(|row| row.launches).sum();
        let answer = match launches {
            0 => "none was seen".to_string(),
            some => format!("{} out of {}", counted(some, "launch"), count(fallback.products)),
        };
        let (evidence, why) = (fallback.evidence, fallback.why.clone());
        Answer { question: "Were Tensile's fallback kernels launched?", answer, evidence, why }
    }

    fn lost(&self) -> Answer {
        let question = "What was lost?";
        let totals = &self.summary.totals;
        let wrong = self.verified.iter().find(|one| one.verdict == Verdict::Wrong);
        let lost = counted(totals.lost, "event");
        let facts = LossFacts { is_wrong: wrong.is_some(), running: totals.running };
        let evidence = COUNTED.evidence(&facts).unwrap_or(Evidence::Limited);
        let (answer, why) = match (totals.lost, wrong, totals.running) {
            (_, Some(one), _) => {
                let what = one.wrong.first().cloned().unwrap_or_default();
                (format!("{lost}, and perhaps more"), format!("{}: {what}", one.trace))
            }
            (0, None, 0) => {
                let why = "recounted: of each thread all events are in the trace";
                ("nothing".to_string(), why.to_string())
            }
            (0, None, _) => {
                let why = "a process still runs: recounted up to the end of its trace";
                ("nothing so far".to_string(), why.to_string())
            }
            (_, None, running) => {
                let reasons: BTreeSet<&str> =
                    self.summary.losses.iter().map(|row| row.reason.as_str()).collect();
                let reasons = reasons.into_iter().collect::<Vec<_>>().join(", ");
                let so_far = if running > 0 { ", so far" } else { "" };
                (lost, format!("counted in place{so_far}: {reasons}"))
            }
        };
        Answer { question, answer, evidence, why }
    }
}

impl Evidence {
    /// Returns this class, or *inferred* if that is less certain.
    fn max_with(self, least: Evidence) -> Evidence {
        if matches!(self, Evidence::Limited | Evidence::Unresolved) { self } else { least }
    }
}

/// `prompt: 11 passes of 1..290 columns, through mmvq, mmq`.
fn path_of(kind: &Phase) -> String {
    let least = kind.columns.iter().map(|columns| columns.least).min();
    let most = kind.columns.iter().map(|columns| columns.most).max();
    let columns = least.zip(most).map_or(String::new(), |(least, most)| {
        format!(" of {} {}", range(least, most), if most == 1 { "column" } else { "columns" })
    });
    format!("{}: {}{columns}, {}", kind.name(), counted(kind.passes, "pass"), products_of(kind))
}

/// Returns the kernel families of a phase's GEMMs, in words.
fn products_of(phase: &Phase) -> String {
    let products: Vec<&str> =
        phase.families.iter().filter(|row| row.is_product()).filter_map(|row| row.family).collect();
    match products.is_empty() {
        true => "without a matrix product".to_string(),
        false => format!("through {}", products.join(", ")),
    }
}
