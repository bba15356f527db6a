//! The result: phases, with the launches, columns and times of each.

use super::PhaseKind;
use super::bound::PhaseGpu;
use super::kernels::{CodeObjectKey, KernelInfo, Registry};
use super::pass::{Launches, Range};
use crate::{
    Evidence, LibraryRow, LossRow, ProcessRow,
    families::is_product,
    session::{FunctionId, Identity, Scope, Session},
    verdict::{PhaseFacts, judge_phase},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// All phases, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phases {
    /// Format of this object: 1.
    pub format: u32,
    /// Earliest epoch of the traces in Unix ns, as a string; all times are ns since it.
    pub epoch: String,
    /// The processes, in the order in which their traces were read.
    pub processes: Vec<ProcessRow>,
    /// Phases in order of time.
    pub phases: Vec<Phase>,
    /// Sums over all phases of a kind (and label), in order of time.
    pub kinds: Vec<Phase>,
    /// Calls of each hooked library over all phases.
    pub libraries: Vec<LibraryRow>,
    /// The same sums by process, in the order of `processes`.
    #[serde(skip)]
    pub libraries_by_process: Vec<Vec<LibraryRow>>,
    /// Lost events by thread and reason.
    pub losses: Vec<LossRow>,
    /// Errors of files that could not be read.
    pub notes: Vec<String>,
    /// Every pass, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<PassRow>,
    /// A summary of every pass, in order of time.
    #[serde(skip)]
    pub(super) steps: Vec<Step>,
    /// Times of every pass, in order, and the processes by number.
    #[serde(skip)]
    pub(super) windows: Vec<Window>,
    #[serde(skip)]
    pub(super) identities: Vec<Identity>,
}

impl Phases {
    /// Returns the scope of the phases with this name; `None` if there is none.
    pub fn scope(&self, name: &str) -> Option<Scope> {
        let windows = self.windows.iter().filter(|window| self.phases[window.phase].name() == name);
        let mut windows = windows
            .map(|window| (self.identities[window.process].clone(), (window.from, window.to)))
            .peekable();
        windows.peek().is_some().then(|| Scope::new(name, windows))
    }

    /// Removes what does not belong to phases with this name: phases, kinds and passes.
    pub fn retain(&mut self, name: &str) {
        let mut numbers: Vec<Option<usize>> = Vec::new();
        for phase in &self.phases {
            let before = numbers.iter().flatten().count();
            numbers.push((phase.name() == name).then_some(before));
        }
        self.phases.retain(|phase| phase.name() == name);
        self.kinds.retain(|kind| kind.name() == name);
        self.passes.retain(|pass| numbers[pass.phase].is_some());
        self.passes.iter_mut().for_each(|pass| pass.phase = numbers[pass.phase].unwrap_or(0));
        self.steps.clear();
        self.windows.clear();
    }

    /// Times of every pass, in order.
    pub fn moments(&self) -> impl Iterator<Item = PassTime> {
        self.windows.iter().map(|window| {
            let epoch: u64 = self.identities[window.process].2.parse().unwrap_or(0);
            let Window { process, phase, columns, .. } = *window;
            PassTime { process, phase, columns, begin: epoch + window.begin, end: epoch + window.to }
        })
    }

    /// Returns the names of the phases, in order of time.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.phases.iter().map(Phase::name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// Time of a pass: after `from` and up to `to`, in ns since the process's epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// Numbers of its process and its phase.
    pub(super) process: usize,
    pub(super) phase: usize,
    pub(super) from: u64,
    pub(super) to: u64,
    /// Entry of its first launch, in the same ns.
    pub(super) begin: u64,
    /// Columns of most of its GEMMs: minimum and maximum.
    pub(super) columns: Option<[u64; 2]>,
}

/// A summary of a pass, for pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// Index of its phase in `phases`.
    pub(super) phase: usize,
    /// In ns since the overall epoch.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) columns: Option<Range>,
}

/// Time of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassTime {
    /// Number of its process.
    pub process: usize,
    /// Number of its phase.
    pub phase: usize,
    /// Columns of most of its GEMMs: minimum and maximum.
    pub columns: Option<[u64; 2]>,
    /// Entry of its first launch, in Unix ns.
    pub begin: u64,
    /// Its end, in Unix ns.
    pub end: u64,
}

