//! The tables of phases: how each is described, and the rows that are made of others.

use super::{ColumnsOf, PassRow, Phase, PhaseFamily, PhaseGpu, PhaseKind, PhaseObject, Phases};
use crate::{
    Evidence, names,
    table::Cell,
    units::{count, range},
};
use rocshim_trace::file_name;
use std::collections::BTreeMap;

crate::table! {
    /// Phases in order of time; also sums over all phases of a kind.
    PHASES: Phase = "phases", "Phases, in order of time (host time)", "passes of a kind in a row";
    |row|
    time("begin_ns", "begin", "entry of the first launch").no_sum() => row.begin_ns;
    number("pid", "process", "the process; absent when there are several").if_differs() => row.pid;
    number("lane", "group", "number of its model stream group in the process").if_any().optional()
        => row.stream_group;
    number("request", "request", "number of its request in the stream group") => row.request;
    words("kind", "phase", "what its passes do, or the label of the program") => row.name();
    evidence("evidence", "evidence", "how certain that is") => row.evidence;
    count("passes", "passes", "runs of the model") => row.passes;
    words("columns", "ne11", "columns of its GEMMs, by passes") => columns(&row.columns);
    count("tokens", "tokens", "columns of all passes, if all are known") => row.tokens;
    count("launches", "launches", "executed kernels: by launch calls and by graphs").optional()
        => row.launches;
    number("launches_per_token", "a token", "launches for a token").optional()
        => row.launches_per_token;
    time("host_ns", "host", "host time in calls that do not wait").optional() => row.host_ns;
    time("wait_ns", "waits", "host time in calls that wait").optional() => row.wait_ns;
    time("between_ns", "between", "from the end of a pass to the next").optional() => row.between_ns;
    sentence("families", "families", "launches of GEMM and attention kernels, by family")
        => in_short(&row.families);
}

crate::table! {
    /// Phases whose times on the GPU are known.
    GPU_PHASES: Phase = "gpu_phases", "Time on the GPU (as the HIP runtime reported it)",
        "a phase on the GPU, each pass from the entry of its first launch to the end of its last command";
    |row|
    time("begin_ns", "begin", "entry of the first launch").no_sum() => row.begin_ns;
    number("request", "request", "number of its request in the stream group") => row.request;
    words("kind", "phase", "what its passes do, or the label of the program") => row.name();
    evidence("gpu.evidence", "evidence", "confirmed if every kernel that it executed was reported")
        => of_gpu(row, |gpu| gpu.evidence);
    time("gpu.busy_ns", "busy", "while a command ran") => of_gpu(row, |gpu| gpu.busy_ns);
    share("share", "share", "busy, of the time of the passes").optional().derived()
        => of_gpu(row, |gpu| gpu.busy_ns as f64 / gpu.elapsed_ns.max(1) as f64);
    time("gpu.not_launched_ns", "not launched", "while none ran, and the next was not launched")
        => of_gpu(row, |gpu| gpu.not_launched_ns);
    time("gpu.held_ns", "held", "while none ran, although the next was launched")
        => of_gpu(row, |gpu| gpu.held_ns);
    time("gpu.span_ns", "first token", "of a prompt: to the end of its last command").optional().no_sum()
        => of_gpu(row, |gpu| gpu.span_ns).filter(|_| row.kind == PhaseKind::Prompt && row.request.is_some());
    time("gpu.busy_per_token_ns", "busy a token", "busy, for a token").optional().no_sum()
        => of_gpu(row, |gpu| gpu.busy_per_token_ns);
    time("gpu.elapsed_per_token_ns", "elapsed a token", "time of the passes, for a token").optional().no_sum()
        => of_gpu(row, |gpu| gpu.elapsed_per_token_ns);
    words("gpu.bound_why", "why", "the rule by which it is bound so, or what does not hold").on_page()
        => of_gpu(row, |gpu| gpu.bound_why);
    sentence("gpu.bound", "bound by", "what it waits for most") => of_gpu(row, bound);
}

