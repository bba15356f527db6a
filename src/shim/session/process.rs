//! A traced process: its ring files, rings, definition log, registries, and the path of its trace.

mod kernels;

use super::collector_state::{CollectorState, CollectorStateCell};
use super::identity::identity;
use super::paths::{RingFiles, create_folder, create_trace};
use super::quiesce::Quiesce;
use crate::platform::idle::Waker;
use crate::platform::{ids::gettid, memory, objects, signals::lock};
use crate::state::blas_settings::BlasSettings;
use crate::state::graphs::{Emit, Graphs};
use crate::state::kernels::{Code, KernelRegistry};
use crate::state::lt_descriptors::Descriptors;
use crate::state::miopen_problems::Problems;
use crate::state::{address_map::AddressMap, layouts, shapes};
use crate::symbols::binding;
use crate::table::config::Config;
use crate::table::row::{Hook, Table};
use crossbeam_channel::{Receiver, Sender};
use parking_lot::Mutex;
use rocshim_ring::definition::{Definition, Image, ProcessIdentity, StampedDefinition, Text};
use rocshim_ring::event::{NO_MEMORY, RING_FULL, THREAD_ENDED};
use rocshim_ring::{Control, Folder, Log, Pool, Ring, clock, sandbox};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Limit of the rings that exist at once. A slow disk delays the release of ended threads' rings.
const MAX_RINGS: u64 = 8192;
/// Limit of the rings created without a collector, which would release those of ended threads.
const MAX_UNREAD_RINGS: u64 = 256;

/// Chunks that are ready as a filter is installed: 1 MiB.
const FILTERED_CHUNKS: usize = 32;

/// A message to the collector.
pub(crate) enum Message {
    /// Write everything, end the trace, then reply.
    Stop(Sender<()>),
    /// Write what was recorded up to now, then reply with success.
    Flush(Sender<bool>),
    /// Check [`Process::quiesce`].
    Quiesce,
}

/// A process being recorded. Lives from the first hooked call to the end; a forked child creates
/// its own.
pub(crate) struct Process {
    pub(crate) config: Config,
    /// Process id.
    pub(crate) pid: u32,
    /// State of the collector.
    pub(crate) collector: CollectorStateCell,
    /// The hook table.
    pub(crate) table: Table,
    /// The folder of the ring files; `None` when rings are private memory.
    pub(crate) folder: Option<Folder>,
    pub(crate) log: Log,
    pub(crate) control: Control,
    /// Memory of the rings.
    pub(crate) pool: Arc<Pool>,
    /// Path of the trace file, created empty at the start.
    pub(crate) trace: PathBuf,
    /// True once the definitions from before the first recorded call were emitted. A forked child
    /// inherits them from its parent.
    has_emitted_early: AtomicBool,
    rings: Mutex<Rings>,
    /// Number of rings created so far.
    ring_count: AtomicU64,
    /// Loss reason of a full ring, for present and future rings.
    why_full: AtomicU64,
    /// Loss reason of threads that were refused a ring.
    why_refused: AtomicU64,
    /// True while new threads are refused a ring.
    refuses: AtomicBool,
    kernels: Mutex<KernelRegistry>,
    libraries: Mutex<Libraries>,
    graphs: Mutex<Graphs>,
    pub(crate) problems: Problems,
    blas: BlasSettings,
    pub(crate) descriptors: Descriptors,
    /// Definition id by the address of a kernel's name.
    pub(crate) gpu_names: AddressMap<1>,
    /// Switches GPU times on or off; set by the first call of the HIP runtime.
    pub(crate) switch_gpu_time: OnceLock<fn(&Process, bool)>,
    pub(crate) to_collector: Sender<Message>,
    pub(crate) for_collector: Receiver<Message>,
    /// Ends the collector's idle wait.
    pub(crate) waker: Waker,
    /// True once the trace's footer is written.
    pub(crate) is_written: AtomicBool,
    /// Quiesces the collector when the program enters a sandbox.
    pub(crate) quiesce: Quiesce,
}

