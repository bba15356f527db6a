//! Gathers what was requested and launched from the records, in one pass.

use super::callers::{Chain, Chains};
use super::matmuls::{Instance, of_matmul, problem_key};
use super::seen::{
    Asked, Band, CallEnd, ConvKey, Gemm, Heuristic, Kernel, Key, Process, Search, Seen, alignment, continues,
    element, is_of_tensile,
};
use crate::{
    gemms::GemmProblem,
    interner::{Id, Interner},
    nesting::{Contents, Launches, Nesting},
    session::SymbolId,
    status::is_query,
};
use foldhash::HashMap;
use rocshim_catalog::Product;
use rocshim_drain::demangle;
use rocshim_reader::{End, Reading, RecordVisitor};
use rocshim_trace::{
    Binary, Call, CallCallers, CodeObject, Conv, Header, Launch, OF_KERNEL, Record, family, ggml,
};

/// Takes the records of one file after the other.
#[derive(Default)]
pub struct WhyBuilder {
    /// The process that is read.
    open: Option<Open>,
    pub(super) processes: Vec<Process>,
    pub(super) kernels: Vec<Kernel>,
    pub(super) decisions: Decisions,
    pub(super) chains: Chains,
    /// By process and what was asked: the number of its chain.
    pub(super) first_calls: HashMap<(usize, Asked), usize>,
    pub(super) notes: Vec<String>,
}

/// All decisions, numbered in the order in which they were first made.
#[derive(Default)]
pub(super) struct Decisions(Interner<Key, (Key, Seen)>);

impl Decisions {
    pub(super) fn all(&self) -> &[(Key, Seen)] {
        self.0.values()
    }

    fn seen(&mut self, key: Key) -> (usize, &mut Seen) {
        let number = self.0.number(key.clone(), || (key, Seen::default()));
        (number, &mut self.0.get_mut(number).1)
    }
}

/// The process whose records are being read, with what its ids mean.
#[derive(Default)]
struct Open {
    header: Header,
    number: usize,
    /// Function and library by hook.
    hooks: HashMap<u16, (String, String)>,
    objects: HashMap<u32, CodeObject>,
    binaries: HashMap<u32, Binary>,
    /// By the trace's id: the number over all processes, the hook, how columns are read.
    kernels: HashMap<u32, (usize, Option<u16>, Option<ggml::MatMul>)>,
    nesting: Nesting,
    /// What is read is a call that had not returned when the process died.
    in_flight: bool,
    /// The last answer of hipBLASLt for a problem.
    heuristics: HashMap<String, Heuristic>,
    /// What was given to an object of hipBLASLt, by its address.
    instances: HashMap<u64, Instance>,
    /// Callers of calls whose events have not come yet, by thread and id.
    callers: HashMap<(u32, u64), Chain>,
    /// The last answer of MIOpen for a problem.
    searches: HashMap<String, Search>,
}

impl WhyBuilder {
    /// Notes a file that could not be read.
    pub fn pass_over(&mut self, why: String) {
        self.notes.push(why);
    }

    /// Ends the file whose records were taken.
    pub fn end_file(&mut self, reading: Reading) {
        let Some(open) = &self.open else { return };
        let limits = &mut self.processes[open.number].limits;
        // A torn last line is the end of a trace that was cut.
        limits.extend(reading.notes.into_iter().filter(|note| note != "the last line is cut"));
        match reading.end {
            End::Cut => limits.push("the trace is cut: what was not written yet is not known".into()),
            End::Running => limits.push("the process still records".into()),
            _ => {}
        }
    }

    fn begin(&mut self, header: Header) {
        if self.open.as_ref().is_some_and(|open| continues(&open.header, &header)) {
            return;
        }
        let (pid, epoch) = (header.pid, header.epoch.parse().unwrap_or(0));
        self.processes.push(Process {
            pid,
            epoch,
            host: header.host.clone(),
            environment: header.env.clone(),
            ..Process::default()
        });
        self.open = Some(Open { header, number: self.processes.len() - 1, ..Open::default() });
    }

