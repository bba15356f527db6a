//! What a traced process records into: its folder of shared memory files, its rings, its definition log, its trace.

use super::collector_state::{Collector, CollectorIs};
use super::identity::about;
use super::paths::{Made, make_folder, make_trace};
use super::rest::Rest;
use crate::platform::idle::Alarm;
use crate::platform::{ids::gettid, memory, objects, signals::lock};
use crate::state::blas_settings::BlasSettings;
use crate::state::graphs::{Emit, Graphs};
use crate::state::kernels::{Code, KernelRegistry};
use crate::state::lt_descriptors::Descriptors;
use crate::state::miopen_problems::Problems;
use crate::state::{address_map::AddressMap, layouts};
use crate::symbols::binding;
use crate::table::config::Config;
use crate::table::row::{Hook, Table};
use crossbeam_channel::{Receiver, Sender};
use parking_lot::Mutex;
use rocshim_ring::arguments::Layout;
use rocshim_ring::definition::{Definition, Frame, Image, Process as About, Text};
use rocshim_ring::event::{NO_MEMORY, RING_FULL, THREAD_ENDED};
use rocshim_ring::{Control, Folder, Log, Pool, Ring, clock, sandbox};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Rings that there are at once. Those of threads that have ended wait for a collector that a slow disk holds up.
const MOST: u64 = 8192;
/// Rings that are made where no collector gives back those of threads that have ended.
const UNREAD_RINGS: u64 = 256;

/// What the collector is told by other threads.
pub(crate) enum Message {
    /// Write everything, end the trace, then answer.
    Stop(Sender<()>),
    /// Write what was recorded by now, then answer whether that could be.
    Flush(Sender<bool>),
    /// Look at [`Process::rest`].
    Rest,
}

/// A process being recorded. Lives from the first hooked call to the end; a forked child makes its own.
pub(crate) struct Process {
    pub(crate) config: Config,
    /// Its number.
    pub(crate) pid: u32,
    /// Who writes its trace.
    pub(crate) collector: CollectorIs,
    /// The functions that are hooked.
    pub(crate) table: Table,
    /// Where the rings are; `None` when they could only be private memory.
    pub(crate) folder: Option<Folder>,
    pub(crate) log: Log,
    pub(crate) control: Control,
    /// The memory of the rings.
    pub(crate) pool: Arc<Pool>,
    /// The trace file, made empty at the start.
    pub(crate) trace: PathBuf,
    /// It was told what happened before it began; a forked child has it from its parent.
    told_early: AtomicBool,
    rings: Mutex<Rings>,
    /// Rings made so far.
    ring_count: AtomicU64,
    /// Why rings are full, that are or are made.
    why_full: AtomicU64,
    why_refused: AtomicU64, // why threads were refused a ring, if any were
    refuses: AtomicBool,    // new threads are
    names: Mutex<KernelRegistry>,
    libraries: Mutex<Libraries>,
    graphs: Mutex<Graphs>,
    pub(crate) problems: Problems,
    settings: BlasSettings,
    pub(crate) descriptors: Descriptors,
    pub(crate) gpu_names: AddressMap<1>, // what stands for a kernel's name: its definition's number
    pub(crate) turn_gpu_time: OnceLock<fn(&Process, bool)>, // from the first call of the runtime on
    pub(crate) to_collector: Sender<Message>,
    pub(crate) for_collector: Receiver<Message>,
    /// Ends the collector's idle wait.
    pub(crate) alarm: Alarm,
    /// The trace has its end.
    pub(crate) is_written: AtomicBool,
    /// Whether the collector rests, because the program is in a sandbox.
    pub(crate) rest: Rest,
}

/// The rings.
#[derive(Default)]
struct Rings {
    /// Those that take memory. Their threads write to them, whatever becomes of the collector.
    all: Vec<Arc<Ring>>,
    /// Those of them that the collector has not picked up yet.
    new: Vec<Arc<Ring>>,
    coming: u64, // being made
}

/// The ROCm libraries that were told of.
#[derive(Default)]
struct Libraries {
    paths: HashSet<String>,
    /// The loader's count when they were last listed.
    generation: u64,
}

