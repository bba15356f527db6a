//! One pass over traces: a [`Session`] resolves each record once, and a [`Spine`] hands it to every
//! [`Analysis`] of the reading.
//!
//! ```text
//! file ─ reader ─▶ Record ─▶ Session: ids, counts ─▶ Event ─▶ summary, phases, flow, replay, …
//! ```
//!
//! A trace refers to everything by ids of its process (`hook`, `kernel`, `code_object`, …). The
//! session gives each function, symbol, kernel and code object one typed id over all processes, and
//! keeps the definitions of the process being read. An analysis looks up an event's ids in the
//! session and keeps its own numbers in tables by id; it resolves nothing itself.
//!
//! ```
//! use rocshim_analysis::{Analysis, Event, Session, Spine};
//! use std::collections::BTreeMap;
//!
//! /// Launches by symbol.
//! #[derive(Default)]
//! struct Launches(BTreeMap<String, u64>);
//!
//! impl Analysis for Launches {
//!     fn event(&mut self, session: &Session, event: &Event) {
//!         if let Some(symbol) = event.ids.symbol {
//!             *self.0.entry(session.symbol(symbol).name.clone()).or_default() += 1;
//!         }
//!     }
//! }
//!
//! let mut launches = Launches::default();
//! let mut spine = Spine::new(Session::default(), vec![&mut launches]);
//! spine.begin_file("prog-7.ndjson");
//! // rocshim_reader::read_trace(path, &mut spine) visits each record here.
//! spine.finish();
//! assert!(launches.0.is_empty());
//! ```
//!
//! Layers, lowest first: `id` (typed ids), `event` (a resolved call), `process` (definitions and
//! counts of one process), `reports` (of the GPU, and their calls), `scope` (which events count),
//! `spine` (the pass).

mod event;
mod id;
mod process;
mod reports;
mod scope;
mod spine;
#[cfg(test)]
mod tests;

pub use event::{Event, Ids};
pub use id::{CodeObjectId, FunctionId, KernelId, ProcessId, SymbolId};
pub(crate) use process::{HookUse, VisibilityGaps};
pub use process::{Identity, LocalHook, LocalKernel, Process};
pub use reports::CallKey;
pub use scope::Scope;
pub use spine::{Analyses, Analysis, Spine};

use crate::interner::{Id, Interner};
use reports::{ScopedReports, Ties};
use rocshim_trace::{
    CodeObject, Family, Header, Hex, Hook, Kernel, OF_KERNEL, Record, Tensile, family, ggml::MatMul,
};
use scope::is_within;
use std::sync::Arc;

/// A function of a ROCm library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its library, without version: `libamdhip64.so`.
    pub library: Arc<str>,
    /// Its symbol.
    pub name: Arc<str>,
}

/// The symbol of a kernel.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The mangled symbol; for a kernel whose definition is not in the trace, a placeholder text.
    pub name: String,
    /// The demangled name, where the symbol is a mangled one.
    pub demangled: Option<String>,
    /// The decoded symbol, where it is one of Tensile's.
    pub tensile: Option<Tensile>,
}

impl Symbol {
    /// Returns the demangled name, else the symbol.
    pub fn readable(&self) -> &str {
        self.demangled.as_deref().unwrap_or(&self.name)
    }

    /// Returns the family that the name matches, if any.
    pub fn family(&self) -> Option<&'static Family> {
        family(&self.name, self.demangled.as_deref())
    }
}

/// A kernel of a code object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelOf {
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its code object, where that is known.
    pub code_object: Option<CodeObjectId>,
    /// The target of its code, where that is known.
    pub target: Option<String>,
}

/// Definitions of all traces of a reading, over all processes.
#[derive(Clone, Default)]
pub struct Session {
    functions: Interner<(String, String), Function, FunctionId>,
    symbols: Interner<String, Symbol, SymbolId>,
    kernels: Interner<KernelOf, KernelOf, KernelId>,
    code_objects: Interner<String, CodeObject, CodeObjectId>,
    process: Option<Box<Process>>,
    begun: usize,
    /// Which events count; `None`: all.
    scope: Option<Scope>,
    /// The scope's windows of the process being read.
    windows: Vec<(u64, u64)>,
    /// The reports of the process being read.
    ties: Ties,
    scoped_reports: ScopedReports,
    unread: Vec<String>,
    /// The file being read.
    file: String,
    /// True if the last file ended with a footer that announces another segment.
    continues: bool,
    /// True if an analysis reads the arguments of launches of undefined kernels.
    wants_unknown: bool,
}

impl Session {
    /// Creates a session that passes only the events of `scope` to analyses.
    pub fn scoped(scope: Scope) -> Session {
        Session { scope: Some(scope), ..Session::default() }
    }

    /// Returns the scope of the session; `None` if all events count.
    pub fn scope(&self) -> Option<&Scope> {
        self.scope.as_ref()
    }