    fn definition(&mut self, open: &mut Open, record: &Record) {
        let process = &mut self.processes[open.number];
        match record {
            Record::HookTable(table) => {
                for hook in table.hooks() {
                    open.hooks.insert(hook.id, (hook.name, hook.of));
                }
            }
            Record::Hook(hook) => {
                open.hooks.insert(hook.id, (hook.name.clone(), hook.of.clone()));
            }
            Record::Library(library) if !process.libraries.iter().any(|known| known.path == library.path) => {
                process.libraries.push(library.clone());
            }
            Record::Binary(binary) => drop(open.binaries.insert(binary.id, binary.clone())),
            Record::Callers(CallCallers { id, callers }) => {
                open.callers.insert((callers.tid, *id), Chain::new(callers, &open.binaries));
            }
            Record::Device(device) => drop(process.devices.insert(device.gfx.clone())),
            Record::CodeObject(object) => {
                let is_other = |known: &CodeObject| known.file != object.file;
                if is_of_tensile(object, &process.environment) && process.objects.iter().all(is_other) {
                    process.objects.push(object.clone());
                }
                open.objects.insert(object.id, object.clone());
            }
            Record::Gap(gap) => process.lost += gap.lost,
            Record::Kernel(kernel) => {
                self.chains.take(open.number, process.pid, kernel, &open.binaries);
                let object = kernel.code_object.and_then(|id| open.objects.get(&id)).cloned();
                let of = family(&kernel.name, kernel.demangled.as_deref());
                let new = Kernel {
                    tensile: kernel.tensile.clone(),
                    target: kernel.target.clone(),
                    family: of.map(|family| (family.name, family.of)),
                    name: kernel.name.clone(),
                    demangled: kernel.demangled.clone(),
                    object,
                };
                let number = self.kernels.iter().position(|known| *known == new);
                let number = number.unwrap_or_else(|| {
                    self.kernels.push(new);
                    self.kernels.len() - 1
                });
                let product = ggml::MatMul::of(kernel);
                open.kernels.insert(kernel.id, (number, kernel.hook, product));
            }
            _ => {}
        }
    }

    fn event(&mut self, open: &mut Open, record: &Record) {
        match record {
            Record::Launch(launch) => self.launch(open, launch),
            Record::Gemm(gemm) => {
                let (function, library) = open.function(&gemm.call);
                let mut settings = Vec::new();
                let named = [
                    ("atomics", &gemm.atomics),
                    ("math mode", &gemm.math_mode),
                    ("performance metric", &gemm.metric),
                    ("pointer mode", &gemm.pointer_mode),
                ];
                for (name, value) in named {
                    settings.extend(value.clone().map(|value| (name, value)));
                }
                let alignments = [&gemm.a, &gemm.b, &gemm.c, &gemm.d].map(|matrix| alignment(matrix.ptr.0));
                let leading = [&gemm.a, &gemm.b, &gemm.c, &gemm.d].map(|matrix| Some(matrix.ld));
                let product = library.starts_with("librocblas").then(|| Product::of(gemm)).flatten();
                let (call, stream) = (gemm.call.clone(), gemm.stream.map(u32::from));
                let problem = GemmProblem::from((**gemm).clone());
                let asked = Gemm { library, function, problem, leading, product, settings, workspace: None };
                let chain = self.callers(open, &call);
                self.asked_first(open.number, Asked::Gemm(Box::new(asked.clone())), chain);
                self.product(open, &call, asked, alignments, stream);
            }
            Record::Matmul(matmul) => {
                let mut matmul = (**matmul).clone();
                let instance = matmul.instance.and_then(|instance| open.instances.get(&instance.0)).cloned();
                let set_by = instance.as_ref().and_then(|instance| instance.set_by);
                if let Some(Instance { problem, algo, .. }) = instance {
                    (matmul.problem, matmul.algo) = (problem, matmul.algo.or(algo));
                }
                let (function, library) = open.function(&matmul.call);
                let heuristic = open.heuristics.get(&problem_key(&matmul.problem)).cloned();
                let (alignments, leading) = of_matmul(&matmul);
                let workspace = Some(matmul.workspace);
                let (call, stream) = (matmul.call.clone(), Some(u32::from(matmul.stream)));
                let problem = GemmProblem::from(matmul);
                let settings = Vec::new();
                let asked = Gemm { library, function, problem, leading, product: None, settings, workspace };
                let chain = self.callers(open, &call).or(set_by);
                self.asked_first(open.number, Asked::Gemm(Box::new(asked.clone())), chain);
                if let Some(decision) = self.product(open, &call, asked, alignments, stream) {
                    self.decisions.0.get_mut(decision).1.count_heuristic(heuristic);
                }
            }
            Record::Conv(conv) => self.conv(open, conv),
            Record::Blas(blas) => {
                if blas.action == "heuristic" && blas.call.status == 0 {
                    open.heuristics.insert(problem_key(&blas.problem), Heuristic::of(blas));
                }
                if let Some(instance) = blas.instance.filter(|_| blas.call.status == 0) {
                    let set_by = self.callers(open, &blas.call);
                    match &*blas.action {
                        "problem" => {
                            let problem = blas.problem.clone();
                            let set = Instance { problem, algo: None, set_by };
                            open.instances.insert(instance.0, set);
                        }
                        "prepare" => open.instances.entry(instance.0).or_default().algo = blas.algo,
                        _ => {}
                    }
                }
                self.other(open, &blas.call);
            }
            other => {
                if let Some(call) = other.call() {
                    let call = call.clone();
                    self.other(open, &call);
                }
            }
        }
    }

