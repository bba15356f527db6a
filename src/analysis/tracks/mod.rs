//! Timeline rows, for programs that draw or query them: every call joined with its definitions,
//! ranges, losses and pauses as they are read; phases, passes, processes and coverage at the end.
//!
//! Modules: `row` and `table` (what a row is, which columns there are), `names` (texts of ids),
//! `slots` and `inside` (tracks and arrows), then `calls`, `libraries`, `ranges`, `others` and
//! `gpu` (rows of each kind of record), then `Tracks` here. All times are Unix ns, so that
//! processes and hosts share one clock. Rows come in the order of the trace: those of a thread as
//! its calls returned. Memory grows with definitions and open calls, not with events.

mod calls;
mod gpu;
mod inside;
mod libraries;
mod names;
mod others;
mod ranges;
mod row;
mod slots;
mod table;
#[cfg(test)]
mod tests;

pub use gpu::queue_of;
pub use row::{Cell, Track, TrackKind, TrackRow};
pub use table::{COMMON, Column, ColumnKind, TABLES, Table, TableId};

use super::{
    Phases,
    session::{Analysis, CallKey, Event, Session},
};
use calls::CallRow;
use gpu::GpuRows;
use inside::Inside;
use names::{NameCache, NamedCall};
use others::Hooked;
use ranges::Ranges;
use rocshim_reader::Reading;
use rocshim_trace::{Gpu, Kernel, Record, Word, file_name};
use row::{Arrows, Through};
use slots::Slots;
use std::collections::BTreeMap;

/// A process as a timeline shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackProcess {
    /// Its process id.
    pub pid: u32,
    /// A number that no other process has: several hosts, containers, or times have the same.
    pub shown_pid: u32,
    /// The name of its host.
    pub host: String,
    /// The path of its executable.
    pub exe: String,
    /// Its command line.
    pub argv: Vec<String>,
    /// Its time 0, in Unix ns.
    pub epoch: u64,
    rocshim: String,
    clock: String,
}

impl TrackProcess {
    /// The executable's file name.
    pub fn name(&self) -> Word {
        file_name(&self.exe).into()
    }
}

/// What is open in the process that is read.
struct ProcessState {
    inside: Inside,
    ranges: Ranges,
    losses: Slots,
    gpu: GpuRows,
    /// The arrow of each graph.
    graphs: BTreeMap<u32, u64>,
    /// When recording was stopped, in Unix ns, if it is.
    stopped: Option<u64>,
}

/// Makes the rows of a reading.
#[derive(Default)]
pub struct Tracks {
    processes: Vec<TrackProcess>,
    names: NameCache,
    open: Option<Box<ProcessState>>,
    /// Of each process that has ended.
    hooked: Vec<Vec<Hooked>>,
    rows: Vec<TrackRow>,
    arrows: u64,
}

/// More numbers than a system has processes or threads: what is added to make one's own.
const PIDS: u32 = 1 << 22;

impl Tracks {
    /// The processes, by number.
    pub fn processes(&self) -> &[TrackProcess] {
        &self.processes
    }

    /// The rows that the last records made.
    pub fn take_rows(&mut self) -> Vec<TrackRow> {
        std::mem::take(&mut self.rows)
    }

    fn call(&mut self, session: &Session, event: &Event, is_in_flight: bool) {
        let Some(mut open) = self.open.take() else { return };
        let process = self.processes.len() - 1;
        let epoch = self.processes[process].epoch;
        let (record, call) = (event.record, event.call);
        if let Some((table, name, cells)) = call_row(&self.names.of(session, event)) {
            let arrows = self.arrows(&mut open, event);
            // A range ends where the call that ends it begins: before it.
            if let (Record::Mark(mark), false) = (record, is_in_flight) {
                open.ranges.mark(mark, epoch, &mut self.rows);
            }
            self.rows.push(TrackRow {
                table,
                process,
                tid: Some(call.tid),
                track: Track::Thread(call.tid),
                begin: epoch.saturating_add(call.t),
                dur: (!is_in_flight).then_some(call.dur),
                name,
                cells,
                arrows,
            });
        }
        self.open = Some(open);
    }

    fn arrows(&mut self, open: &mut ProcessState, event: &Event) -> Arrows {
        let (record, call) = (event.record, event.call);
        let mut arrows = Arrows { begin: open.inside.take(call), ..Arrows::default() };
        arrows.begin.extend(open.gpu.begin(event, &mut self.arrows));
        match record {
            Record::Launch(_) => {
                if let Some(parent) = call.parent {
                    open.inside.launch(call, parent, self.arrows);
                    arrows.end = Some(self.arrows);
                    self.arrows += 1;
                }
            }
            Record::GraphCall(graph_call) => {
                if let Some(graph) = graph_call.graph {
                    let is_first = !open.graphs.contains_key(&graph);
                    let number = *open.graphs.entry(graph).or_insert(self.arrows);
                    self.arrows += u64::from(is_first);
                    arrows.through = Some(Through { number, is_first });
                }
            }
            Record::GraphLaunch(launch) => {
                let known = launch.graph.and_then(|graph| open.graphs.get(&graph));
                arrows.through = known.map(|number| Through { number: *number, is_first: false });
            }
            _ => {}
        }
        arrows
    }

