//! Converts the records of one process to the rows of the tables of a dataset.

use super::write::{Cells, Value, integer};
use foldhash::HashMap;
use parquet::data_type::ByteArray;
use rocshim_analysis::{Analysis, CallKey, Event, GemmProblem, KernelId, Phases, Session, SymbolId};
use rocshim_reader::Reading;
use rocshim_report::names::tidy;
use rocshim_trace::{Call, Conv, Gpu, Kernel, Launch, Record, StreamRef, Tensor, file_name};

/// A call of the process: its thread and id.
type CallOf = (u32, u64);

/// A launch as a compact row, because a trace has millions. 0 means absent.
#[derive(Clone, Copy, Default)]
pub(super) struct LaunchRow {
    pub(super) begin: u64,
    dur: u64,
    id: u64,
    parent: u64,
    gpu_begin: u64,
    gpu_dur: u64,
    lds: u64,
    tid: u32,
    kernel: u32,
    /// The call that it was made inside, by number in `contexts`, plus one.
    context: u32,
    function: u32,
    stream: u32,
    grid: [u32; 3],
    block: [u32; 3],
    ne11: u32,
    status: i32,
    /// The pass that it is in, from 1.
    pub(super) pass: u32,
    captured: bool,
}

/// The cells of a column of launches.
type LaunchCells<'a> = Cells<'a, LaunchRow>;

/// A row of another table: its begin, and its own cells.
pub(super) type TableRow = (u64, Vec<Value>);

/// The rows of a process, after it was read.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) launches: Vec<LaunchRow>,
    pub(super) gemms: Vec<TableRow>,
    pub(super) convolutions: Vec<TableRow>,
    pub(super) host: String,
    pub(super) pid: u32,
    pub(super) epoch: u64,
    /// The number of its Slurm job.
    pub(super) job: Option<String>,
    /// The cells of `ranks` that are known here.
    pub(super) process: Vec<Value>,
    /// The number of processes in the file.
    pub(super) processes: usize,
    kernels: Vec<[Value; 7]>,
    kernel_ids: HashMap<(Option<KernelId>, SymbolId), u32>,
    contexts: Vec<[Value; 2]>,
    context_ids: HashMap<(u32, String), u32>,
    functions: Vec<Value>,
    function_ids: HashMap<String, u32>,
    /// The names of streams.
    streams: HashMap<u32, ByteArray>,
    /// Launches made inside a call that has not returned, by number.
    inside: HashMap<CallOf, Vec<u32>>,
    /// Launches that the GPU has not reported, where GPU times are recorded.
    unreported: HashMap<CallOf, u32>,
    /// Reports that came before their launch.
    early: HashMap<CallOf, (u64, u64)>,
    is_timed: bool,
}

impl Rows {
    fn at(&self, time: u64) -> u64 {
        self.epoch.saturating_add(time)
    }

    fn function(&mut self, session: &Session, event: &Event) -> u32 {
        let name = event.ids.function.map_or("", |function| &*session.function(function).name);
        if let Some(known) = self.function_ids.get(name) {
            return *known;
        }
        self.functions.push(Value::text(name));
        let number = self.functions.len() as u32 - 1;
        self.function_ids.insert(name.to_owned(), number);
        number
    }

    fn kernel(&mut self, session: &Session, event: &Event) -> u32 {
        if self.kernels.is_empty() {
            self.kernels.push([const { Value::Absent }; 7]);
        }
        let Some(symbol_id) = event.ids.symbol else { return 0 };
        let kernel = event.ids.kernel;
        if let Some(known) = self.kernel_ids.get(&(kernel, symbol_id)) {
            return *known;
        }
        let symbol = session.symbol(symbol_id);
        let family = symbol.family();
        let of = kernel.map(|kernel| session.kernel(kernel));
        let object = of.and_then(|of| of.code_object).map(|object| session.code_object(object));
        let file = object.and_then(|object| object.file.as_deref().or(object.path.as_deref()));
        self.kernels.push([
            Value::text(&tidy(symbol.readable())),
            Value::text(&symbol.name),
            Value::texts(family.map(|family| family.name)),
            Value::texts(family.map(|family| family.of)),
            Value::texts(file),
            Value::texts(of.and_then(|of| of.target.as_deref())),
            object.and_then(|object| object.fallback).map_or(Value::Absent, Value::Flag),
        ]);
        let number = self.kernels.len() as u32 - 1;
        self.kernel_ids.insert((kernel, symbol_id), number);
        number
    }

