//! Rows other than calls: ranges, losses, pauses, and at the end phases, passes, processes,
//! coverage.

use super::{
    Column, TrackProcess,
    row::{Arrows, Cell, Track, TrackKind, TrackRow},
    slots::Slots,
    table::{Table, TableId, address, flag, integer, text},
};
use crate::{Evidence, LibraryRow, Phase, ProcessRow, phases::PassTime};
use rocshim_trace::{Gap, Word};

pub(super) const fn table(
    id: TableId,
    name: &'static str,
    what: &'static str,
    columns: &'static [Column],
) -> Table {
    Table { id, name, what, columns, is_call: false }
}

pub(super) static RANGES: Table = table(
    TableId::Ranges,
    "ranges",
    "a range of the program's own, from its begin to its end",
    &[
        text("text", "its text"),
        integer("level", "nesting level, 0 for the outermost; absent where the library does not report it"),
        flag("across_threads", "of those with an id, which may end in another thread"),
        address("range_id", "that id"),
    ],
);

pub(super) static LOSSES: Table = table(
    TableId::Losses,
    "losses",
    "events that were lost, from the first to the last",
    &[integer("lost", "how many"), text("reason", "ring_full, disk_full, …")],
);

pub(super) fn loss(process: usize, epoch: u64, gap: &Gap, slots: &mut Slots) -> TrackRow {
    let (begin, dur) = (epoch.saturating_add(gap.t), Some(gap.dur));
    TrackRow {
        table: &LOSSES,
        process,
        tid: Some(gap.tid),
        track: slots.track(TrackKind::Losses, Some(gap.tid), begin, dur),
        begin,
        dur,
        name: format!("{} lost: {}", gap.lost, gap.reason).into(),
        cells: vec![gap.lost.into(), (&gap.reason).into()],
        arrows: Arrows::default(),
    }
}

pub(super) static PAUSES: Table =
    table(TableId::Pauses, "pauses", "a time in which recording was stopped", &[]);

pub(super) fn pause(process: usize, begin: u64, dur: Option<u64>) -> TrackRow {
    let name = Word::new_static("recording stopped");
    of_process(&PAUSES, process, TrackKind::Pauses, (begin, dur), name, Vec::new())
}

pub(super) static PHASES: Table = table(
    TableId::Phases,
    "phases",
    "a phase, as in `rocshim phases`",
    &[
        integer("phase", "its number, from 0"),
        integer("lane", "the streams on which one model runs: a number in its process"),
        text("kind", "prompt, decode, warm-up, labelled, forward, backward, optimiser, step"),
        text("label", "what the program or the user calls it"),
        integer("request", "number of the request in its stream group"),
        text("evidence", "confirmed, inferred, limited, unresolved"),
        text("why", "the rule"),
        integer("passes", "evaluations of the model"),
        integer("columns_least", "least columns (ne11) of a pass"),
        integer("columns_most", "most of a pass"),
        integer("tokens", "columns of all passes"),
        integer("launches", "kernels that were executed"),
        integer("by_graphs", "those of them by graphs"),
        integer("failed", "launches that failed"),
        integer("unlisted", "launches whose kernels are not known"),
        integer("lost", "events that were lost in it"),
        integer("host_ns", "host time in calls that do not wait"),
        integer("wait_ns", "host time in calls that wait"),
        integer("between_ns", "between its passes"),
        integer("gpu_busy_ns", "while a command of it ran on the GPU; absent without --gpu-time"),
        integer("gpu_not_launched_ns", "while none ran, and the next one was not launched"),
        integer("gpu_held_ns", "while none ran, although the next one was launched"),
        text("gpu_evidence", "of these three: confirmed or limited"),
        text("gpu_bound", "GPU-bound, launch-bound, held or mixed (inferred)"),
    ],
);

/// A phase of a process, by its number; `epoch` is that of all phases.
pub(super) fn phase(number: usize, phase: &Phase, process: usize, epoch: u64, slots: &mut Slots) -> TrackRow {
    let known = || phase.columns.iter();
    let (begin, dur) = (epoch + phase.begin_ns, phase.end_ns - phase.begin_ns);
    let stream_group = phase.stream_group as u32;
    let gpu = phase.gpu.as_ref();
    let cells = vec![
        Cell::count(number as u64),
        stream_group.into(),
        phase.kind.name().into(),
        phase.label.as_deref().into(),
        phase.request.into(),
        evidence(phase.evidence),
        phase.why.into(),
        phase.passes.into(),
        known().map(|columns| columns.least).min().into(),
        known().map(|columns| columns.most).max().into(),
        phase.tokens.into(),
        phase.launches.into(),
        phase.by_graphs.into(),
        phase.failed.into(),
        phase.unlisted.into(),
        phase.lost.into(),
        phase.host_ns.into(),
        phase.wait_ns.into(),
        phase.between_ns.into(),
        gpu.map(|gpu| gpu.busy_ns).into(),
        gpu.map(|gpu| gpu.not_launched_ns).into(),
        gpu.map(|gpu| gpu.held_ns).into(),
        gpu.map_or(Cell::Absent, |gpu| evidence(gpu.evidence)),
        gpu.and_then(|gpu| gpu.bound).map_or(Cell::Absent, |bound| Cell::text(&bound.to_string())),
    ];
    TrackRow {
        table: &PHASES,
        process,
        tid: None,
        track: slots.track(TrackKind::Phases, Some(stream_group), begin, Some(dur)),
        begin,
        dur: Some(dur),
        name: phase.name().into(),
        cells,
        arrows: Arrows::default(),
    }
}

