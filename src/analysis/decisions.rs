//! Decisions: which library, solution, solver, kernels or family served each distinct problem of a
//! run, and which libraries were called.
//!
//! Every command that tests whether two runs decided alike uses this definition. A decision is
//! identified by its subject (a GEMM by function, sizes and types; a convolution by its problem; a
//! ggml product by its columns and quantisation; a library by its name) and has a choice. A choice
//! that may be incomplete carries the reason, and so does the absence of a subject: what was lost
//! may have been requested, or decided otherwise.

use crate::{CallCounts, ColumnsRow, ComparedRun, ConvRow, GemmProblem, GemmRow, Summary};
use rocshim_trace::Tensor;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The subject of a decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// The kind of decision.
    pub kind: SubjectKind,
    /// The problem, the number of columns or the library, such that no two subjects of a kind have
    /// the same text.
    pub what: String,
    /// The library that was called for it; empty for kernels that the program launches itself.
    pub library: String,
}

/// The kinds of subjects, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A GEMM by function, transposes, sizes and types.
    Gemm,
    /// A convolution that was run.
    Convolution,
    /// Matrix multiplications by ggml's own kernels with one number of columns and one
    /// quantisation.
    GgmlProduct,
    /// Another family of ggml's kernels: launched or not.
    GgmlFamily,
    /// A library: called or not.
    Library,
}

impl SubjectKind {
    /// `GEMM`, `convolution`, …
    pub fn name(self) -> &'static str {
        match self {
            SubjectKind::Gemm => "GEMM",
            SubjectKind::Convolution => "convolution",
            SubjectKind::GgmlProduct => "ggml product",
            SubjectKind::GgmlFamily => "ggml family",
            SubjectKind::Library => "library",
        }
    }
}

/// The choice of a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Choice {
    /// The library whose kernels ran, the innermost of those that were called; a family of ggml's;
    /// or `called`, `launched`, `failed`.
    pub by: BTreeSet<String>,
    /// Requested solutions, solvers or algorithms.
    pub asked: BTreeSet<String>,
    /// Symbols of the kernels launched (or captured) for it, without trials.
    pub kernels: BTreeSet<String>,
}

/// A choice as one run shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The choice.
    pub choice: Choice,
    /// Why the choice may be incomplete; absent if it is complete.
    pub limit: Option<String>,
}

/// All decisions of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions {
    /// By subject; kept as pairs in JSON, whose keys are text.
    #[serde(with = "pairs")]
    pub by_subject: BTreeMap<Subject, Decision>,
    /// Why a call of a library may be missing; absent where none can be.
    limits: BTreeMap<String, String>,
    /// Why a launch may be missing, or calls of a library that was not hooked.
    launches: Option<String>,
}