impl Process {
    /// Makes the files of a process that is about to be recorded.
    ///
    /// # Errors
    /// When neither the folder asked for nor the one for emergencies takes the trace file.
    pub(crate) fn start(config: &Config, table: Table, parent: Option<&Process>) -> io::Result<Process> {
        let (stamp, unix_ns) = clock::anchor();
        let about = About { unix_ns, ..about() };
        let (trace, note) = make_trace(config, &about)?;
        let folder = make_folder(config, &about, &trace);
        let made = (trace.clone(), folder.as_ref().map(|made| made.folder.path().to_owned()));
        let process = Process::with(
            config,
            table,
            parent,
            stamp,
            About { note: note.map(Text::from), ..about },
            trace,
            folder,
        );
        if process.is_err() {
            let _ = std::fs::remove_file(made.0);
            let _ = made.1.map(std::fs::remove_dir_all);
        }
        process
    }

    /// With its files made.
    fn with(
        config: &Config,
        table: Table,
        parent: Option<&Process>,
        stamp: u64,
        about: About,
        trace: PathBuf,
        folder: Option<Made>,
    ) -> io::Result<Process> {
        let pid = about.pid;
        let (folder, control, log, pool) = match folder {
            Some(Made { folder, control, log, pool }) => (Some(folder), control, log, pool),
            None => (None, Control::create(None)?, Log::new(None), Pool::create(None, config.memory_bytes)?),
        };
        let rings = folder.as_ref().map(|f| f.path().to_string_lossy().into_owned()).unwrap_or_default();
        let trace_text = Text::from(trace.to_string_lossy().into_owned());
        let about = About { rings: rings.into(), trace: trace_text, ..about };
        log.define(&Frame { stamp, definition: Definition::Process(about) })?;
        let row = |hook: &&Hook| (hook.name.into(), hook.of.into(), config.records(hook.name));
        let hooks = table.iter().map(row).collect();
        log.define(&Frame { stamp, definition: Definition::Hooks { hooks, points: config.points } })?;
        if binding::is_paused() {
            log.define(&Frame { stamp, definition: Definition::Recording(false) })?;
        }
        let mut names = KernelRegistry::default();
        if let Some(parent) = parent {
            log.inherit(&parent.log, |place| names.apply(&log, place));
        }
        let (to_collector, for_collector) = crossbeam_channel::unbounded();
        Ok(Process {
            config: config.clone(),
            pid,
            collector: CollectorIs::default(),
            table,
            folder,
            log,
            control,
            pool: Arc::new(pool),
            trace,
            told_early: AtomicBool::new(parent.is_some()),
            rings: Mutex::default(),
            ring_count: AtomicU64::new(0),
            why_full: AtomicU64::new(RING_FULL),
            why_refused: AtomicU64::new(RING_FULL),
            refuses: AtomicBool::new(false),
            names: Mutex::new(names),
            libraries: Mutex::default(),
            graphs: Mutex::new(Graphs::new()),
            problems: Problems::default(),
            settings: BlasSettings::default(),
            descriptors: Descriptors::default(),
            gpu_names: AddressMap::default(),
            turn_gpu_time: OnceLock::new(),
            to_collector,
            for_collector,
            alarm: Alarm::default(),
            is_written: AtomicBool::new(false),
            rest: Rest::default(),
        })
    }

    /// Tells a definition that holds from `stamp` on; gives its number, or `None` when there was no memory for it.
    pub(crate) fn define(&self, stamp: u64, definition: Definition) -> Option<u32> {
        // Before the lock: who holds it may have no memory to go on.
        if memory::is_short() {
            return None;
        }
        self.tell(&mut lock(&self.names), stamp, definition)
    }

    fn tell(&self, names: &mut KernelRegistry, stamp: u64, definition: Definition) -> Option<u32> {
        let (number, place) = self.log.define(&Frame { stamp, definition }).ok()?;
        names.apply(&self.log, place);
        Some(number)
    }

    /// True the first time: what happened before the process began is to be told.
    pub(crate) fn is_new(&self) -> bool {
        !self.told_early.load(Relaxed) && !self.told_early.swap(true, Relaxed)
    }