crate::table! {
    /// Passes in order of time.
    PASSES: PassRow = "passes", "Passes, in time", "one run of a model over its layers";
    |row|
    time("begin_ns", "begin", "entry of the first launch").no_sum() => row.begin_ns;
    number("pid", "process", "the process").optional() => row.pid;
    words("kind", "phase", "what it does, or the label of the program") => &row.name;
    number("columns", "ne11", "columns of most of its GEMMs")
        => row.columns.map(|all| range(all.least, all.most));
    number("outputs", "outputs", "columns of the last GEMM") => row.outputs;
    count("launches", "launches", "executed kernels: by launch calls and by graphs") => row.launches;
    time("host_ns", "host", "host time in calls that do not wait").optional() => row.host_ns;
    time("wait_ns", "waits", "host time in calls that wait").optional() => row.wait_ns;
    time("between_ns", "before", "from the end of the pass before it").optional() => row.between_ns;
    sentence("families", "families", "launches, by family") => launches(&row.families);
}

/// Something in the phases of each kind.
#[derive(Clone, Debug, PartialEq)]
pub struct KindsRow {
    /// Its name.
    pub name: String,
    /// What each kind has of it.
    pub values: Vec<Cell>,
}

crate::table! {
    /// Launches of each family in each kind of phase.
    FAMILIES_BY_KIND: KindsRow = "kinds.families", "Launches by family", "a family of kernels";
    |row|
    count[each kind]("RUN", "", "launches in each kind of phase").derived() => row.values[kind].clone();
    sentence("family", "family", "what the kernels do, and whose they are").derived() => &row.name;
}

crate::table! {
    /// Calls of each library in each kind of phase.
    LIBRARIES_BY_KIND: KindsRow = "kinds.libraries", "Calls of libraries", "a hooked library";
    |row|
    count[each kind]("RUN", "", "calls in each kind of phase").derived() => row.values[kind].clone();
    words("library", "library", "the library").derived() => &row.name;
}

crate::table! {
    /// Launches of each code object in each kind of phase.
    OBJECTS_BY_KIND: KindsRow = "kinds.code_objects", "Launches by code object", "a code object";
    |row|
    count[each kind]("RUN", "", "launches in each kind of phase").derived() => row.values[kind].clone();
    words("object", "code object", "its file, bundle and target").derived() => &row.name;
}

crate::table! {
    /// Time on the GPU of each family in each kind of phase.
    GPU_FAMILIES_BY_KIND: KindsRow = "kinds.gpu.families", "Time on the GPU by family",
        "a family of kernels";
    |row|
    time[each kind]("RUN", "", "time of its kernels in each kind of phase").derived()
        => row.values[kind].clone();
    sentence("family", "family", "what the kernels do").derived() => &row.name;
}

/// A rule by which phases were classified.
#[derive(Clone, Debug, PartialEq)]
pub struct KindRule {
    /// What it found.
    pub kind: &'static str,
    /// How certain that is.
    pub evidence: Evidence,
    /// The passes of these phases.
    pub passes: u64,
    /// The rule, or why it is unresolved.
    pub why: &'static str,
}

crate::table! {
    /// Why each phase was classified so.
    KIND_RULES: KindRule = "kind_rules", "Why each phase was classified so",
        "a rule by which phases were classified";
    |row|
    words("kind", "phase", "the kind of the phases").derived() => row.kind;
    evidence("evidence", "evidence", "how certain that is").derived() => row.evidence;
    count("passes", "passes", "passes of these phases").derived() => row.passes;
    sentence("why", "why", "the rule, or why it is unresolved").derived() => row.why;
}

impl Phases {
    /// The rules by which phases were classified, by kind.
    pub fn kind_rules(&self) -> Vec<KindRule> {
        let mut rules: BTreeMap<(&str, &str), KindRule> = BTreeMap::new();
        for Phase { kind, evidence, why, passes, .. } in &self.phases {
            let new = KindRule { kind: kind.name(), evidence: *evidence, passes: 0, why };
            rules.entry((kind.name(), why)).or_insert(new).passes += passes;
        }
        rules.into_values().collect()
    }

    /// Launches by family, for each kind.
    pub fn families_by_kind(&self) -> Vec<KindsRow> {
        let row = |row: &PhaseFamily| ((row.of, row.family), row.launches.into());
        self.by_kind(|kind| kind.families.iter().map(row).collect(), |(of, name)| names::family(of, name))
    }