    fn launch(&mut self, session: &Session, event: &Event, launch: &Launch) {
        let call = event.call;
        let product = launch
            .kernel
            .and_then(|id| session.process().kernel(id))
            .and_then(|kernel| kernel.product.as_ref());
        let columns =
            product.and_then(|product| product.columns(launch)).filter(|columns| !columns.of_all_experts());
        let ne11 = columns.filter(|columns| columns.least == columns.most).map_or(0, |columns| columns.most);
        let number = self.launches.len() as u32;
        let stream = match launch.stream {
            StreamRef::Default => 0,
            StreamRef::Id(id) => id,
        };
        self.streams.entry(stream).or_insert_with(|| stream.to_string().into_bytes().into());
        let mut row = LaunchRow {
            begin: self.at(call.t),
            dur: call.dur,
            id: call.id,
            parent: call.parent.unwrap_or(0),
            lds: launch.lds,
            tid: call.tid,
            kernel: self.kernel(session, event),
            function: self.function(session, event),
            stream,
            grid: launch.grid,
            block: launch.block,
            ne11: ne11 as u32,
            status: call.status,
            captured: launch.capture.is_some(),
            ..LaunchRow::default()
        };
        if let Some(parent) = call.parent {
            self.inside.entry((call.tid, parent)).or_default().push(number);
        }
        if self.is_timed {
            match self.early.remove(&(call.tid, call.id)) {
                Some((begin, dur)) => (row.gpu_begin, row.gpu_dur) = (begin, dur),
                None => drop(self.unreported.insert((call.tid, call.id), number)),
            }
        }
        self.launches.push(row);
    }

    /// Handles the return of a call: the launches inside it get its function and shape.
    fn returned(&mut self, session: &Session, event: &Event, shape: impl FnOnce() -> String) -> Vec<u32> {
        let call = event.call;
        let Some(launches) = self.inside.remove(&(call.tid, call.id)) else { return Vec::new() };
        let function = self.function(session, event);
        let key = (function, shape());
        let context = match self.context_ids.get(&key) {
            Some(known) => *known,
            None => {
                let shape = Value::text(&key.1);
                self.contexts.push([self.functions[function as usize].clone(), shape]);
                self.context_ids.insert(key, self.contexts.len() as u32);
                self.contexts.len() as u32
            }
        };
        launches.iter().for_each(|launch| self.launches[*launch as usize].context = context);
        launches
    }

    /// Returns the number of launches, the names of the first one's kernel, and whether one is a
    /// fallback.
    fn kernels_of(&self, launches: &[u32]) -> [Value; 4] {
        let kernel = |launch: &u32| &self.kernels[self.launches[*launch as usize].kernel as usize];
        let first = launches.first().map(kernel);
        let is = |wanted| {
            launches.iter().any(|launch| matches!(kernel(launch)[6], Value::Flag(flag) if flag == wanted))
        };
        let fallback = if is(true) {
            Value::Flag(true)
        } else if is(false) {
            Value::Flag(false)
        } else {
            Value::Absent
        };
        let name = |at: usize| first.map_or(Value::Absent, |kernel| kernel[at].clone());
        [Value::count(launches.len() as u64), name(0), name(1), fallback]
    }

    fn gemm(&mut self, session: &Session, event: &Event, problem: &GemmProblem, captured: bool) {
        let number = |value: Option<i64>| value.map_or("?".to_owned(), |value| value.to_string());
        let shape = || [problem.m, problem.n, problem.k].map(number).join("x");
        let inside = self.returned(session, event, shape);
        let [launches, kernel, full, fallback] = self.kernels_of(&inside);
        let function = self.function(session, event) as usize;
        let library = event.ids.function.map(|function| session.function(function).library.clone());
        let mut cells = of_call(event.call, self.at(event.call.t));
        cells.extend([
            self.functions[function].clone(),
            Value::texts(library),
            Value::texts(problem.trans_a.as_deref()),
            Value::texts(problem.trans_b.as_deref()),
            Value::integer(problem.m),
            Value::integer(problem.n),
            Value::integer(problem.k),
            Value::integer(problem.batch),
            Value::texts(problem.types[0].as_deref()),
            Value::texts(problem.types[3].as_deref()),
            Value::texts(problem.compute.as_deref()),
            Value::integer(problem.solution),
            launches,
            kernel,
            full,
            fallback,
            Value::unless_0(event.call.parent.unwrap_or(0)),
            Value::Integer(event.call.status.into()),
            Value::Flag(captured),
        ]);
        self.gemms.push((self.at(event.call.t), cells));
    }