/// The rings of a process.
#[derive(Default)]
struct Rings {
    /// All that are mapped. Threads write to them whether or not there is a collector.
    all: Vec<Arc<Ring>>,
    /// Those that the collector has not picked up yet.
    new: Vec<Arc<Ring>>,
    /// Number of rings in creation, which count towards the limit.
    in_creation: u64,
}

/// The ROCm libraries that were emitted.
#[derive(Default)]
struct Libraries {
    paths: HashSet<String>,
    /// The loader's change count when libraries were last listed.
    generation: u64,
}

impl Process {
    /// Creates the files of a process that is about to be recorded.
    ///
    /// # Errors
    /// When the trace file can be created neither in the configured nor in the fallback folder.
    pub(crate) fn start(config: &Config, table: Table, parent: Option<&Process>) -> io::Result<Process> {
        shapes::clear();
        let (stamp, unix_ns) = clock::anchor();
        let identity = ProcessIdentity { unix_ns, ..identity() };
        let (trace, note) = create_trace(config, &identity)?;
        let folder = create_folder(config, &identity, &trace, parent.is_some());
        let created = (trace.clone(), folder.as_ref().map(|made| made.folder.path().to_owned()));
        let process = Process::with(
            config,
            table,
            parent,
            stamp,
            ProcessIdentity { note: note.map(Text::from), ..identity },
            trace,
            folder,
        );
        if process.is_err() {
            let _ = std::fs::remove_file(created.0);
            let _ = created.1.map(std::fs::remove_dir_all);
        }
        process
    }

    /// Starts with the files created.
    fn with(
        config: &Config,
        table: Table,
        parent: Option<&Process>,
        stamp: u64,
        identity: ProcessIdentity,
        trace: PathBuf,
        folder: Option<RingFiles>,
    ) -> io::Result<Process> {
        let pid = identity.pid;
        let (folder, control, log, pool) = match folder {
            Some(RingFiles { folder, control, log, pool }) => (Some(folder), control, log, pool),
            None => (None, Control::create(None)?, Log::new(None), Pool::create(None, config.memory_bytes)?),
        };
        let rings = folder.as_ref().map(|f| f.path().to_string_lossy().into_owned()).unwrap_or_default();
        let trace_text = Text::from(trace.to_string_lossy().into_owned());
        let identity = ProcessIdentity { rings: rings.into(), trace: trace_text, ..identity };
        log.define(&StampedDefinition { stamp, definition: Definition::Process(identity) })?;
        let row = |hook: &&Hook| (hook.name, hook.of, config.records(hook.name));
        let hooks = table.iter().map(row).collect();
        log.define(&StampedDefinition {
            stamp,
            definition: Definition::Hooks { hooks, points: config.points },
        })?;
        if binding::is_paused() {
            log.define(&StampedDefinition { stamp, definition: Definition::Recording(false) })?;
        }
        let mut kernels = KernelRegistry::default();
        if let Some(parent) = parent {
            log.inherit(&parent.log, |position| kernels.apply(&log, position));
        }
        let (to_collector, for_collector) = crossbeam_channel::unbounded();
        Ok(Process {
            config: config.clone(),
            pid,
            collector: CollectorStateCell::default(),
            table,
            folder,
            log,
            control,
            pool: Arc::new(pool),
            trace,
            has_emitted_early: AtomicBool::new(parent.is_some()),
            rings: Mutex::default(),
            ring_count: AtomicU64::new(0),
            why_full: AtomicU64::new(RING_FULL),
            why_refused: AtomicU64::new(RING_FULL),
            refuses: AtomicBool::new(false),
            kernels: Mutex::new(kernels),
            libraries: Mutex::default(),
            graphs: Mutex::new(Graphs::new()),
            problems: Problems::default(),
            blas: BlasSettings::default(),
            descriptors: Descriptors::default(),
            gpu_names: AddressMap::default(),
            switch_gpu_time: OnceLock::new(),
            to_collector,
            for_collector,
            waker: Waker::default(),
            is_written: AtomicBool::new(false),
            quiesce: Quiesce::default(),
        })
    }