    /// Calls of the libraries that any phase called, for each kind; an absence with its evidence.
    pub fn libraries_by_kind(&self) -> Vec<KindsRow> {
        let mut libraries = self.kinds.iter().flat_map(|kind| &kind.libraries);
        let called: Vec<&str> =
            libraries.by_ref().filter(|row| row.calls > 0).map(|row| &*row.library).collect();
        let rows = |kind: &Phase| {
            let rows = kind.libraries.iter().filter(|row| called.contains(&&*row.library));
            rows.map(|row| match row.calls {
                0 => (row.library.clone(), format!("0 {}", row.evidence).into()),
                calls => (row.library.clone(), calls.into()),
            })
            .collect()
        };
        self.by_kind(rows, |name| name)
    }

    /// Launches by code object, for each kind.
    pub fn objects_by_kind(&self) -> Vec<KindsRow> {
        let row = |row: &PhaseObject| (row.words(), row.launches.into());
        self.by_kind(|kind| kind.code_objects.iter().map(row).collect(), |name| name)
    }

    /// Time on the GPU by family, for each kind.
    pub fn gpu_families_by_kind(&self) -> Vec<KindsRow> {
        let rows = |kind: &Phase| {
            let rows = kind.gpu.iter().flat_map(|gpu| &gpu.families);
            rows.map(|row| (row.family, row.total_ns.into())).collect()
        };
        self.by_kind(rows, |family| family.unwrap_or("unresolved: no known family").to_owned())
    }

    fn by_kind<K: Ord>(
        &self,
        rows: impl Fn(&Phase) -> Vec<(K, Cell)>,
        name: impl Fn(K) -> String,
    ) -> Vec<KindsRow> {
        let mut values: BTreeMap<K, Vec<Cell>> = BTreeMap::new();
        for (at, kind) in self.kinds.iter().enumerate() {
            for (key, cell) in rows(kind) {
                values.entry(key).or_insert_with(|| vec![0_u64.into(); self.kinds.len()])[at] = cell;
            }
        }
        values.into_iter().map(|(key, values)| KindsRow { name: name(key), values }).collect()
    }
}

impl PhaseObject {
    /// `libggml-hip.so bundle 30 gfx1100`.
    fn words(&self) -> String {
        let file = self.file.as_deref().or(self.path.as_deref()).unwrap_or(match self.source.as_deref() {
            Some("memory") => "from memory",
            _ => "unresolved: its code object is not known",
        });
        let ordinal = self.ordinal.map_or(String::new(), |ordinal| format!(" bundle {ordinal}"));
        let target = self.target.as_deref().map_or(String::new(), |target| format!(" {target}"));
        format!("{}{ordinal}{target}", file_name(file))
    }
}

/// `46`, `1..8`, `512 x3, 276`.
fn columns(all: &[ColumnsOf]) -> Cell {
    let one = |columns: &ColumnsOf| {
        let range = range(columns.least, columns.most);
        match columns.passes {
            passes if passes > 1 && all.len() > 1 => format!("{range} x{passes}"),
            _ => range,
        }
    };
    match all.len() {
        0 => Cell::Absent,
        1..=4 => all.iter().map(one).collect::<Vec<_>>().join(", ").into(),
        more => {
            let first = all.iter().take(3).map(one).collect::<Vec<_>>().join(", ");
            format!("{first}, … ({more})").into()
        }
    }
}

/// The families that show the path: GEMMs and attention.
fn in_short(families: &[PhaseFamily]) -> String {
    let shows_path = |row: &&PhaseFamily| {
        row.is_product() || row.family.is_some_and(|family| family.ends_with("attention"))
    };
    match launches(families.iter().filter(shows_path)) {
        none if none.is_empty() => "no GEMM".into(),
        some => some,
    }
}

/// `mmvq 3, norm 1`.
fn launches<'a>(families: impl IntoIterator<Item = &'a PhaseFamily>) -> String {
    let one = |row: &PhaseFamily| format!("{} {}", row.family.unwrap_or("unresolved"), count(row.launches));
    families.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

fn of_gpu<T>(phase: &Phase, of: impl FnOnce(&PhaseGpu) -> T) -> Option<T> {
    phase.gpu.as_ref().map(of)
}

fn bound(gpu: &PhaseGpu) -> String {
    match gpu.bound {
        Some(bound) if gpu.bound_evidence == Evidence::Inferred => bound.to_string(),
        _ => gpu.bound_evidence.to_string(),
    }
}
