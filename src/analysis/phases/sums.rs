//! Groups passes into phases, and sums them.

use super::{
    Phase, PhaseKind, Phases, PhasesBuilder, ProcessKind,
    bound::GpuSum,
    kernels::Registry,
    kinds::judge,
    pass::{Content, Launches, Pass, Range},
    rows::{ColumnsOf, PassRow, Step, Window, families, objects, row, usage},
};
use crate::{
    Evidence, LibraryRow, Summary,
    families::is_product,
    interner::Interner,
    session::{FunctionId, Session},
};
use std::collections::BTreeMap;

type Contents = Interner<Content, Content>;

/// A phase under construction.
struct Sum {
    phase: Phase,
    /// The label; `None` when there are several.
    process: Option<usize>,
    contents: BTreeMap<usize, u64>,
    gpu: GpuSum,
    all_known: bool,
}

/// Identity of a phase: passes of a kind in a row or, if the program names its parts or trains, all
/// of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    process: usize,
    stream_group: usize,
    kind: PhaseKind,
    label: Option<usize>,
    /// Sequences of a decode phase.
    sequences: u64,
    request: Option<u64>,
}

impl PhasesBuilder {
    /// Returns the phases of a reading that has ended, of which this is the summary; with every
    /// pass where `all_passes`.
    pub fn finish(self, session: &Session, summary: &Summary, all_passes: bool) -> Phases {
        let PhasesBuilder { names, contents, processes, mut passes, epoch, .. } = self;
        let epoch = epoch.unwrap_or(0);
        passes.sort_by_key(|pass| pass.begin);
        let mut groups = Groups::default();
        let (mut visits, mut windows, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for pass in &mut passes {
            let ProcessKind { pid, trains, is_language_model, .. } = processes[pass.process];
            let label = pass.label.map(|label| names.labels.get(label));
            let judged = judge(pass, trains, is_language_model, label.is_some_and(|(_, by_time)| *by_time));
            pass.kind = judged.0;
            let new = |key: &Key| Sum::new(key, pid, judged, label.map(|(name, _)| name.clone()));
            let key = groups.key(pass);
            let number = groups.phase(&key, trains || label.is_some(), new);
            let epochs = (processes[pass.process].epoch, epoch);
            groups.phases[number].add(pass, judged.1, epochs);
            groups.kind(&key, pid, new).add(pass, judged.1, epochs);
            windows.push(window(pass, number, processes[pass.process].epoch));
            steps.push(step(pass, number, epoch));
            if all_passes {
                visits.push(visit(pass, pid, (number, &groups.phases[number].phase), judged.1, epoch));
            }
        }
        for (visit, pass) in visits.iter_mut().zip(&passes) {
            let kernels = &contents.get(pass.content).kernels;
            visit.families = families(&names, kernels);
            let products = kernels.iter().filter(|(kernel, _)| {
                is_product(names.kernels.get(*kernel).family.map(|family| family.name))
            });
            visit.code_objects = objects(&names, &products.copied().collect::<Vec<_>>());
            visit.launches = visit.families.iter().map(|family| family.launches).sum();
            visit.gpu = gpu(pass, processes[pass.process].epoch)
                .finish((visit.launches, pass.lost, pass.unlisted), None);
        }
        let finish = |sum: Sum, kernels| {
            let own = sum.process.and_then(|process| summary.libraries_by_process.get(process));
            let libraries = own.unwrap_or(&summary.libraries);
            sum.finish((&names, session), &contents, libraries, kernels)
        };
        let mut kinds: Vec<Phase> = groups.kinds.into_values().map(|sum| finish(sum, true)).collect();
        kinds.sort_by_key(|phase| phase.begin_ns);
        Phases {
            format: 1,
            epoch: epoch.to_string(),
            phases: groups.phases.into_iter().map(|sum| finish(sum, false)).collect(),
            kinds,
            processes: summary.processes.clone(),
            libraries: summary.libraries.clone(),
            libraries_by_process: summary.libraries_by_process.clone(),
            losses: summary.losses.clone(),
            notes: summary.notes.clone(),
            passes: visits,
            steps,
            windows,
            identities: processes.into_iter().map(|process| process.identity).collect(),
        }
    }
}

/// The row of a pass, before its kernels are counted.
fn visit(pass: &Pass, pid: u32, (phase, of): (usize, &Phase), evidence: Evidence, epoch: u64) -> PassRow {
    let columns = pass.columns.map(|Range { least, most }| ColumnsOf { least, most, passes: 1 });
    PassRow {
        pid,
        stream_group: pass.stream_group,
        phase,
        kind: pass.kind,
        name: of.name().to_owned(),
        evidence,
        columns,
        outputs: pass.outputs.map(|outputs| outputs.most),
        begin_ns: pass.begin.saturating_sub(epoch),
        end_ns: pass.end.saturating_sub(epoch),
        host_ns: pass.host,
        wait_ns: pass.wait,
        between_ns: pass.before,
        launches: 0,
        families: Vec::new(),
        code_objects: Vec::new(),
        unlisted: pass.unlisted,
        opaque: pass.opaque,
        repeated: pass.repeated,
        failed: pass.failed,
        lost: pass.lost,
        gpu: None,
    }
}

/// The GPU times of a pass alone.
fn gpu(pass: &Pass, epoch: u64) -> GpuSum {
    let mut sum = GpuSum::default();
    if let Some(known) = &pass.gpu {
        sum.add(&known.0, known.1, pass.begin, epoch);
    }
    sum
}

fn step(pass: &Pass, phase: usize, epoch: u64) -> Step {
    let since = |t: u64| t.saturating_sub(epoch);
    Step { phase, begin: since(pass.begin), end: since(pass.end), columns: pass.columns }
}

/// The time of a pass, and of the pause before it in its stream group; calls for its first launch.
fn window(pass: &Pass, phase: usize, epoch: u64) -> Window {
    let since = |t: u64| t.saturating_sub(epoch);
    Window {
        process: pass.process,
        phase,
        from: since(pass.begin - pass.before),
        to: since(pass.end),
        begin: since(pass.begin),
        columns: pass.columns.map(|Range { least, most }| [least, most]),
    }
}

/// Builder that assigns passes to phases.
#[derive(Default)]
struct Groups {
    phases: Vec<Sum>,
    kinds: BTreeMap<(PhaseKind, Option<usize>), Sum>,
    /// Last phase of each stream group.
    last: BTreeMap<(usize, usize), (Key, usize)>,
    /// Phases that all passes with the same key belong to.
    together: BTreeMap<Key, usize>,
    requests: BTreeMap<(usize, usize), Requests>,
}

impl Groups {
    fn key(&mut self, pass: &Pass) -> Key {
        let (process, stream_group, kind) = (pass.process, pass.stream_group, pass.kind);
        let request = self.requests.entry((process, stream_group)).or_default().of(pass);
        let sequences =
            if kind == PhaseKind::Decode { pass.columns.map_or(0, |columns| columns.most) } else { 0 };
        Key { process, stream_group, kind, label: pass.label, sequences, request }
    }