    /// Emits a definition that is valid from `stamp` on. Returns its id, or `None` without memory.
    pub(crate) fn define(&self, stamp: u64, definition: Definition) -> Option<u32> {
        // Before the lock, whose holder may have parked for lack of memory.
        if memory::is_short() {
            return None;
        }
        self.emit(&mut lock(&self.kernels), stamp, definition)
    }

    fn emit(&self, kernels: &mut KernelRegistry, stamp: u64, definition: Definition) -> Option<u32> {
        let (number, position) = self.log.define(&StampedDefinition { stamp, definition }).ok()?;
        kernels.apply(&self.log, position);
        Some(number)
    }

    /// Returns true to the first caller, which emits the definitions from before the first call.
    pub(crate) fn claim_early(&self) -> bool {
        !self.has_emitted_early.load(Relaxed) && !self.has_emitted_early.swap(true, Relaxed)
    }

    /// Emits what `work` finds to be new of captures and graphs, valid from `stamp` on.
    pub(crate) fn emit_graphs<T>(&self, stamp: u64, work: impl FnOnce(&mut Graphs, Emit) -> T) -> T {
        work(&mut lock(&self.graphs), &mut |definition| {
            self.describe_kernels(&definition);
            self.define(stamp, definition)
        })
    }

    /// Looks up the kernels of a graph as it is emitted: they may never be launched directly.
    fn describe_kernels(&self, definition: &Definition) {
        let kernels = match definition {
            Definition::Graph(graph) => &graph.kernels[..],
            Definition::ExecNode { kernel, .. } => std::slice::from_ref(kernel),
            _ => return,
        };
        for kernel in kernels.iter().flatten().filter(|kernel| layouts::find(kernel.function).is_none()) {
            lock(&self.kernels).describe(&self.log, kernel.function, &mut self.appender());
        }
    }