/// What a run shows about one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed<'a> {
    /// It was decided in this way.
    Decided(&'a Choice),
    /// It was never requested, and no record that could have shown it is missing.
    NotAsked,
    /// It is not known, for this reason.
    Limited(&'a str),
}

impl Decisions {
    /// Derives the decisions from a summary.
    pub fn of(summary: Summary) -> Decisions {
        let run = ComparedRun { label: String::new(), path: String::new(), summary };
        let summary = &run.summary;
        let hooked = summary.libraries.iter();
        let limits =
            hooked.filter_map(|row| Some((row.library.clone(), run.limit_of(&row.library)?))).collect();
        let mut decisions = Decisions { by_subject: BTreeMap::new(), limits, launches: run.limit() };
        for row in summary.gemms.iter().filter(|row| !row.is_inside) {
            decisions.calls(gemm(row), &row.counts, served_by(&row.library, &row.through), row.chosen());
        }
        for row in summary.convolutions.iter().filter(|row| row.is_run()) {
            let by = BTreeSet::from([row.library.clone()]);
            decisions.calls(convolution(row), &row.counts, by, row.chosen());
        }
        summary.columns.iter().for_each(|row| decisions.columns(row));
        for row in summary.families.iter().filter(|row| row.of == Some("ggml") && row.ran + row.captured > 0)
        {
            let Some(family) = row.family.filter(|family| !crate::families::is_product(Some(family))) else {
                continue;
            };
            decisions.add(subject(SubjectKind::GgmlFamily, family, ""), word("launched"), None);
        }
        for row in summary.libraries.iter().filter(|row| row.calls > 0) {
            decisions.add(subject(SubjectKind::Library, &row.library, &row.library), word("called"), None);
        }
        decisions
    }

    /// Returns what this run shows about a subject.
    pub fn observed(&self, subject: &Subject) -> Observed<'_> {
        match self.by_subject.get(subject) {
            Some(Decision { limit: Some(why), .. }) => Observed::Limited(why),
            Some(Decision { choice, .. }) => Observed::Decided(choice),
            None => self.absence(subject).map_or(Observed::NotAsked, Observed::Limited),
        }
    }

    /// Marks every decision as incomplete, because the run was cut short. A library that was called
    /// stays called.
    pub fn limit_all(&mut self, why: &str) {
        self.launches.get_or_insert_with(|| why.to_string());
        for (subject, decision) in &mut self.by_subject {
            if !is_switch(subject.kind) {
                decision.limit.get_or_insert_with(|| why.to_string());
            }
        }
    }

    fn absence(&self, subject: &Subject) -> Option<&str> {
        self.limits.get(&subject.library).or(self.launches.as_ref()).map(String::as_str)
    }

    fn calls(&mut self, subject: Subject, counts: &CallCounts, by: BTreeSet<String>, asked: Option<String>) {
        let launches = |inside: &&crate::Inside| inside.launches + inside.captured > inside.trials;
        let kernels: BTreeSet<String> =
            counts.kernels.iter().filter(launches).map(|inside| inside.kernel.clone()).collect();
        let silent =
            || counts.why.clone().unwrap_or_else(|| "the kernels launched for it are not known".into());
        let limit = (!counts.evidence.is_confirmed()).then(silent);
        if kernels.is_empty() && counts.trials >= counts.calls {
            return; // Trials of a search decide nothing.
        }
        if kernels.is_empty() && counts.failed >= counts.calls {
            // Requested and failed, as opposed to not requested.
            return self.add(subject, word("failed"), limit);
        }
        self.add(subject, Choice { by, asked: asked.into_iter().collect(), kernels }, limit);
    }

    fn columns(&mut self, row: &ColumnsRow) {
        let name = row.demangled.as_deref().unwrap_or(&row.kernel);
        let family = rocshim_trace::family(&row.kernel, row.demangled.as_deref());
        let columns = match row.least == row.most {
            true => format!("{} columns", row.least),
            false => format!("{} to {} columns", row.least, row.most),
        };
        let what = match quantisation(name) {
            Some(number) => format!("{columns}, ggml_type {number}"),
            None => columns,
        };
        let by = family.map(|family| family.name.to_string()).into_iter().collect();
        let choice = Choice { by, asked: BTreeSet::new(), kernels: BTreeSet::from([row.kernel.clone()]) };
        self.add(subject(SubjectKind::GgmlProduct, &what, ""), choice, None);
    }

    /// Adds to what is known about a subject, to which several rows may belong.
    fn add(&mut self, subject: Subject, choice: Choice, limit: Option<String>) {
        // Lost calls may have been decided otherwise; for a library, one call is enough.
        let limit = match is_switch(subject.kind) {
            true => None,
            false => limit.or_else(|| self.absence(&subject).map(str::to_string)),
        };
        let known = self
            .by_subject
            .entry(subject)
            .or_insert_with(|| Decision { choice: Choice::default(), limit: None });
        known.choice.by.extend(choice.by);
        known.choice.asked.extend(choice.asked);
        known.choice.kernels.extend(choice.kernels);
        known.limit = known.limit.take().or(limit);
    }
}

/// Returns true for a subject whose choice one call determines: further calls change nothing.
fn is_switch(kind: SubjectKind) -> bool {
    matches!(kind, SubjectKind::GgmlFamily | SubjectKind::Library)
}

fn subject(kind: SubjectKind, what: &str, library: &str) -> Subject {
    Subject { kind, what: what.into(), library: library.into() }
}

fn word(by: &str) -> Choice {
    Choice { by: BTreeSet::from([by.to_string()]), ..Choice::default() }
}

/// Returns the innermost library: of those called inside, the one nearest to the kernels.
fn served_by(library: &str, through: &BTreeSet<String>) -> BTreeSet<String> {
    const NEAREST: [&str; 2] = ["libhipblaslt.so", "librocblas.so"];
    let nearest = NEAREST.into_iter().find(|nearest| through.contains(*nearest) || library == *nearest);
    BTreeSet::from([nearest.unwrap_or(library).to_string()])
}

/// `rocblas_gemm_ex TN 4096x12x512 batch 3 f16_r in f32_r`, with what is not usual after it.
fn gemm(row: &GemmRow) -> Subject {
    let GemmProblem { batch, types, compute, epilogue, form, .. } = &row.problem;
    let mut what = format!("{} {}", row.function, row.problem.in_short());
    if types.iter().any(|other| other != &types[0]) {
        let types = types[1..].iter().map(|word| word.as_deref().unwrap_or("?"));
        what += &format!(",{}", types.collect::<Vec<_>>().join(","));
    }
    what += &format!(" in {}", compute.as_deref().unwrap_or("?"));
    match batch {
        Some(1) => {}
        Some(batch) => what += &format!(", batch {batch}"),
        None => what += ", batch ?",
    }
    if !matches!(&**form, "plain" | "described") {
        what += &format!(", {form}");
    }
    if let Some(epilogue) = epilogue {
        what += &format!(", {epilogue}");
    }
    subject(SubjectKind::Gemm, &what, &row.library)
}