    fn convolution(&mut self, session: &Session, event: &Event, conv: &Conv) {
        let inside = self.returned(session, event, String::new);
        let [launches, kernel, full, _] = self.kernels_of(&inside);
        let function = self.function(session, event) as usize;
        let tensor = |tensor: &Option<Tensor>| {
            let text = |tensor: &Tensor| {
                let dims: Vec<String> = tensor.dims.iter().map(ToString::to_string).collect();
                format!("{} {}", tensor.element, dims.join("x"))
            };
            Value::texts(tensor.as_ref().map(text))
        };
        let mut cells = of_call(event.call, self.at(event.call.t));
        cells.extend([
            self.functions[function].clone(),
            Value::text(&conv.action),
            Value::text(&conv.direction),
            tensor(&conv.x),
            tensor(&conv.w),
            tensor(&conv.y),
            conv.solution_id.map_or(Value::Absent, Value::count),
            Value::texts(conv.solver.as_deref()),
            launches,
            kernel,
            full,
            Value::Integer(event.call.status.into()),
        ]);
        self.convolutions.push((self.at(event.call.t), cells));
    }

    /// Returns the columns of the launches, after the common ones.
    pub(super) fn columns<'a>(&'a self, passes: &'a Passes) -> Vec<LaunchCells<'a>> {
        let kernel =
            |at: usize| LaunchCells::text(move |row| self.kernels[row.kernel as usize][at].as_text());
        let context = |at: usize| {
            LaunchCells::text(move |row| {
                row.context.checked_sub(1).and_then(|context| self.contexts[context as usize][at].as_text())
            })
        };
        let grid = |at: usize| LaunchCells::count(move |row| row.grid[at].into());
        let block = |at: usize| LaunchCells::count(move |row| row.block[at].into());
        let fallback = |row: &LaunchRow| self.kernels[row.kernel as usize][6].as_flag();
        vec![
            LaunchCells::count(|row| row.tid.into()),
            LaunchCells::count(|row| row.id),
            LaunchCells::count(|row| row.begin),
            LaunchCells::count(|row| row.dur),
            kernel(0),
            kernel(1),
            kernel(2),
            kernel(3),
            LaunchCells::text(|row| passes.phase(row.pass)),
            LaunchCells::unless_0(|row| row.pass.into()),
            LaunchCells::unless_0(|row| row.ne11.into()),
            kernel(4),
            kernel(5),
            LaunchCells::Flag(Box::new(fallback)),
            LaunchCells::text(|row| self.functions[row.function as usize].as_text()),
            LaunchCells::unless_0(|row| row.parent),
            context(0),
            context(1),
            LaunchCells::text(|row| self.streams.get(&row.stream)),
            grid(0),
            grid(1),
            grid(2),
            block(0),
            block(1),
            block(2),
            LaunchCells::count(|row| row.lds),
            LaunchCells::Integer(Box::new(|row| Some(row.status.into()))),
            LaunchCells::Flag(Box::new(|row| Some(row.captured))),
            LaunchCells::unless_0(|row| row.gpu_begin),
            LaunchCells::Integer(Box::new(|row| (row.gpu_begin > 0).then(|| integer(row.gpu_dur)))),
        ]
    }
}

/// Returns the first cells of a call's row.
fn of_call(call: &Call, begin: u64) -> Vec<Value> {
    vec![Value::Integer(call.tid.into()), Value::count(call.id), Value::count(begin), Value::count(call.dur)]
}