    /// Passes the rows of phases, passes, processes and coverage to `each`, after the last file.
    pub fn finish<E>(
        &mut self,
        phases: &Phases,
        mut each: impl FnMut(TrackRow, &[TrackProcess]) -> Result<(), E>,
    ) -> Result<(), E> {
        for row in self.take_rows() {
            each(row, &self.processes)?;
        }
        let epoch = phases.epoch.parse().unwrap_or(0);
        let mut slots: BTreeMap<usize, Slots> = BTreeMap::new();
        let mut owners: Vec<Option<usize>> = vec![None; phases.phases.len()];
        for moment in phases.moments() {
            owners[moment.phase] = Some(moment.process);
            let slots = slots.entry(moment.process).or_default();
            each(others::pass(&moment, &phases.phases[moment.phase], slots), &self.processes)?;
        }
        for (number, (phase, owner)) in phases.phases.iter().zip(owners).enumerate() {
            let Some(process) = owner else { continue };
            let slots = slots.entry(process).or_default();
            each(others::phase(number, phase, process, epoch, slots), &self.processes)?;
        }
        for (number, (process, row)) in self.processes.iter().zip(&phases.processes).enumerate() {
            each(others::process(number, process, row), &self.processes)?;
            let when = others::when(process, row);
            for (slot, hooked) in (0..).zip(self.hooked.get(number).into_iter().flatten()) {
                let is_it = |row: &&crate::LibraryRow| hooked.library == row.library;
                let of_process = phases.libraries_by_process.get(number);
                let own = of_process.and_then(|rows| rows.iter().find(is_it));
                let of_all = phases.libraries.iter().find(is_it);
                each(others::coverage(number, when, slot, hooked, (own, of_all)), &self.processes)?;
            }
        }
        Ok(())
    }
}

impl Analysis for Tracks {
    fn begin_process(&mut self, session: &Session) {
        let header = &session.process().header;
        let shown = |pid: &u32| self.processes.iter().any(|process| process.shown_pid == *pid);
        let mut numbers = (0..).map(|turn: u32| header.pid.wrapping_add(turn.wrapping_mul(PIDS)));
        let ranges = Ranges::new(self.processes.len());
        self.processes.push(TrackProcess {
            pid: header.pid,
            shown_pid: numbers.find(|pid| !shown(pid)).unwrap_or(header.pid),
            host: header.host.clone(),
            exe: header.exe.clone(),
            argv: header.argv.clone(),
            epoch: session.process().epoch,
            rocshim: header.rocshim.clone(),
            clock: header.clock.clone(),
        });
        self.open = Some(Box::new(ProcessState {
            inside: Inside::default(),
            ranges,
            losses: Slots::default(),
            gpu: GpuRows::default(),
            graphs: BTreeMap::new(),
            stopped: None,
        }));
    }

    fn record(&mut self, session: &Session, record: &Record) {
        let Some(open) = &mut self.open else { return };
        let (number, epoch) = (self.processes.len() - 1, session.process().epoch);
        match record {
            Record::GpuTime(state) => open.gpu.state(state),
            Record::GpuKernel(kernel) => open.gpu.define(kernel),
            Record::Gap(gap) => self.rows.push(others::loss(number, epoch, gap, &mut open.losses)),
            Record::Recording(recording) => match (recording.state.as_str(), open.stopped) {
                ("stopped", None) => open.stopped = Some(epoch.saturating_add(recording.t)),
                ("started", Some(since)) => {
                    let dur = epoch.saturating_add(recording.t).saturating_sub(since);
                    self.rows.push(others::pause(number, since, Some(dur)));
                    open.stopped = None;
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn event(&mut self, session: &Session, event: &Event) {
        if !matches!(event.record, Record::Gpu(_)) {
            self.call(session, event, false);
        }
    }

    fn report(&mut self, session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        let Some(open) = &mut self.open else { return };
        let number = self.processes.len() - 1;
        self.rows.extend(open.gpu.row((number, session.process().epoch), gpu, call, &mut self.arrows));
    }

    fn in_flight(&mut self, session: &Session, event: &Event) {
        self.call(session, event, true);
    }

    fn end_process(&mut self, session: &Session, _reading: &Reading) {
        let Some(mut open) = self.open.take() else { return };
        open.ranges.finish(&mut self.rows);
        self.rows.extend(open.stopped.map(|since| others::pause(self.hooked.len(), since, None)));
        self.hooked.push(hooked(session));
    }

    fn wants_arguments(&self, _kernel: Option<&Kernel>) -> bool {
        true
    }
}

/// What the process has hooked, by library.
fn hooked(session: &Session) -> Vec<Hooked> {
    let mut libraries: BTreeMap<&str, Hooked> = BTreeMap::new();
    for hook in session.process().hook_uses() {
        let library = hook.hook.of.as_str();
        let new = || Hooked { library: library.into(), ..Hooked::default() };
        let known = libraries.entry(library).or_insert_with(new);
        known.functions += 1;
        known.calls += hook.calls;
        match hook.hook.state.as_str() {
            "bound" => known.bound += 1,
            "unbound" => known.unbound += 1,
            "off" => known.off += 1,
            _ => {}
        }
    }
    libraries.into_values().collect()
}

/// Makes a call's row.
fn call_row(of: &NamedCall) -> Option<CallRow> {
    Some(match of.event.record {
        Record::Launch(launch) => calls::launch(of, launch),
        Record::Gemm(gemm) => libraries::product(of, (**gemm).clone().into(), gemm.stream),
        Record::Matmul(matmul) => libraries::product(of, (**matmul).clone().into(), Some(matmul.stream)),
        Record::Blas(blas) => libraries::blas(of, blas),
        Record::Conv(conv) => libraries::convolution(of, conv),
        Record::Span(span) => libraries::span(of, span),
        Record::Mark(mark) => calls::mark(of, mark),
        Record::Load(load) => calls::load(of, load),
        Record::Copy(copy) => calls::copy(of, copy),
        Record::Sync(sync) => calls::sync(of, sync),
        Record::GraphCall(graph) => calls::graph_call(of, graph),
        Record::GraphLaunch(launch) => calls::graph_launch(of, launch),
        _ => return None,
    })
}