    fn launch(&mut self, open: &mut Open, launch: &Launch) {
        let mut call = launch.call.clone();
        if call.hook == OF_KERNEL
            && let Some((_, Some(hook), _)) = launch.kernel.and_then(|id| open.kernels.get(&id))
        {
            call.hook = *hook;
        }
        let inside = open.nesting.take(&call);
        let known = launch.kernel.and_then(|id| open.kernels.get(&id));
        let number = known.map(|(number, ..)| *number);
        let launched = number.map(|number| {
            (SymbolId::at(number), Launches::one(launch.capture.is_some(), is_failed(&launch.call)))
        });
        if let Some((number, _, product)) = known.filter(|_| !open.in_flight) {
            self.ggml(open.number, *number, product.as_ref(), launch);
        }
        open.nesting.hand_up(&call, &inside, launched);
    }

    fn ggml(&mut self, process: usize, number: usize, product: Option<&ggml::MatMul>, launch: &Launch) {
        let kernel = &self.kernels[number];
        let Some((family, "ggml")) = kernel.family else { return };
        if product.is_none() && family != "flash attention" {
            return;
        }
        let element = kernel.demangled.as_deref().and_then(element);
        let columns = product.map(|product| product.columns(launch));
        let asked = Asked::Ggml { family, element, band: Band::of(columns.flatten()) };
        let (_, seen) = self.decisions.seen(Key {
            process,
            asked,
            kernels: Vec::new(),
            end: CallEnd::Returned(launch.call.status),
        });
        seen.calls += 1;
        seen.launched(number, Launches::one(launch.capture.is_some(), is_failed(&launch.call)));
        seen.streams.insert(Some(u32::from(launch.stream)));
        if let Some(columns) = columns {
            seen.count_columns(columns, 1);
        }
    }

    /// Counts a GEMM; returns the number of its decision, unless the call only asked for a size.
    fn product(
        &mut self,
        open: &mut Open,
        call: &Call,
        asked: Gemm,
        alignments: [u32; 4],
        stream: Option<u32>,
    ) -> Option<usize> {
        let mut inside = open.nesting.take(call);
        if is_query(&asked.library, call) {
            open.nesting.hand_up(call, &inside, None);
            return None;
        }
        let handed_to: Vec<String> =
            inside.products.iter().filter_map(|(at, _)| self.function(*at)).collect();
        let function = asked.function.clone();
        self.name_caller(&inside, &function);
        let key = Key {
            process: open.number,
            asked: Asked::Gemm(Box::new(asked)),
            kernels: kernels_of(&inside),
            end: open.end(call),
        };
        let (number, seen) = self.decisions.seen(key);
        for (known, new) in seen.alignment.iter_mut().zip(alignments) {
            *known = if *known == 0 || new == 0 { new.max(*known) } else { new.min(*known) };
        }
        seen.handed_on += u64::from(inside.gemms > 0);
        seen.handed_to.extend(handed_to);
        count(seen, &inside, stream);
        inside.gemms = 1;
        inside.add_product(number, 1);
        open.nesting.hand_up(call, &inside, None);
        Some(number)
    }

    /// The function of a decision about a GEMM.
    fn function(&self, decision: usize) -> Option<String> {
        match &self.decisions.all().get(decision)?.0.asked {
            Asked::Gemm(gemm) => Some(gemm.function.clone()),
            _ => None,
        }
    }

    /// The number of the chain of this call, if its callers were recorded.
    fn callers(&mut self, open: &mut Open, call: &Call) -> Option<usize> {
        let chain = open.callers.remove(&(call.tid, call.id))?;
        Some(self.chains.take_call(&open.function(call).0, chain))
    }

