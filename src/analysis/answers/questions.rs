//! Questions about a phase of inference or training that a profiler cannot answer.

use super::{Answer, Facts, NAMED, Observation, absence, complete, list, products_of};
use crate::units::{count, counted, range, time};
use crate::{ColumnsRow, Evidence, Phase, PhaseFamily, PhaseKind};
use rocshim_trace::file_name;
use std::collections::BTreeSet;

impl Facts<'_> {
    pub(super) fn columns(&self) -> Answer {
        let question = "Which ne11 (columns) did the matrix products have?";
        let summary = self.summary;
        let ggml = list(by_columns(&summary.columns));
        let mut sizes: Vec<i64> = summary.gemms.iter().filter_map(|row| row.problem.n).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let blas = list(sizes.iter().map(|n| format!("n {n}")));
        let (answer, evidence, why) = match (ggml.is_empty(), blas.is_empty()) {
            (true, true) => {
                let why = "no product's columns were among what was launched or called";
                ("none is known".to_string(), Evidence::Unresolved, why.to_string())
            }
            (true, false) => {
                (blas, Observation::Argument.evidence(), "arguments of the BLAS calls".to_string())
            }
            (false, is_ggml) => {
                let rules: BTreeSet<&str> = summary.columns.iter().map(|row| row.rule).collect();
                let rules = format!("read from: {}", rules.into_iter().collect::<Vec<_>>().join("; "));
                (if is_ggml { ggml } else { format!("{ggml}; BLAS: {blas}") }, Evidence::Inferred, rules)
            }
        };
        self.limited(Answer { question, answer, evidence, why })
    }

    /// Returns the answer, as *limited* if launches may have been missed.
    fn limited(&self, answer: Answer) -> Answer {
        match &self.summary.visibility_gaps.launches {
            Some(why) if answer.evidence != Evidence::Unresolved => {
                Answer { evidence: Evidence::Limited, why: format!("{}; {why}", answer.why), ..answer }
            }
            _ => answer,
        }
    }

    pub(super) fn families(&self) -> Answer {
        let question = "Which kernel families ran in which phase, and how often?";
        let of = |kind: &Phase| {
            let row = |row: &PhaseFamily| {
                format!("{} {}", row.family.unwrap_or("unnamed family"), count(row.launches))
            };
            format!("{}: {}", kind.name(), list(kind.families.iter().map(row)))
        };
        let answer: Vec<String> = self.phases.kinds.iter().take(NAMED).map(of).collect();
        if answer.is_empty() {
            return Answer { answer: "none".into(), ..Answer { question, ..self.path() } };
        }
        let why = "by the kernels' names; the counts are launches that were seen".to_string();
        let evidence = self.least_sure().max_with(Evidence::Inferred);
        self.limited(Answer { question, answer: answer.join("; "), evidence, why })
    }

    pub(super) fn objects(&self) -> Answer {
        let question = "Which bundle or code object did the kernels come from?";
        let used = self.summary.code_objects.iter().filter(|row| row.launches > 0);
        let name = |path: &str| file_name(path).to_string();
        let found = list(used.map(|row| {
            let file = row.file.as_deref().or(row.path.as_deref()).map_or("from memory".to_string(), name);
            let ordinal = row.ordinal.map_or(String::new(), |ordinal| format!(" bundle {ordinal}"));
            format!("{file}{ordinal}: {}", counted(row.launches, "launch"))
        }));
        let loaded = self.summary.code_objects.len() as u64;
        let limit = self.summary.visibility_gaps.origins.clone();
        let (evidence, why) = if found.is_empty() { absence(limit) } else { complete(limit) };
        let why = why.unwrap_or_else(|| {
            format!("the code object of each launched kernel, of {} loaded", count(loaded))
        });
        if found.is_empty() {
            return Answer { question, answer: "none was dispatched from".into(), evidence, why };
        }
        Answer { question, answer: found, evidence, why }
    }

    pub(super) fn tensile(&self) -> Answer {
        let question = "Did BLAS kernels (Cijk_*) take part in a prompt?";
        const TENSILE: &str = "Tensile product";
        let in_family = |phase: &Phase| {
            let rows = phase.families.iter().filter(|row| row.family == Some(TENSILE));
            rows.map(|row| row.launches).sum::<u64>()
        };
        let prompts = || self.phases.kinds.iter().filter(|kind| kind.kind == PhaseKind::Prompt);
        let (passes, launches) = (prompts().map(|kind| kind.passes).sum(), prompts().map(in_family).sum());
        let all: u64 = self
            .summary
            .families
            .iter()
            .filter(|row| row.family == Some(TENSILE))
            .map(|row| row.launches)
            .sum();
        let (answer, evidence, why) = match (all, launches) {
            (0, _) => match absence(self.summary.visibility_gaps.launches.clone()) {
                (evidence, None) => {
                    let why = "none in the whole trace, and none can have been missed".to_string();
                    (format!("no, in none of {}", counted(passes, "pass")), evidence, why)
                }
                (evidence, Some(why)) => ("none was seen".to_string(), evidence, why),
            },
            (all, 0) => {
                let why = format!(
                    "{} outside of prompts; which pass is a prompt follows from its columns",
                    counted(all, "launch")
                );
                (format!("no, in none of {}", counted(passes, "pass")), Evidence::Inferred, why)
            }
            (_, some) => {
                let why = "launches of kernels of that name; which pass is a prompt follows from its columns";
                (
                    format!("yes, {} in {}", counted(some, "launch"), counted(passes, "pass")),
                    Evidence::Inferred,
                    why.to_string(),
                )
            }
        };
        Answer { question, answer, evidence, why }
    }

    pub(super) fn longest_prompt(&self) -> Answer {
        let question = "Was the longest prompt cut into chunks, or given to BLAS?";
        let prompts = self.phases.phases.iter().filter(|phase| phase.kind == PhaseKind::Prompt);
        let Some(longest) = prompts.max_by_key(|phase| phase.tokens) else {
            let why = "no pass was taken for one that evaluates a prompt";
            return Answer {
                question,
                answer: "no prompt was found".into(),
                evidence: Evidence::Unresolved,
                why: why.into(),
            };
        };
        let chunks = longest.columns.iter().map(|columns| match columns.passes {
            1 => range(columns.least, columns.most),
            passes => format!("{} x{passes}", range(columns.least, columns.most)),
        });
        let tokens = longest.tokens.map_or("tokens not known".into(), |tokens| counted(tokens, "token"));
        let cut = match longest.passes {
            1 => format!("{tokens} in one pass"),
            passes => format!("{tokens} in {} ({})", counted(passes, "pass"), list(chunks)),
        };
        let answer = format!("{cut}, {}", products_of(longest));
        Answer { question, answer, evidence: longest.evidence, why: longest.why.to_string() }
    }

    pub(super) fn hipblaslt(&self) -> Answer {
        let question = "Was hipBLASLt called, or only loaded?";
        match self.summary.libraries.iter().find(|row| row.library == "libhipblaslt.so") {
            None => {
                let why = "the shim that wrote the trace did not hook it".to_string();
                Answer { question, answer: "not known".into(), evidence: Evidence::Unresolved, why }
            }
            Some(row) => {
                let answer = match (row.calls, row.loaded_in) {
                    (0, 0) => "not loaded".to_string(),
                    (0, _) => "loaded; no call was seen".to_string(),
                    (calls, _) => counted(calls, "call"),
                };
                Answer { question, answer, evidence: row.evidence, why: row.why.clone() }
            }
        }
    }

    pub(super) fn libraries(&self) -> Answer {
        let question = "How often was each library called in each phase?";
        let of = |kind: &Phase| {
            let called = kind.libraries.iter().filter(|row| row.calls > 0);
            let called =
                called.map(|row| format!("{} {}", row.library.trim_end_matches(".so"), count(row.calls)));
            format!("{}: {}", kind.name(), list(called))
        };
        let answer: Vec<String> = self.phases.kinds.iter().take(NAMED).map(of).collect();
        if answer.is_empty() {
            return Answer { answer: "no phase was found".into(), ..Answer { question, ..self.path() } };
        }
        let why = format!(
            "calls that make an event, by the time in which they returned (between {} and {}); calls that make none are counted for the process",
            time(self.phases.kinds.iter().map(|kind| kind.begin_ns).min().unwrap_or(0)),
            time(self.phases.kinds.iter().map(|kind| kind.end_ns).max().unwrap_or(0)),
        );
        let evidence = self.least_sure().max_with(Evidence::Inferred);
        Answer { question, answer: answer.join("; "), evidence, why }
    }
}

/// `ne11 1 (96 launches)`, fewest columns first.
fn by_columns(rows: &[ColumnsRow]) -> Vec<String> {
    let mut sums: Vec<((u64, u64), u64)> = Vec::new();
    for row in rows {
        match sums.iter_mut().find(|(columns, _)| *columns == (row.least, row.most)) {
            Some((_, launches)) => *launches += row.launches,
            None => sums.push(((row.least, row.most), row.launches)),
        }
    }
    sums.into_iter()
        .map(|((least, most), launches)| format!("{} ({})", range(least, most), counted(launches, "launch")))
        .collect()
}