/// A phase: passes of a kind in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// What its passes do.
    pub kind: PhaseKind,
    /// Label of the program or the user.
    pub label: Option<String>,
    /// The process; absent when there are several.
    pub pid: Option<u32>,
    /// The number of its model stream group in its process, from 0.
    #[serde(rename = "lane")]
    pub stream_group: usize,
    /// The number of its request in its stream group; absent when unknown.
    pub request: Option<u64>,
    /// How certain `kind` is.
    pub evidence: Evidence,
    /// The rule, or why it is unresolved.
    pub why: &'static str,
    /// Number of passes.
    pub passes: u64,
    /// Columns (ne11) of its GEMMs, by passes.
    pub columns: Vec<ColumnsOf>,
    /// Sum of the columns of all passes, if all are known.
    pub tokens: Option<u64>,
    /// Entry of the first launch, ns since the epoch.
    pub begin_ns: u64,
    /// Return of the last call, ns since the epoch.
    pub end_ns: u64,
    /// Host time in calls that do not wait, in ns.
    pub host_ns: u64,
    /// Host time in calls that wait, in ns.
    pub wait_ns: u64,
    /// Sum of the times between passes, in ns.
    pub between_ns: u64,
    /// Executed kernels: by launch calls and by graphs.
    pub launches: u64,
    /// Kernels that graphs executed.
    pub by_graphs: u64,
    /// `launches` per token.
    pub launches_per_token: Option<f64>,
    /// Failed launches.
    pub failed: u64,
    /// Graph launches and launches with unknown kernels.
    pub unlisted: u64,
    /// Executed GEMMs with unknown columns.
    pub opaque: u64,
    /// Events lost in it.
    pub lost: u64,
    /// Its GPU time; absent when GPU times were not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<PhaseGpu>,
    /// Launches by kernel family, most first.
    pub families: Vec<PhaseFamily>,
    /// Kernels by name; in `kinds` only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<PhaseKernel>,
    /// Launches by code object, most first.
    pub code_objects: Vec<PhaseObject>,
    /// Calls of each hooked library.
    pub libraries: Vec<Usage>,
}

impl Phase {
    /// Returns its name.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.kind.name())
    }
}

/// Passes with the same number of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnsOf {
    pub least: u64,
    pub most: u64,
    pub passes: u64,
}

/// Launches of a family of kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseFamily {
    /// Absent for kernels whose names match no family.
    pub family: Option<&'static str>,
    /// The library of the family, or its origin: `ggml`, `Tensile`, …
    pub of: Option<&'static str>,
    /// Executed kernels of the family.
    pub launches: u64,
    /// Kernels that graphs executed.
    pub by_graphs: u64,
}

/// Launches of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseKernel {
    pub name: String,
    pub demangled: Option<String>,
    pub family: Option<&'static str>,
    pub launches: u64,
    pub by_graphs: u64,
}

/// Launches of the kernels of a code object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhaseObject {
    /// `fat_binary`, `file` or `memory`; absent when unknown.
    pub source: Option<String>,
    /// The file that the object came from; absent for images from memory.
    pub path: Option<String>,
    /// Of a fat binary: its ordinal in the file.
    pub ordinal: Option<u32>,
    /// GPU target of the launched kernels.
    pub target: Option<String>,
    /// The library file with the same bytes as an image from memory.
    pub file: Option<String>,
    /// Executed kernels of the object.
    pub launches: u64,
}

/// Calls of a library within a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Usage {
    pub library: String,
    /// Calls whose work was done in the phase: made in it, or captured earlier into a graph that
    /// was launched in it.
    pub calls: u64,
    /// The captured ones of these.
    pub by_graphs: u64,
    /// Launches of kernels of its own code objects.
    pub launches: u64,
    /// `confirmed` when there are calls or launches; otherwise the meaning of their absence.
    pub evidence: Evidence,
    pub functions: BTreeMap<String, u64>,
}

/// A pass: one run of a model over its layers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassRow {
    /// Its process.
    pub pid: u32,
    /// The number of its model stream group in its process, from 0.
    #[serde(rename = "lane")]
    pub stream_group: usize,
    /// Index of its phase in `phases`.
    pub phase: usize,
    /// What the pass does.
    pub kind: PhaseKind,
    /// The name of its phase.
    #[serde(skip)]
    pub name: String,
    /// How certain `kind` is.
    pub evidence: Evidence,
    /// Columns (ne11) of most of its GEMMs; absent where they are not known.
    pub columns: Option<ColumnsOf>,
    /// Columns of the last GEMM.
    pub outputs: Option<u64>,
    /// Entry of its first launch, ns since the epoch.
    pub begin_ns: u64,
    /// Return of its last call, ns since the epoch.
    pub end_ns: u64,
    /// Host time in calls that do not wait.
    pub host_ns: u64,
    /// Host time in calls that wait.
    pub wait_ns: u64,
    /// Time from the end of the pass before it.
    pub between_ns: u64,
    /// Executed kernels: by launch calls and by graphs.
    pub launches: u64,
    /// Launches by kernel family, most first.
    pub families: Vec<PhaseFamily>,
    /// Code objects of its GEMMs.
    pub code_objects: Vec<PhaseObject>,
    /// Graph launches and launches with unknown kernels.
    pub unlisted: u64,
    /// GEMMs with unknown columns.
    pub opaque: u64,
    /// GEMMs whose weights an earlier GEMM of the pass had.
    pub repeated: u64,
    /// Failed launches.
    pub failed: u64,
    /// Events lost in it.
    pub lost: u64,
    /// Its GPU time; absent when GPU times were not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<PhaseGpu>,
}