    /// Chain number `chain` is of the first call that asked so, if there was none before.
    fn asked_first(&mut self, process: usize, asked: Asked, chain: Option<usize>) {
        if let Some(chain) = chain {
            self.first_calls.entry((process, asked)).or_insert(chain);
        }
    }

    fn conv(&mut self, open: &mut Open, conv: &Conv) {
        let mut inside = open.nesting.take(&conv.call);
        let (function, _) = open.function(&conv.call);
        self.name_caller(&inside, &function);
        let key = ConvKey::new(&function, conv);
        let problem = key.problem();
        let asks = matches!(conv.action.as_str(), "find" | "get_solution" | "find_solutions");
        if asks && conv.call.status == 0 {
            let search = Search {
                function: function.clone(),
                action: conv.action.clone(),
                exhaustive: conv.exhaustive,
                returned: conv.returned,
                results: conv.results.clone(),
                workspace: conv.workspace,
                launched: inside.kernels.iter().map(|(_, launches)| launches.launches).sum(),
            };
            open.searches.insert(problem.clone(), search);
        }
        let chain = self.callers(open, &conv.call);
        if matches!(conv.action.as_str(), "run" | "immediate" | "run_solution") {
            let asked = Asked::Conv(Box::new(key));
            self.asked_first(open.number, asked.clone(), chain);
            let key =
                Key { process: open.number, asked, kernels: kernels_of(&inside), end: open.end(&conv.call) };
            let search = open.searches.get(&problem).cloned();
            let (number, seen) = self.decisions.seen(key);
            seen.answers_differ |= seen.calls > 0 && seen.search != search;
            seen.search = search;
            seen.workspace = Some(seen.workspace.unwrap_or(u64::MAX).min(conv.workspace));
            count(seen, &inside, Some(u32::from(conv.stream)));
            inside.add_product(number, 1);
        }
        open.nesting.hand_up(&conv.call, &inside, None);
    }

    fn other(&mut self, open: &mut Open, call: &Call) {
        let inside = open.nesting.take(call);
        if !inside.products.is_empty() {
            let (function, _) = open.function(call);
            self.name_caller(&inside, &function);
        }
        open.nesting.hand_up(call, &inside, None);
    }

    /// Decisions inside a call were asked for by its function.
    fn name_caller(&mut self, inside: &Contents, function: &str) {
        for (decision, calls) in &inside.products {
            let seen = &mut self.decisions.0.get_mut(*decision).1;
            *seen.asked_by.entry(function.to_owned()).or_default() += calls;
        }
    }
}

impl RecordVisitor for WhyBuilder {
    fn visit(&mut self, record: &Record) {
        if let Record::Header(header) = record {
            return self.begin(header.clone());
        }
        let Some(mut open) = self.open.take() else { return };
        if let Record::InFlight(call) = record {
            open.in_flight = true;
            self.event(&mut open, &call.event);
            open.in_flight = false;
        } else if record.call().is_some() {
            self.event(&mut open, record);
        } else {
            self.definition(&mut open, record);
        }
        self.open = Some(open);
    }

    fn wants_arguments(&self, kernel: Option<u32>) -> bool {
        let known = self.open.as_ref().zip(kernel).and_then(|(open, id)| open.kernels.get(&id));
        known.and_then(|(.., product)| product.as_ref()).is_some_and(ggml::MatMul::reads_arguments)
    }
}

impl Open {
    fn end(&self, call: &Call) -> CallEnd {
        if self.in_flight { CallEnd::InFlight } else { CallEnd::Returned(call.status) }
    }

    /// A call's function, without the parameters of a C++ one, and its library.
    fn function(&self, call: &Call) -> (String, String) {
        let (name, library) = self.hooks.get(&call.hook).cloned().unwrap_or_default();
        let plain = demangle(&name).and_then(|name| Some(name.split_once('(')?.0.to_owned()));
        (plain.unwrap_or(name), library)
    }
}

fn count(seen: &mut Seen, inside: &Contents, stream: Option<u32>) {
    seen.calls += 1;
    seen.streams.insert(stream);
    for (kernel, launches) in &inside.kernels {
        seen.launched(kernel.index(), *launches);
    }
}

fn is_failed(call: &Call) -> bool {
    call.status != 0 || call.unwound
}

fn kernels_of(inside: &Contents) -> Vec<usize> {
    let mut kernels: Vec<usize> = inside.kernels.iter().map(|(kernel, _)| kernel.index()).collect();
    kernels.sort_unstable();
    kernels
}