    /// The process that is read.
    ///
    /// # Panics
    ///
    /// Outside of a process. Analyses are called only from the first header to the last
    /// `end_process`.
    #[inline]
    pub fn process(&self) -> &Process {
        self.process.as_deref().expect("a process is read")
    }

    /// Returns true while a process is being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.process.is_some()
    }

    /// Returns the number of processes that have begun, including the one being read.
    pub fn processes(&self) -> usize {
        self.begun
    }

    /// Returns a function by its id.
    pub fn function(&self, id: FunctionId) -> &Function {
        self.functions.get(id)
    }

    /// Returns all functions, by id.
    pub fn functions(&self) -> &[Function] {
        self.functions.values()
    }

    /// Returns a symbol by its id.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        self.symbols.get(id)
    }

    /// Returns a kernel by its id.
    pub fn kernel(&self, id: KernelId) -> &KernelOf {
        self.kernels.get(id)
    }

    /// Returns a code object by its id, merged from all its definitions.
    pub fn code_object(&self, id: CodeObjectId) -> &CodeObject {
        self.code_objects.get(id)
    }

    /// Returns why files could not be read, one sentence each.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Returns the symbol of a kernel of a graph: by its id in the process being read, or by its
    /// handle if the kernel is unknown.
    pub fn symbol_of(&self, kernel: Option<u32>, handle: Option<Hex>) -> Option<SymbolId> {
        let process = self.process();
        let known = kernel.and_then(|id| process.kernel(id)).map(|local| local.symbol);
        known.or_else(|| self.symbols.find(&unknown_kernel(process, handle)))
    }

    fn begin_process(&mut self, header: Header) {
        let process = Process::new(ProcessId::at(self.begun), self.file.clone(), header);
        self.begun += 1;
        (self.ties, self.scoped_reports) = Default::default();
        if let Some(scope) = &self.scope {
            self.windows = scope.windows(&process.identity());
        }
        self.process = Some(Box::new(process));
    }

    /// Handles a record that is not an event; returns whether it is in scope.
    fn define(&mut self, record: &Record, wants_arguments: impl Fn(&Kernel) -> bool) -> bool {
        let Some(mut process) = self.process.take() else { return false };
        let mut is_in_scope = true;
        match record {
            Record::HookTable(table) => {
                table.hooks().for_each(|hook| self.define_hook(&mut process, &hook));
            }
            Record::Hook(hook) => self.define_hook(&mut process, hook),
            Record::CodeObject(object) => self.define_code_object(&mut process, object),
            Record::Kernel(kernel) => {
                let wants_arguments = wants_arguments(kernel);
                self.define_kernel(&mut process, kernel, wants_arguments);
            }
            Record::Graph(graph) => {
                for node in &graph.kernels {
                    if node.kernel.and_then(|id| process.kernel(id)).is_none() {
                        self.intern_symbol(unknown_kernel(&process, node.function), None);
                    }
                }
                process.graphs.define(graph.clone());
            }
            Record::Library(library) => {
                process.libraries.insert(library.id, library.clone());
            }
            // Every segment repeats these definitions.
            Record::Interception(point) if !process.points.contains(point) => {
                process.points.push(point.clone());
            }
            Record::Bypass(bypass) if !process.bypasses.contains(bypass) => {
                process.bypasses.push(bypass.clone());
            }
            Record::Recording(recording) => process.pauses.note(recording),
            Record::Gap(gap) => {
                is_in_scope = self.is_in_scope(gap.t.saturating_add(gap.dur));
                process.lost += if is_in_scope { gap.lost } else { 0 };
            }
            Record::Thread(account) => process.accounted += account.written,
            Record::Footer(footer) => {
                process.footer = Some(footer.clone());
                if let (Some(footer), Some(_)) = (&mut process.footer, &self.scope) {
                    // It is unknown whether the calls that it counts were in scope.
                    footer.calls.clear();
                }
            }
            _ => {}
        }
        self.process = Some(process);
        is_in_scope
    }

    fn define_hook(&mut self, process: &mut Process, hook: &Hook) {
        let function = self.functions.number((hook.of.clone(), hook.name.clone()), || Function {
            library: hook.of.as_str().into(),
            name: hook.name.as_str().into(),
        });
        let segment = process.segment();
        let at = usize::from(hook.id);
        if at >= process.hooks.len() {
            process.hooks.resize(at + 1, None);
        }
        let (events, out_of_scope) =
            process.hooks[at].as_ref().map_or((0, 0), |known| (known.events, known.out_of_scope));
        let hook = LocalHook { hook: hook.clone(), function, events, out_of_scope, segment };
        process.hooks[at] = Some(Box::new(hook));
    }

    fn define_code_object(&mut self, process: &mut Process, object: &CodeObject) {
        let id = self.intern_code_object(&process.id.index().to_string(), object);
        process.code_objects.insert(object.id, id);
    }

    /// Returns the id of a code object that `process` defines; keeps the definition's contents.
    pub(crate) fn intern_code_object(&mut self, process: &str, object: &CodeObject) -> CodeObjectId {
        // The same place in the same file is the same object in every process, and so is the same
        // content from memory.
        let key = match (&object.path, object.offset, &object.xxh3) {
            (Some(path), offset, _) => format!("{path} {offset:?} {:?}", object.ordinal),
            (None, _, Some(hash)) => hash.clone(),
            (None, _, None) => format!("{process} {}", object.id),
        };
        let id = self.code_objects.number(key, CodeObject::default);
        // A later definition may know more; but one that was written elsewhere (a recovered trace,
        // in another container) may not find the file again.
        let known = std::mem::replace(self.code_objects.get_mut(id), object.clone());
        if object.file.is_none() && known.file.is_some() {
            let object = self.code_objects.get_mut(id);
            (object.file, object.fallback, object.unmatched) = (known.file, known.fallback, None);
        }
        id
    }

    fn define_kernel(&mut self, process: &mut Process, kernel: &Kernel, wants_arguments: bool) {
        let segment = process.segment();
        if let Some(known) = process.kernels.get_mut(&kernel.id) {
            known.segment = segment;
            return;
        }
        let symbol = self.intern_symbol(kernel.name.clone(), kernel.demangled.as_deref());
        let code_object = kernel.code_object.and_then(|id| process.code_object(id));
        let of = KernelOf { symbol, code_object, target: kernel.target.clone() };
        let arguments = kernel.args.iter().flatten();
        let local = LocalKernel {
            id: self.kernels.number(of.clone(), || of),
            symbol,
            code_object,
            hook: kernel.hook,
            product: MatMul::of(kernel),
            arguments: arguments.map(|argument| argument.name.as_deref().unwrap_or("").into()).collect(),
            wants_arguments,
            segment,
        };
        process.kernels.insert(kernel.id, local);
    }

    /// Returns the id of a symbol; adds its demangled name if that was unknown.
    pub(crate) fn intern_symbol(&mut self, name: String, demangled: Option<&str>) -> SymbolId {
        let id = self.symbols.number(name.clone(), || Symbol {
            tensile: Tensile::of(&name),
            name,
            demangled: None,
        });
        let symbol = self.symbols.get_mut(id);
        if symbol.demangled.is_none() {
            symbol.demangled = demangled.map(str::to_string);
        }
        id
    }

    /// Resolves the ids of a call's record; `None` for other records, and outside of a process.
    #[inline]
    fn resolve(&mut self, record: &Record) -> Option<Ids> {
        let call = record.call()?;
        let process = self.process.as_deref()?;
        let mut ids = Ids { hook: call.hook, capture: event::capture_of(record), ..Ids::default() };
        match record {
            Record::Launch(launch) => match launch.kernel.and_then(|id| process.kernel(id)) {
                Some(local) => {
                    (ids.kernel, ids.symbol) = (Some(local.id), Some(local.symbol));
                    ids.code_object = local.code_object;
                    if call.hook == OF_KERNEL {
                        ids.hook = local.hook.unwrap_or(OF_KERNEL);
                    }
                }
                None => {
                    let name = unknown_kernel(process, launch.function);
                    ids.symbol = Some(self.intern_symbol(name, None));
                }
            },
            Record::Load(load) => ids.code_object = load.code_object.and_then(|id| process.code_object(id)),
            _ => {}
        }
        ids.function = self.process.as_deref()?.hook(ids.hook).map(|local| local.function);
        Some(ids)
    }

    /// Counts an event, and keeps what it does to graphs; returns whether it is in scope.
    #[inline]
    fn count(&mut self, record: &Record, ids: &Ids) -> bool {
        let Some(call) = record.call() else { return false };
        let is_in_scope = self.is_in_scope(call.t.saturating_add(call.dur));
        let Some(process) = self.process.as_deref_mut() else { return false };
        match record {
            Record::Launch(launch) if launch.call.status == 0 => {
                launch.capture.into_iter().for_each(|capture| process.graphs.capture(capture, launch));
            }
            Record::GraphCall(call) => process.graphs.call(call),
            Record::GraphLaunch(launch) if is_in_scope => process.graphs.launch(launch),
            _ => {}
        }
        match record {
            Record::Gpu(_) => process.count_report(ids.hook, true),
            _ => process.count(ids.hook, call, is_in_scope),
        }
        is_in_scope
    }

    fn is_in_scope(&self, end: u64) -> bool {
        self.scope.is_none() || is_within(&self.windows, end)
    }
}

/// Returns the placeholder symbol of a kernel without a definition.
fn unknown_kernel(process: &Process, handle: Option<Hex>) -> String {
    format!("unknown kernel {} of process {}", handle.unwrap_or_default(), process.header.pid)
}