    /// Tells of captures and graphs what `work` finds to be new, to hold from `stamp` on.
    pub(crate) fn tell_graphs<T>(&self, stamp: u64, work: impl FnOnce(&mut Graphs, Emit) -> T) -> T {
        work(&mut lock(&self.graphs), &mut |definition| {
            self.describe_kernels(&definition);
            self.define(stamp, definition)
        })
    }

    /// Kernels that a graph launches need never be launched by themselves: they are looked up when it is told of.
    fn describe_kernels(&self, definition: &Definition) {
        let kernels = match definition {
            Definition::Graph(graph) => &graph.kernels[..],
            Definition::ExecNode { kernel, .. } => std::slice::from_ref(kernel),
            _ => return,
        };
        for kernel in kernels.iter().flatten().filter(|kernel| layouts::find(kernel.function).is_none()) {
            self.layout_of(kernel.function);
        }
    }

    /// Makes a ring for the calling thread, in the folder or in private memory.
    ///
    /// # Errors
    /// When there is no memory for it, or nobody who would ever read it or give it back.
    pub(crate) fn make_ring(&self) -> io::Result<Arc<Ring>> {
        if self.refuses.load(Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        sandbox::begin_thread();
        let number = self.ring_count.fetch_add(1, Relaxed);
        if memory::is_short()
            || sandbox::is_new()
            || self.collector.get() != Collector::Thread && number >= UNREAD_RINGS
        {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let path = self.folder.as_ref().map(|folder| folder.ring_path(number));
        self.claim_place()?;
        let create = |path| Ring::create(path, number, gettid(), self.config.when_full, &self.pool);
        let made = create(path.as_deref()).or_else(|_| create(None));
        let mut rings = lock(&self.rings);
        rings.coming -= 1;
        let ring = Arc::new(made?);
        ring.set_why_full(self.why_full.load(Relaxed));
        rings.all.push(ring.clone());
        rings.new.push(ring.clone());
        Ok(ring)
    }

    /// Counts a ring that is about to be made, if there may be one more.
    fn claim_place(&self) -> io::Result<()> {
        let mut rings = lock(&self.rings);
        if rings.all.len() as u64 + rings.coming >= MOST {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        rings.coming += 1;
        Ok(())
    }

    /// Rings that are made from now on are full for this reason, when they are.
    pub(crate) fn set_why_full(&self, reason: u64) {
        self.why_full.store(reason, Relaxed);
    }

    /// Counts a call of a thread that has no ring: none could be made, or it `had_one` and has closed it.
    pub(crate) fn count_untracked(&self, had_one: bool) {
        let why_refused = self.why_refused.load(Relaxed);
        self.control.count_untracked(match why_refused {
            _ if had_one => THREAD_ENDED,
            RING_FULL => NO_MEMORY,
            refused => refused,
        });
    }

    /// While the trace cannot be written, for this reason, threads that are new get no ring: too many wait already. `None`:
    /// it can.
    pub(crate) fn refuse_rings(&self, reason: Option<u64>) {
        if let Some(reason) = reason {
            self.why_refused.store(reason, Relaxed);
        }
        self.refuses.store(reason.is_some(), Relaxed);
    }

    /// Takes the lock that shows to those in other PID namespaces that this process lives, for as
    /// long as the file is open: in a descriptor table of the caller's own.
    pub(crate) fn hold_folder(&self) -> Option<File> {
        let held = self.folder.as_ref()?.hold().ok()?;
        self.control.set_locked();
        Some(held)
    }

    /// Returns when the collector rests, before a filter is installed that holds it too.
    pub(crate) fn rest_collector(&self) {
        self.rest.ask(|| {
            let _ = self.to_collector.send(Message::Rest);
            self.alarm.ring();
        });
    }

    /// No thread reads the time-stamp counter any more.
    pub(crate) fn forbid_tsc(&self) {
        lock(&self.rings).all.iter().for_each(|ring| ring.forbid_tsc());
    }

    /// The thread of a ring has ended, and what it held is written.
    pub(crate) fn give_back(&self, ring: &Arc<Ring>) {
        lock(&self.rings).all.retain(|known| !Arc::ptr_eq(known, ring));
    }

    /// The rings that were made since they were last taken.
    pub(crate) fn take_rings(&self) -> Vec<Arc<Ring>> {
        std::mem::take(&mut lock(&self.rings).new)
    }

    /// Tells of the ROCm libraries that were loaded since the last look.
    pub(crate) fn tell_libraries(&self) {
        let generation = objects::generation();
        let mut told = lock(&self.libraries);
        if generation == told.generation {
            return;
        }
        told.generation = generation;
        for object in objects::objects().iter().filter(|object| object.is_rocm()) {
            if told.paths.insert(object.path.clone()) {
                self.define(clock::now(), Definition::Library { path: object.path.as_str().into() });
            }
        }
    }

    /// Tells what a look-up has found: `function` is kernel `name` of `module`.
    pub(crate) fn define_function(&self, stamp: u64, function: u64, module: u64, name: Text) {
        let mut names = lock(&self.names);
        if names.is_new(&self.log, function, module, &name) {
            self.tell(&mut names, stamp, Definition::Function { function, module, name });
            // Not at its first launch: one that passes no arguments does not ask how they lie.
            self.look_up(&mut names, function);
        }
    }

    /// Tells that `function` is the same kernel as `of`.
    pub(crate) fn define_same_function(&self, stamp: u64, function: u64, of: u64) {
        let mut names = lock(&self.names);
        if names.is_new_alias(&self.log, function, of) {
            self.tell(&mut names, stamp, Definition::SameFunction { function, of });
        }
    }

    /// Tells of a module, after a `look` at its image, which the program may free, for devices of the targets given.
    pub(crate) fn define_module<'a>(
        &self,
        stamp: u64,
        module: u64,
        look: impl FnOnce(&[Box<str>]) -> (Image<'a>, Code),
    ) -> Option<u32> {
        let targets = lock(&self.names).targets();
        let (image, code) = look(&targets);
        let mut names = lock(&self.names);
        let number = self.tell(&mut names, stamp, Definition::Module { module, image });
        names.set_code(module, code);
        number
    }

    /// Tells that a BLAS library's handle has a setting from `stamp` on, unless that is told already.
    pub(crate) fn set(&self, stamp: u64, handle: u64, setting: u8, value: u64) {
        if let Some(value) = self.settings.change(handle, setting, value) {
            self.define(stamp, Definition::Setting { handle, setting, value });
        }
    }

    /// The handle's settings are to be told anew.
    pub(crate) fn forget_settings(&self, handle: u64) {
        self.settings.remove(handle);
    }

    /// The functions of `module` mean nothing any more as of `stamp`.
    pub(crate) fn forget_functions(&self, module: u64, stamp: u64) {
        lock(&self.names).invalidate(module, stamp);
        lock(&self.graphs).forget_emitted();
    }

    /// Tells of a fat binary: which file it lies in, where, and which of that file's it is.
    pub(crate) fn define_fat_binary(&self, stamp: u64, handle: u64, address: u64) {
        let mut names = lock(&self.names);
        let (path, offset, ordinal) = names.place_of(address);
        let path = path.into();
        self.tell(&mut names, stamp, Definition::FatBinary { handle, path, offset, ordinal, address });
    }

    /// Tells of a device, once.
    pub(crate) fn define_device(&self, stamp: u64, ordinal: i32, gfx: Text, name: Text, how: &'static str) {
        let mut names = lock(&self.names);
        if names.is_new_device(ordinal, &gfx) {
            self.tell(&mut names, stamp, Definition::Device { ordinal, gfx, name, how: how.into() });
        }
    }

    /// How the arguments of `function` lie. Tells what its code object says of it, before it is launched.
    pub(crate) fn layout_of(&self, function: u64) -> &'static Layout {
        self.look_up(&mut lock(&self.names), function)
    }

    fn look_up(&self, names: &mut KernelRegistry, function: u64) -> &'static Layout {
        let tell = |stamp: u64, definition: Definition| drop(self.log.define(&Frame { stamp, definition }));
        names.look_up(&self.log, function, self.config.args, tell)
    }
}