    /// Creates a ring for the calling thread, in the folder or in private memory.
    ///
    /// # Errors
    /// When there is no memory for it, or no collector that would read and release it.
    pub(crate) fn make_ring(&self) -> io::Result<Arc<Ring>> {
        if self.refuses.load(Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        sandbox::begin_thread();
        let number = self.ring_count.fetch_add(1, Relaxed);
        if memory::is_short()
            || sandbox::is_new()
            || self.collector.get() != CollectorState::Running && number >= MAX_UNREAD_RINGS
        {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let path = self.folder.as_ref().map(|folder| folder.ring_path(number));
        self.reserve_ring()?;
        let create = |path| Ring::create(path, number, gettid(), self.config.when_full, &self.pool);
        let created = create(path.as_deref()).or_else(|_| create(None));
        let mut rings = lock(&self.rings);
        rings.in_creation -= 1;
        let ring = Arc::new(created?);
        ring.set_why_full(self.why_full.load(Relaxed));
        rings.all.push(ring.clone());
        rings.new.push(ring.clone());
        Ok(ring)
    }

    /// Reserves one of [`MAX_RINGS`] for a ring in creation.
    fn reserve_ring(&self) -> io::Result<()> {
        let mut rings = lock(&self.rings);
        if rings.all.len() as u64 + rings.in_creation >= MAX_RINGS {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        rings.in_creation += 1;
        Ok(())
    }

    /// Sets the loss reason of future rings while they are full.
    pub(crate) fn set_why_full(&self, reason: u64) {
        self.why_full.store(reason, Relaxed);
    }

    /// Counts a call of a thread without a ring: none could be created, or it `had_one` and closed
    /// it.
    pub(crate) fn count_untracked(&self, had_one: bool) {
        let why_refused = self.why_refused.load(Relaxed);
        self.control.count_untracked(match why_refused {
            _ if had_one => THREAD_ENDED,
            RING_FULL => NO_MEMORY,
            refused => refused,
        });
    }

    /// Refuses rings to new threads for this reason, while the trace cannot be written and too many
    /// rings of ended threads wait. `None` ends that.
    pub(crate) fn refuse_rings(&self, reason: Option<u64>) {
        if let Some(reason) = reason {
            self.why_refused.store(reason, Relaxed);
        }
        self.refuses.store(reason.is_some(), Relaxed);
    }

    /// Takes the file lock that shows other PID namespaces that this process is alive, until the
    /// returned file is closed. The caller has its own descriptor table.
    pub(crate) fn hold_folder(&self) -> Option<File> {
        let held = self.folder.as_ref()?.hold().ok()?;
        self.control.set_locked();
        Some(held)
    }

    /// Makes ring memory ready before a filter is installed, under which a thread reserves none.
    pub(crate) fn fill_pool(&self) {
        if !sandbox::is_new() {
            self.pool.warm(FILTERED_CHUNKS.saturating_sub(self.pool.state().ready as usize));
        }
    }

    /// Quiesces the collector before a filter is installed that applies to it too.
    pub(crate) fn quiesce_collector(&self) {
        self.quiesce.request(|| {
            let _ = self.to_collector.send(Message::Quiesce);
            self.waker.wake();
        });
    }

    /// Makes every ring's producer stop reading the time-stamp counter.
    pub(crate) fn forbid_tsc(&self) {
        lock(&self.rings).all.iter().for_each(|ring| ring.forbid_tsc());
    }

    /// Releases the ring of an ended thread, after its events were written.
    pub(crate) fn release_ring(&self, ring: &Arc<Ring>) {
        lock(&self.rings).all.retain(|known| !Arc::ptr_eq(known, ring));
    }

    /// Returns the rings created since the last call.
    pub(crate) fn take_new_rings(&self) -> Vec<Arc<Ring>> {
        std::mem::take(&mut lock(&self.rings).new)
    }

    /// Emits the ROCm libraries that were loaded since the last call.
    pub(crate) fn emit_libraries(&self) {
        let generation = objects::generation();
        let mut emitted = lock(&self.libraries);
        if generation == emitted.generation {
            return;
        }
        emitted.generation = generation;
        for object in objects::objects().iter().filter(|object| object.is_rocm()) {
            if emitted.paths.insert(object.path.clone()) {
                self.define(clock::now(), Definition::Library { path: object.path.as_str().into() });
            }
        }
    }

    /// Emits the result of a lookup: `function` is kernel `name` of `module`.
    pub(crate) fn define_function(&self, stamp: u64, function: u64, module: u64, name: Text) {
        let mut kernels = lock(&self.kernels);
        if kernels.is_new(&self.log, function, module, &name) {
            self.emit(&mut kernels, stamp, Definition::Function { function, module, name });
            // Not at its first launch, because one without arguments needs no layout.
            kernels.describe(&self.log, function, &mut self.appender());
        }
    }

    /// Emits that `function` is the same kernel as `of`.
    pub(crate) fn define_same_function(&self, stamp: u64, function: u64, of: u64) {
        let mut kernels = lock(&self.kernels);
        if kernels.is_new_alias(&self.log, function, of) {
            self.emit(&mut kernels, stamp, Definition::SameFunction { function, of });
        }
    }

    /// Emits a module. `look` reads its image, which the program may free later, for devices of the
    /// given targets.
    pub(crate) fn define_module<'a>(
        &self,
        stamp: u64,
        module: u64,
        look: impl FnOnce(&[Box<str>]) -> (Image<'a>, Code),
    ) -> Option<u32> {
        let targets = lock(&self.kernels).targets();
        let (image, code) = look(&targets);
        let mut kernels = lock(&self.kernels);
        let number = self.emit(&mut kernels, stamp, Definition::Module { module, image });
        kernels.set_code(module, code);
        number
    }

    /// Emits a setting of a BLAS handle, valid from `stamp` on, unless it is unchanged.
    pub(crate) fn set_blas(&self, stamp: u64, handle: u64, setting: u8, value: u64) {
        if let Some(value) = self.blas.change(handle, setting, value) {
            self.define(stamp, Definition::Setting { handle, setting, value });
        }
    }

    /// Forgets a BLAS handle's settings, so that they are emitted again.
    pub(crate) fn forget_blas(&self, handle: u64) {
        self.blas.remove(handle);
    }

    /// Invalidates the functions of `module` from `stamp` on.
    pub(crate) fn forget_functions(&self, module: u64, stamp: u64) {
        lock(&self.kernels).invalidate(module, stamp);
        lock(&self.graphs).forget_emitted();
    }
}