impl PhaseFamily {
    /// Returns true for the families that show the kernel path: GEMMs.
    pub fn is_product(&self) -> bool {
        is_product(self.family)
    }
}

pub(super) fn row(kernel: &KernelInfo, launches: Launches) -> PhaseKernel {
    PhaseKernel {
        name: kernel.name.clone(),
        demangled: kernel.demangled.clone(),
        family: kernel.family.map(|family| family.name),
        launches: launches.all(),
        by_graphs: launches.by_graphs,
    }
}

/// Returns launches by family, largest first.
pub(super) fn families(names: &Registry, kernels: &[(usize, Launches)]) -> Vec<PhaseFamily> {
    let mut sums: BTreeMap<(Option<&'static str>, Option<&'static str>), Launches> = BTreeMap::new();
    for (kernel, launches) in kernels {
        let family = names.kernels.get(*kernel).family;
        let key = (family.map(|family| family.of), family.map(|family| family.name));
        sums.entry(key).or_default().add(*launches, 1);
    }
    let row = |((of, family), l): ((_, _), Launches)| PhaseFamily {
        family,
        of,
        launches: l.all(),
        by_graphs: l.by_graphs,
    };
    let mut rows: Vec<PhaseFamily> = sums.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.launches));
    rows
}

/// Returns launches by code object, largest first.
pub(super) fn objects(names: &Registry, kernels: &[(usize, Launches)]) -> Vec<PhaseObject> {
    let mut sums = BTreeMap::new();
    for (kernel, launches) in kernels {
        *sums.entry(names.kernels.get(*kernel).owner.clone()).or_default() += launches.all();
    }
    let row = |(owner, launches)| match owner {
        Some(CodeObjectKey { source, path, ordinal, target, file }) => {
            PhaseObject { source: Some(source), path, ordinal, target, file, launches }
        }
        None => PhaseObject { launches, ..PhaseObject::default() },
    };
    let mut rows: Vec<PhaseObject> = sums.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.launches));
    rows
}

/// Returns what is known of a library in a phase, before its calls are counted.
fn facts_of(library: &LibraryRow, phase: &Phase, launches: u64) -> PhaseFacts {
    PhaseFacts {
        calls: 0,
        launches,
        unknown: phase.lost + phase.unlisted + phase.opaque,
        silent: library.has_silent_calls,
        missed: library.may_miss,
    }
}

/// Returns calls by library: for those called in the phase, and the meaning of the others' absence.
pub(super) fn usage(
    (names, session): (&Registry, &Session),
    functions: &BTreeMap<FunctionId, Launches>,
    kernels: &[(usize, Launches)],
    libraries: &[LibraryRow],
    phase: &Phase,
) -> Vec<Usage> {
    let mut rows: BTreeMap<&str, Usage> = BTreeMap::new();
    for library in libraries {
        let of_it = |owner: &&CodeObjectKey| owner.is_of(&library.library);
        let is_its = |kernel: &usize| names.kernels.get(*kernel).owner.as_ref().filter(of_it).is_some();
        let launches = kernels.iter().filter(|(kernel, _)| is_its(kernel)).map(|(_, l)| l.all()).sum();
        let facts = facts_of(library, phase, launches);
        let evidence = judge_phase(library.evidence, facts);
        let name = library.library.clone();
        let new =
            Usage { library: name, calls: 0, by_graphs: 0, launches, evidence, functions: BTreeMap::new() };
        rows.insert(&library.library, new);
    }
    for (function, calls) in functions {
        let function = session.function(*function);
        if let Some(row) = rows.get_mut(&*function.library) {
            row.calls += calls.all();
            row.by_graphs += calls.by_graphs;
            row.evidence =
                judge_phase(row.evidence, PhaseFacts { calls: row.calls, ..PhaseFacts::default() });
            *row.functions.entry(function.name.to_string()).or_default() += calls.all();
        }
    }
    let mut rows: Vec<Usage> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.calls));
    rows
}
