//! A trace as rows of a timeline, for the programs that draw or query such: every call with what is known of it joined, ranges,
//! losses and pauses as they are read; phases, passes, processes and coverage at the end.
//!
//! Floors, lowest first: `row` and `table` (what a row is, which columns there are), `definitions` (names), `slots` and `inside` (tracks and
//! arrows), then `calls`, `libraries`, `ranges` and `others` (what becomes of a record), then `Tracks` here. All times are Unix ns, so that processes and hosts
//! stand on one clock. Rows come in the order of the trace: those of a thread as its calls returned. Memory grows with what
//! is defined and with what is open, not with events.

mod calls;
mod definitions;
mod inside;
mod libraries;
mod others;
mod ranges;
mod row;
mod slots;
mod table;
#[cfg(test)]
mod tests;

pub use row::{Beside, Cell, Row, Track};
pub use table::{COMMON, Column, Kind, TABLES, Table, TableId};

use super::{
    Phases,
    process::{goes_on_in, hook_of},
};
use calls::Told;
use definitions::Definitions;
use inside::Inside;
use others::Hooked;
use ranges::Ranges;
use rocshim_reader::End;
use rocshim_trace::{Call, Header, Record, Word, file_name};
use row::{Arrows, Through};
use slots::Slots;
use std::collections::BTreeMap;

/// A process as a timeline shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub pid: u32,
    /// A number that no other process has: several hosts, containers, or times have the same.
    pub shown_pid: u32,
    pub host: String,
    pub exe: String,
    pub argv: Vec<String>,
    /// Its time 0, in Unix ns.
    pub epoch: u64,
    rocshim: String,
    clock: String,
}

impl Process {
    /// The executable's file name.
    pub fn name(&self) -> Word {
        file_name(&self.exe).into()
    }
}

/// The process that is read.
struct Open {
    header: Header,
    definitions: Definitions,
    inside: Inside,
    ranges: Ranges,
    losses: Slots,
    /// The arrow of each graph.
    graphs: BTreeMap<u32, u64>,
    /// When recording was stopped, in Unix ns, if it is.
    stopped: Option<u64>,
}

/// Takes the records of one file after the other.
#[derive(Default)]
pub struct Tracks {
    processes: Vec<Process>,
    open: Option<Box<Open>>,
    /// Of each process that has ended.
    hooked: Vec<Vec<Hooked>>,
    rows: Vec<Row>,
    arrows: u64,
}

/// More numbers than a system has processes or threads: what is added to make one's own.
const PIDS: u32 = 1 << 22;

impl Tracks {
    /// The processes, by number.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The rows that the last records made.
    pub fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Ends the file whose records were taken.
    pub fn end_file(&mut self, end: End) {
        if end != End::Rotated {
            self.end_process();
        }
    }

    fn begin(&mut self, header: &Header) {
        if let Some(open) = self.open.as_mut().filter(|open| goes_on_in(&open.header, header)) {
            open.header = header.clone();
            return;
        }
        self.end_process();
        let shown = |pid: &u32| self.processes.iter().any(|process| process.shown_pid == *pid);
        let mut numbers = (0..).map(|turn: u32| header.pid.wrapping_add(turn.wrapping_mul(PIDS)));
        let ranges = Ranges::new(self.processes.len());
        self.processes.push(Process {
            pid: header.pid,
            shown_pid: numbers.find(|pid| !shown(pid)).unwrap_or(header.pid),
            host: header.host.clone(),
            exe: header.exe.clone(),
            argv: header.argv.clone(),
            epoch: header.epoch.parse().unwrap_or(0),
            rocshim: header.rocshim.clone(),
            clock: header.clock.clone(),
        });
        self.open = Some(Box::new(Open {
            header: header.clone(),
            definitions: Definitions::default(),
            inside: Inside::default(),
            ranges,
            losses: Slots::default(),
            graphs: BTreeMap::new(),
            stopped: None,
        }));
    }

    fn end_process(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        open.ranges.finish(&mut self.rows);
        self.rows.extend(open.stopped.map(|since| others::pause(self.hooked.len(), since, None)));
        self.hooked.push(open.hooked());
    }