impl Analysis for Rows {
    fn begin_process(&mut self, session: &Session) {
        let process = session.process();
        self.processes += 1;
        self.epoch = process.epoch;
        self.pid = process.header.pid;
        self.host.clone_from(&process.header.host);
        self.job = process.header.env.get("SLURM_JOB_ID").cloned();
    }

    fn record(&mut self, _session: &Session, record: &Record) {
        if let Record::GpuTime(time) = record {
            self.is_timed |= time.state == "on";
        }
    }

    fn event(&mut self, session: &Session, event: &Event) {
        match event.record {
            Record::Launch(launch) => return self.launch(session, event, launch),
            Record::Gpu(_) => return,
            Record::Gemm(gemm) => {
                self.gemm(session, event, &(**gemm).clone().into(), gemm.capture.is_some());
            }
            Record::Matmul(matmul) => {
                self.gemm(session, event, &(**matmul).clone().into(), matmul.capture.is_some());
            }
            Record::Conv(conv) => self.convolution(session, event, conv),
            _ => drop(self.returned(session, event, String::new)),
        }
        // Reports of a graph's kernels belong to no launch.
        if !self.early.is_empty() {
            self.early.remove(&(event.call.tid, event.call.id));
        }
    }

    fn report(&mut self, _session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        let Some(of) = call.filter(|_| gpu.op == "dispatch") else { return };
        let (begin, dur) = (self.at(gpu.begin), gpu.busy);
        match self.unreported.remove(&of) {
            Some(launch) => {
                let row = &mut self.launches[launch as usize];
                (row.gpu_begin, row.gpu_dur) = (begin, dur);
            }
            None => drop(self.early.insert(of, (begin, dur))),
        }
    }

    fn end_process(&mut self, session: &Session, reading: &Reading) {
        let process = session.process();
        let header = &process.header;
        self.process = vec![
            Value::text(file_name(&process.trace)),
            Value::text(&header.exe),
            Value::text(&header.argv.join(" ")),
            Value::count(process.epoch),
            Value::text(&process.end_word(reading.end)),
            Value::count(process.events),
            Value::count(process.lost),
        ];
        self.process.push(Value::text(&header.rocshim));
    }

    fn wants_arguments(&self, kernel: Option<&Kernel>) -> bool {
        kernel.is_some_and(|kernel| {
            rocshim_trace::ggml::MatMul::of(kernel).is_some_and(|of| of.reads_arguments())
        })
    }
}

/// The passes of a process, by time.
pub(super) struct Passes {
    /// Begin, end, phase; in order of begin.
    passes: Vec<(u64, u64, Value)>,
    /// The latest end up to each.
    latest: Vec<u64>,
}

impl Passes {
    pub(super) fn new(phases: &Phases) -> Passes {
        let mut passes: Vec<(u64, u64, Value)> = phases
            .moments()
            .map(|moment| (moment.begin, moment.end, Value::text(phases.phases[moment.phase].name())))
            .collect();
        passes.sort_by_key(|(begin, ..)| *begin);
        let mut latest: Vec<u64> = Vec::new();
        for (_, end, _) in &passes {
            latest.push(latest.last().map_or(*end, |last| *last.max(end)));
        }
        Passes { passes, latest }
    }

    /// Returns the pass of a call that began at `time`, from 1; 0 if it is in none, or in several.
    pub(super) fn of(&self, time: u64) -> u32 {
        let mut found = 0;
        let mut at = self.passes.partition_point(|(begin, ..)| *begin <= time);
        while at > 0 && self.latest[at - 1] >= time {
            if self.passes[at - 1].1 >= time {
                if found > 0 {
                    return 0;
                }
                found = at as u32;
            }
            at -= 1;
        }
        found
    }

    /// Returns the phase of a pass.
    fn phase(&self, pass: u32) -> Option<&ByteArray> {
        self.passes[(pass as usize).checked_sub(1)?].2.as_text()
    }

    /// Returns phase and pass of a call that began at `time`.
    pub(super) fn at(&self, time: u64) -> [Value; 2] {
        let pass = self.of(time);
        let phase = self.phase(pass).map_or(Value::Absent, |phase| Value::Text(phase.clone()));
        [phase, Value::unless_0(pass.into())]
    }
}