pub(super) static PASSES: Table = table(
    TableId::Passes,
    "passes",
    "an evaluation of the model",
    &[
        integer("phase", "the number of its phase"),
        integer("lane", "as of the phase"),
        text("kind", "as of the phase"),
        text("label", "as of the phase"),
        integer("columns_least", "columns (ne11) of most of its products"),
        integer("columns_most", "the same, where only a range is known"),
    ],
);

/// A pass of a phase, by the phase's number.
pub(super) fn pass(moment: &PassTime, phase: &Phase, slots: &mut Slots) -> TrackRow {
    let (begin, dur) = (moment.begin, Some(moment.end - moment.begin));
    let stream_group = phase.stream_group as u32;
    let [least, most] = [0, 1].map(|at| moment.columns.map(|columns| columns[at]));
    let name = match most {
        Some(columns) => format!("{} {columns}", phase.name()).into(),
        None => phase.name().into(),
    };
    let cells = vec![
        Cell::count(moment.phase as u64),
        stream_group.into(),
        phase.kind.name().into(),
        phase.label.as_deref().into(),
        least.into(),
        most.into(),
    ];
    TrackRow {
        table: &PASSES,
        process: moment.process,
        tid: None,
        track: slots.track(TrackKind::Passes, Some(stream_group), begin, dur),
        begin,
        dur,
        name,
        cells,
        arrows: Arrows::default(),
    }
}

pub(super) static PROCESSES: Table = table(
    TableId::Processes,
    "processes",
    "a process, from its first call to its last",
    &[
        text("exe", "its executable"),
        text("argv", "its command line"),
        text("trace", "its trace"),
        text("end", "exit, recovered, killed, running, snapshot, cut or rotated"),
        integer("parts", "parts of the trace that were read"),
        integer("events", "events in the trace"),
        integer("launches", "kernels that were executed, by graphs too"),
        integer("lost", "events that were lost"),
        integer("stopped_ns", "for how long recording was stopped"),
        integer("late", "calls after recording had ended"),
        text("rocshim", "version that wrote the trace"),
        text("clock", "tsc or clock_gettime"),
        text("notes", "what else there is to say about the trace"),
    ],
);

pub(super) fn process(number: usize, process: &TrackProcess, row: &ProcessRow) -> TrackRow {
    let cells = vec![
        row.exe.as_str().into(),
        Cell::list(&row.argv),
        row.trace.as_str().into(),
        row.end.as_str().into(),
        row.parts.into(),
        row.events.into(),
        row.launches.into(),
        row.lost.into(),
        row.stopped_ns.into(),
        row.late.into(),
        process.rocshim.as_str().into(),
        process.clock.as_str().into(),
        row.notes.join("; ").as_str().into(),
    ];
    of_process(&PROCESSES, number, TrackKind::Process, when(process, row), process.name(), cells)
}

/// From the first call of a process to its last.
pub(super) fn when(process: &TrackProcess, row: &ProcessRow) -> (u64, Option<u64>) {
    (process.epoch + row.first_ns, Some(row.last_ns.saturating_sub(row.first_ns)))
}

pub(super) static COVERAGE: Table = table(
    TableId::Coverage,
    "coverage",
    "what was hooked of a library in a process, and what was called",
    &[
        text("library", "the library, without version"),
        integer("functions", "functions that are hooked"),
        integer("bound", "those of them that were called and found"),
        integer("unbound", "that were called and not found"),
        integer("off", "that were left out, as ROCSHIM_RECORD asked"),
        integer("calls", "calls that were seen"),
        text("evidence", "what that means: confirmed, confirmed absent, limited, unresolved"),
        text("why", "the reason"),
        text("session_evidence", "the same of all exported processes together"),
        text("session_why", "the reason"),
    ],
);

/// What a process had hooked of a library, what that means, and what it means of all processes
/// together.
pub(super) fn coverage(
    process: usize,
    when: (u64, Option<u64>),
    slot: u32,
    known: &Hooked,
    (own, of_all): (Option<&LibraryRow>, Option<&LibraryRow>),
) -> TrackRow {
    let evidence_of =
        |row: Option<&LibraryRow>| row.map_or(Cell::Absent, |library| evidence(library.evidence));
    let why_of = |row: Option<&LibraryRow>| row.map(|library| library.why.as_str()).into();
    let cells = vec![
        (&known.library).into(),
        known.functions.into(),
        known.bound.into(),
        known.unbound.into(),
        known.off.into(),
        known.calls.into(),
        evidence_of(own),
        why_of(own),
        evidence_of(of_all),
        why_of(of_all),
    ];
    // An absence is never stated without its evidence.
    let what = match (known.calls, own) {
        (0, Some(library)) if library.evidence.is_confirmed() => "called, how often is not known".into(),
        (0, Some(library)) => library.evidence.to_string(),
        (1, _) => "1 call".into(),
        (calls, _) => format!("{calls} calls"),
    };
    let name = format!("{}: {what}", known.library).into();
    let row = of_process(&COVERAGE, process, TrackKind::Coverage, when, name, cells);
    TrackRow { track: Track::Other { what: TrackKind::Coverage, of: None, slot }, ..row }
}

/// What a process had hooked of a library.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hooked {
    pub(super) library: Word,
    pub(super) functions: u64,
    pub(super) bound: u64,
    pub(super) unbound: u64,
    pub(super) off: u64,
    pub(super) calls: u64,
}

fn of_process(
    table: &'static Table,
    process: usize,
    what: TrackKind,
    (begin, dur): (u64, Option<u64>),
    name: Word,
    cells: Vec<Cell>,
) -> TrackRow {
    let track = Track::Other { what, of: None, slot: 0 };
    TrackRow { table, process, tid: None, track, begin, dur, name, cells, arrows: Arrows::default() }
}

fn evidence(evidence: Evidence) -> Cell {
    Cell::text(&evidence.to_string())
}