    /// Takes the next record.
    pub fn take(&mut self, record: &Record) {
        if let Record::Header(header) = record {
            return self.begin(header);
        }
        let Some(mut open) = self.open.take() else { return };
        self.look(&mut open, record);
        self.open = Some(open);
    }

    fn look(&mut self, open: &mut Open, record: &Record) {
        let number = self.processes.len() - 1;
        let epoch = self.processes[number].epoch;
        match record {
            Record::HookTable(table) => table.hooks().for_each(|hook| open.definitions.hook(&hook)),
            Record::Hook(hook) => open.definitions.hook(hook),
            Record::CodeObject(object) => open.definitions.code_object(object),
            Record::Kernel(kernel) => open.definitions.kernel(kernel),
            Record::Graph(graph) => open.definitions.graph(graph),
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
            Record::InFlight(in_flight) => self.call(open, &in_flight.event, true),
            Record::Footer(footer) => {
                for (hook, calls) in &footer.calls {
                    open.definitions.functions.entry(*hook).and_modify(|function| function.calls += calls);
                }
            }
            _ => self.call(open, record, false),
        }
    }

    fn call(&mut self, open: &mut Open, record: &Record, is_in_flight: bool) {
        let Some(call) = record.call() else { return };
        let hook = match record {
            Record::Launch(launch) => hook_of(launch, |id| open.definitions.hook_of(id)),
            _ => call.hook,
        };
        if let Some(function) = open.definitions.functions.get_mut(&hook).filter(|_| !is_in_flight) {
            function.calls += 1;
        }
        let Some((table, name, cells)) = told(&open.definitions, record, hook) else { return };
        let process = self.processes.len() - 1;
        let epoch = self.processes[process].epoch;
        let arrows = self.arrows(open, record, call);
        // A range ends where the call that ends it begins: before it.
        if let (Record::Mark(mark), false) = (record, is_in_flight) {
            open.ranges.mark(mark, epoch, &mut self.rows);
        }
        self.rows.push(Row {
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

    fn arrows(&mut self, open: &mut Open, record: &Record, call: &Call) -> Arrows {
        let mut arrows = Arrows { begin: open.inside.take(call), ..Arrows::default() };
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

    /// After the last file: what `phases` says of the whole, row by row.
    pub fn finish<E>(
        &mut self,
        phases: &Phases,
        mut each: impl FnMut(Row, &[Process]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.end_process();
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

impl Open {
    /// What was hooked, by library.
    fn hooked(&self) -> Vec<Hooked> {
        let mut libraries: BTreeMap<&Word, Hooked> = BTreeMap::new();
        for function in self.definitions.functions.values() {
            let new = || Hooked { library: function.library.clone(), ..Hooked::default() };
            let known = libraries.entry(&function.library).or_insert_with(new);
            known.functions += 1;
            known.calls += function.calls;
            match function.state.as_str() {
                "bound" => known.bound += 1,
                "unbound" => known.unbound += 1,
                "off" => known.off += 1,
                _ => {}
            }
        }
        libraries.into_values().collect()
    }
}

/// A call as its row tells it.
fn told(definitions: &Definitions, record: &Record, hook: u16) -> Option<Told> {
    Some(match record {
        Record::Launch(launch) => calls::launch(definitions, launch, hook),
        Record::Gemm(gemm) => {
            let problem = (**gemm).clone().into();
            libraries::product(definitions, &gemm.call, problem, gemm.stream)
        }
        Record::Matmul(matmul) => {
            let problem = (**matmul).clone().into();
            libraries::product(definitions, &matmul.call, problem, Some(matmul.stream))
        }
        Record::Blas(blas) => libraries::blas(definitions, blas),
        Record::Conv(conv) => libraries::convolution(definitions, conv),
        Record::Span(span) => libraries::span(definitions, span),
        Record::Mark(mark) => calls::mark(definitions, mark),
        Record::Load(load) => calls::load(definitions, load),
        Record::Copy(copy) => calls::copy(definitions, copy),
        Record::Sync(sync) => calls::sync(definitions, sync),
        Record::GraphCall(graph) => calls::graph_call(definitions, graph),
        Record::GraphLaunch(launch) => calls::graph_launch(definitions, launch),
        _ => return None,
    })
}