/// `forward convolution f32 1x64x28x28 by f32 64x64x3x3 to …, pads [1, 1]`, with what is not usual
/// after it.
fn convolution(row: &ConvRow) -> Subject {
    let problem = &row.problem;
    let mut what = format!("{} {} {}", problem.direction, problem.mode, tensor(&problem.x));
    what += &format!(" by {} to {}", tensor(&problem.w), tensor(&problem.y));
    let lists =
        [("pads", &problem.pads, 0), ("strides", &problem.strides, 1), ("dilations", &problem.dilations, 1)];
    for (name, list, usual) in lists {
        if list.iter().any(|value| *value != usual) {
            what += &format!(", {name} {list:?}");
        }
    }
    if problem.groups != 1 {
        what += &format!(", {} groups", problem.groups);
    }
    if !problem.operations.is_empty() {
        what += &format!(", fused with {}", problem.operations.join(", "));
    }
    subject(SubjectKind::Convolution, &what, &row.library)
}

/// `f32 1x64x28x28`, with the strides where the elements are not packed in that order.
fn tensor(tensor: &Option<Tensor>) -> String {
    let Some(tensor) = tensor else { return "?".into() };
    let mut packed = vec![1_i64; tensor.dims.len()];
    for at in (1..tensor.dims.len()).rev() {
        packed[at - 1] = packed[at] * i64::from(tensor.dims[at]);
    }
    let is_packed = tensor.strides.iter().map(|stride| i64::from(*stride)).eq(packed);
    let strides = if is_packed { String::new() } else { format!(" strided {:?}", tensor.strides) };
    format!("{} {}{strides}", tensor.element, tensor.lengths())
}

/// Returns the number of ggml's type among the template arguments: `(ggml_type)2` is q4_0.
fn quantisation(name: &str) -> Option<&str> {
    let (_, rest) = name.split_once("(ggml_type)")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next().filter(|digits| !digits.is_empty())
}

#[cfg(test)]
impl Decisions {
    /// Decisions on GEMMs, given as text and kernel, of a run without losses.
    pub(crate) fn of_kernels<'a>(kernels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Decisions {
        let mut decisions = Decisions::default();
        for (what, kernel) in kernels {
            let choice = Choice { kernels: BTreeSet::from([kernel.to_string()]), ..Choice::default() };
            decisions.add(subject(SubjectKind::Gemm, what, "librocblas.so"), choice, None);
        }
        decisions
    }
}

mod pairs {
    use super::{BTreeMap, Decision, Subject};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        map: &BTreeMap<Subject, Decision>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Subject, Decision>, D::Error> {
        Ok(Vec::<(Subject, Decision)>::deserialize(from)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compared::{conv, ended, gemm, kernel};
    use rocshim_reader::End;

    fn decisions(lines: &[String], end: End) -> Vec<(String, String, bool)> {
        let decisions = Decisions::of(ended("A", &lines.concat(), end).summary);
        let row = |(subject, decision): (&Subject, &Decision)| {
            let Choice { by, asked, kernels } = &decision.choice;
            let words: Vec<&str> = by.iter().chain(asked).chain(kernels).map(String::as_str).collect();
            (subject.what.clone(), words.join(" "), decision.limit.is_some())
        };
        decisions.by_subject.iter().filter(|(subject, _)| !is_switch(subject.kind)).map(row).collect()
    }

    #[test]
    fn a_gemm_and_a_convolution_are_decided_by_what_was_asked_and_what_ran() {
        let failed =
            gemm(300, 7, -1, 1).lines().last().unwrap().replace("\"dur\":100", "\"dur\":100,\"status\":3");
        let lines = [kernel(1, "Cijk_x"), gemm(100, 4, 3, 1), conv(200, 85, "Direct"), failed + "\n"];
        let found = decisions(&lines, End::Footer);
        let [four, seven, direct] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            *four,
            (
                "rocblas_gemm_ex TN 4x5x6 f16_r in f32_r".into(),
                "librocblas.so solution 3 Cijk_x".into(),
                false
            )
        );
        assert_eq!((&*seven.0, &*seven.1), ("rocblas_gemm_ex TN 7x5x6 f16_r in f32_r", "failed"));
        assert_eq!((&*direct.1, direct.2), ("libMIOpen.so 85 Direct", true), "its kernels were not seen");
    }

    #[test]
    fn a_trace_without_an_end_limits_every_decision_and_every_absence() {
        let lines = [kernel(1, "Cijk_x"), gemm(100, 4, 3, 1)];
        assert!(decisions(&lines, End::Cut)[0].2);
        let cut = Decisions::of(ended("A", &lines.concat(), End::Cut).summary);
        let whole = Decisions::of(ended("A", &lines.concat(), End::Footer).summary);
        let other = subject(SubjectKind::Gemm, "rocblas_gemm_ex TN 9x9x9 f16_r in f32_r", "librocblas.so");
        assert!(matches!(cut.observed(&other), Observed::Limited(_)));
        assert_eq!(whole.observed(&other), Observed::NotAsked);
    }

    #[test]
    fn decisions_are_kept_whole_in_json() {
        let lines = [kernel(1, "Cijk_x"), gemm(100, 4, 3, 1)];
        let decisions = Decisions::of(ended("A", &lines.concat(), End::Cut).summary);
        let text = serde_json::to_string(&decisions).unwrap();
        assert_eq!(serde_json::from_str::<Decisions>(&text).unwrap(), decisions);
    }
}