    /// Returns the number of a pass's phase: that of the previous pass if they are alike, or with
    /// `together` of any.
    fn phase(&mut self, key: &Key, together: bool, new: impl Fn(&Key) -> Sum) -> usize {
        let place = (key.process, key.stream_group);
        let known = match together {
            true => self.together.get(key).copied(),
            false => self.last.get(&place).filter(|(last, _)| last == key).map(|(_, number)| *number),
        };
        let number = known.unwrap_or_else(|| {
            self.phases.push(new(key));
            self.phases.len() - 1
        });
        if together {
            self.together.insert(key.clone(), number);
        }
        self.last.insert(place, (key.clone(), number));
        number
    }

    /// Sums of all passes of a kind and label.
    fn kind(&mut self, key: &Key, pid: u32, new: impl Fn(&Key) -> Sum) -> &mut Sum {
        let sum = self.kinds.entry((key.kind, key.label)).or_insert_with(|| new(key));
        sum.phase.pid = sum.phase.pid.filter(|known| *known == pid);
        sum.process = sum.process.filter(|known| *known == key.process);
        sum.phase.request = None;
        sum
    }
}

/// Requests of a stream group: one begins with a prompt, whose chunks follow each other.
#[derive(Default)]
struct Requests {
    number: u64,
    /// Columns of the last pass, if it was a prompt's chunk after which another can come.
    chunk: Option<u64>,
}

/// Programs use a multiple of this as the size of a chunk.
const CHUNK: u64 = 32;

impl Requests {
    /// Returns the request of a pass; `None` if it has none, or several at once. A chunk that
    /// delivers nothing is part of a longer prompt. One that delivers is, if it has the maximum
    /// size and the next is not larger.
    fn of(&mut self, pass: &Pass) -> Option<u64> {
        let columns = pass.columns.map_or(0, |columns| columns.most);
        match pass.kind {
            PhaseKind::Prompt => {
                let goes_on = self.chunk.is_some_and(|chunk| columns <= chunk);
                self.number += u64::from(!goes_on);
                let is_chunk = !pass.delivered || columns.is_multiple_of(CHUNK);
                self.chunk = is_chunk.then_some(if pass.delivered { columns } else { u64::MAX });
                Some(self.number)
            }
            PhaseKind::Decode if columns == 1 && self.number > 0 => {
                self.chunk = None;
                Some(self.number)
            }
            _ => {
                self.chunk = None;
                None
            }
        }
    }
}

impl Sum {
    fn new(
        key: &Key,
        pid: u32,
        (kind, evidence, why): (PhaseKind, Evidence, &'static str),
        label: Option<String>,
    ) -> Sum {
        let phase = Phase {
            kind,
            label,
            pid: Some(pid),
            stream_group: key.stream_group,
            request: key.request,
            evidence,
            why,
            passes: 0,
            columns: Vec::new(),
            tokens: None,
            begin_ns: u64::MAX,
            end_ns: 0,
            host_ns: 0,
            wait_ns: 0,
            between_ns: 0,
            launches: 0,
            by_graphs: 0,
            launches_per_token: None,
            failed: 0,
            unlisted: 0,
            opaque: 0,
            lost: 0,
            gpu: None,
            families: Vec::new(),
            kernels: Vec::new(),
            code_objects: Vec::new(),
            libraries: Vec::new(),
        };
        Sum {
            phase,
            process: Some(key.process),
            contents: BTreeMap::new(),
            gpu: GpuSum::default(),
            all_known: true,
        }
    }

    /// Adds a pass of a process with the first epoch; the second is the overall epoch.
    fn add(&mut self, pass: &Pass, evidence: Evidence, (of_process, epoch): (u64, u64)) {
        if let Some(known) = &pass.gpu {
            self.gpu.add(&known.0, known.1, pass.begin, of_process);
        }
        let phase = &mut self.phase;
        phase.passes += 1;
        // Its evidence is that of its least certain pass.
        if evidence == Evidence::Limited {
            phase.evidence = evidence;
        }
        match pass.columns {
            Some(Range { least, most }) => {
                match phase.columns.iter_mut().find(|known| (known.least, known.most) == (least, most)) {
                    Some(known) => known.passes += 1,
                    None => phase.columns.push(ColumnsOf { least, most, passes: 1 }),
                }
                self.all_known &= least == most;
            }
            None => self.all_known = false,
        }
        phase.begin_ns = phase.begin_ns.min(pass.begin.saturating_sub(epoch));
        phase.end_ns = phase.end_ns.max(pass.end.saturating_sub(epoch));
        phase.host_ns += pass.host;
        phase.wait_ns += pass.wait;
        // The time before its first pass is not part of it.
        phase.between_ns += if phase.passes > 1 { pass.before } else { 0 };
        phase.failed += pass.failed;
        phase.unlisted += pass.unlisted;
        phase.opaque += pass.opaque;
        phase.lost += pass.lost;
        *self.contents.entry(pass.content).or_default() += 1;
    }

    /// Returns the phase; with its `kernels` by name.
    fn finish(
        self,
        (names, session): (&Registry, &Session),
        contents: &Contents,
        libraries: &[LibraryRow],
        by_name: bool,
    ) -> Phase {
        let mut phase = self.phase;
        let mut kernels: BTreeMap<usize, Launches> = BTreeMap::new();
        let mut functions: BTreeMap<FunctionId, Launches> = BTreeMap::new();
        for (content, times) in &self.contents {
            let content = contents.get(*content);
            content
                .kernels
                .iter()
                .for_each(|(kernel, l)| kernels.entry(*kernel).or_default().add(*l, *times));
            content
                .functions
                .iter()
                .for_each(|(f, calls)| functions.entry(*f).or_default().add(*calls, *times));
        }
        let kernels: Vec<(usize, Launches)> = kernels.into_iter().collect();
        phase.launches = kernels.iter().map(|(_, launches)| launches.all()).sum();
        phase.by_graphs = kernels.iter().map(|(_, launches)| launches.by_graphs).sum();
        let tokens: u64 = phase.columns.iter().map(|columns| columns.most * columns.passes).sum();
        phase.tokens = (self.all_known
            && matches!(phase.kind, PhaseKind::Prompt | PhaseKind::Decode | PhaseKind::WarmUp))
        .then_some(tokens);
        phase.launches_per_token =
            phase.tokens.filter(|tokens| *tokens > 0).map(|t| phase.launches as f64 / t as f64);
        phase.gpu = self.gpu.finish((phase.launches, phase.lost, phase.unlisted), phase.tokens);
        phase.families = families(names, &kernels);
        phase.code_objects = objects(names, &kernels);
        if by_name {
            phase.kernels = kernels.iter().map(|(kernel, l)| row(names.kernels.get(*kernel), *l)).collect();
            phase.kernels.sort_by_key(|row| std::cmp::Reverse(row.launches));
        }
        phase.libraries = usage((names, session), &functions, &kernels, libraries, &phase);
        phase
    }
}
