//! What a traced process records into: its folder of shared memory files, its rings, its definition log, its trace.

use crate::about::{about, gettid, uid};
use crate::bound;
use crate::config::Config;
use crate::graphs::{Graphs, Tell};
use crate::layouts;
use crate::loaded;
use crate::lt_descriptors::Descriptors;
use crate::names::{Code, Names};
use crate::problems::Problems;
use crate::row::{Hook, Table};
use crate::settings::Settings;
use crossbeam_channel::{Receiver, Sender};
use parking_lot::Mutex;
use rocshim_ring::arguments::Layout;
use rocshim_ring::definition::{Definition, Frame, Image, Process as About, Text};
use rocshim_ring::event::{Gap, NO_MEMORY, RING_FULL, THREAD_ENDED};
use rocshim_ring::{Control, Folder, Log, Ring, clock};
use rocshim_trace::TracePath;
use std::collections::HashSet;
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What the collector is told by other threads.
pub(crate) enum Message {
    /// Write everything, end the trace, then answer.
    Stop(Sender<()>),
}

/// A process being recorded. Lives from the first hooked call to the end; a forked child makes its own.
pub(crate) struct Process {
    pub(crate) config: Config,
    /// The functions that are hooked.
    pub(crate) table: Table,
    /// Where the rings are; `None` when they could only be private memory.
    pub(crate) folder: Option<Folder>,
    pub(crate) log: Log,
    pub(crate) control: Control,
    /// The trace file, made empty at the start.
    pub(crate) trace: PathBuf,
    /// It was told what happened before it began; a forked child has it from its parent.
    told_early: AtomicBool,
    /// Rings of all threads, for the collector to pick up.
    rings: Mutex<Vec<Arc<Ring>>>,
    ring_count: AtomicU64,
    /// Calls of threads that could be given no ring, and of threads that had closed theirs.
    ringless: Ringless,
    ended: Ringless,
    refused: Ringless,
    /// Why rings are full, that are or are made.
    why_full: AtomicU64,
    /// Why threads were refused a ring, if any were.
    why_refused: AtomicU64,
    /// New threads are refused a ring.
    refuses: AtomicBool,
    names: Mutex<Names>,
    libraries: Mutex<Libraries>,
    graphs: Mutex<Graphs>,
    pub(crate) problems: Problems,
    settings: Settings,
    pub(crate) descriptors: Descriptors,
    pub(crate) to_collector: Sender<Message>,
    pub(crate) for_collector: Receiver<Message>,
}

/// Calls that were made without a ring: how many, and the stamps of the first and the last.
#[derive(Default)]
struct Ringless {
    count: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
}

impl Ringless {
    fn count(&self) {
        let now = clock::now();
        // Relaxed, here and below: counters; the collector reads them at the end.
        let _ = self.first.compare_exchange(0, now, Relaxed, Relaxed);
        self.last.fetch_max(now, Relaxed);
        self.count.fetch_add(1, Relaxed);
    }

    fn gap(&self, reason: u64) -> Option<Gap> {
        let lost = self.count.load(Relaxed);
        let (first, last) = (self.first.load(Relaxed), self.last.load(Relaxed));
        (lost != 0).then_some(Gap { lost, first, last, reason })
    }
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
        let control = Control::create(folder.as_ref()).or_else(|_| Control::create(None))?;
        let log = Log::new(folder.as_ref().map(Folder::path));
        let rings = folder.as_ref().map(|f| f.path().to_string_lossy().into_owned()).unwrap_or_default();
        let trace_text = Text::from(trace.to_string_lossy().into_owned());
        let about = About { rings: rings.into(), note: note.map(Text::from), trace: trace_text, ..about };
        log.define(&Frame { stamp, definition: Definition::Process(about) })?;
        let row = |hook: &&Hook| (hook.name.into(), hook.of.into(), config.records(hook.name));
        let hooks = table.iter().map(row).collect();
        log.define(&Frame { stamp, definition: Definition::Hooks { hooks, doors: config.doors } })?;
        if bound::is_stopped() {
            log.define(&Frame { stamp, definition: Definition::Recording(false) })?;
        }
        let mut names = Names::default();
        if let Some(parent) = parent {
            log.inherit(&parent.log, |place| names.learn(&log, place));
        }
        let (to_collector, for_collector) = crossbeam_channel::unbounded();
        Ok(Process {
            config: config.clone(),
            table,
            folder,
            log,
            control,
            trace,
            told_early: AtomicBool::new(parent.is_some()),
            rings: Mutex::default(),
            ring_count: AtomicU64::new(0),
            ringless: Ringless::default(),
            ended: Ringless::default(),
            refused: Ringless::default(),
            why_full: AtomicU64::new(RING_FULL),
            why_refused: AtomicU64::new(RING_FULL),
            refuses: AtomicBool::new(false),
            names: Mutex::new(names),
            libraries: Mutex::default(),
            graphs: Mutex::new(Graphs::new()),
            problems: Problems::default(),
            settings: Settings::default(),
            descriptors: Descriptors::default(),
            to_collector,
            for_collector,
        })
    }

    /// Tells a definition that holds from `stamp` on; gives its number, or `None` when there was no memory for it.
    pub(crate) fn define(&self, stamp: u64, definition: Definition) -> Option<u32> {
        self.tell(&mut self.names.lock(), stamp, definition)
    }

    fn tell(&self, names: &mut Names, stamp: u64, definition: Definition) -> Option<u32> {
        let (number, place) = self.log.define(&Frame { stamp, definition }).ok()?;
        names.learn(&self.log, place);
        Some(number)
    }

    /// True the first time: what happened before the process began is to be told.
    pub(crate) fn is_new(&self) -> bool {
        !self.told_early.load(Relaxed) && !self.told_early.swap(true, Relaxed)
    }

    /// Tells of captures and graphs what `work` finds to be new, to hold from `stamp` on.
    pub(crate) fn tell_graphs<T>(&self, stamp: u64, work: impl FnOnce(&mut Graphs, Tell) -> T) -> T {
        work(&mut self.graphs.lock(), &mut |definition| {
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
    pub(crate) fn make_ring(&self) -> io::Result<Arc<Ring>> {
        if self.refuses.load(Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let number = self.ring_count.fetch_add(1, Relaxed);
        let tid = gettid();
        let path = self.folder.as_ref().map(|folder| folder.ring_path(number));
        let Config { ring_slots, when_full, .. } = self.config;
        let create = |path| Ring::create(path, ring_slots, tid, when_full);
        let ring = Arc::new(create(path.as_deref()).or_else(|_| create(None))?);
        ring.set_why_full(self.why_full.load(Relaxed));
        self.rings.lock().push(ring.clone());
        Ok(ring)
    }

    /// Rings that are made from now on are full for this reason, when they are.
    pub(crate) fn set_why_full(&self, reason: u64) {
        self.why_full.store(reason, Relaxed);
    }

    /// Counts a call of a thread that has no ring: none could be made, or it `had_one` and has closed it.
    pub(crate) fn count_ringless(&self, had_one: bool) {
        let was_refused = self.why_refused.load(Relaxed) != RING_FULL;
        match (had_one, was_refused) {
            (true, _) => self.ended.count(),
            (_, true) => self.refused.count(),
            _ => self.ringless.count(),
        }
    }

    /// While the trace cannot be written, for this reason, threads that are new get no ring: too many wait already. `None`:
    /// it can.
    pub(crate) fn refuse_rings(&self, reason: Option<u64>) {
        if let Some(reason) = reason {
            self.why_refused.store(reason, Relaxed);
        }
        self.refuses.store(reason.is_some(), Relaxed);
    }

    /// The calls of threads that had no ring.
    pub(crate) fn ringless(&self) -> impl Iterator<Item = Gap> {
        let refused = self.refused.gap(self.why_refused.load(Relaxed));
        [self.ringless.gap(NO_MEMORY), self.ended.gap(THREAD_ENDED), refused].into_iter().flatten()
    }

    /// The rings that were made since `seen` were known.
    pub(crate) fn rings_after(&self, seen: usize) -> Vec<Arc<Ring>> {
        self.rings.lock().get(seen..).map(<[_]>::to_vec).unwrap_or_default()
    }

    /// Tells of the ROCm libraries that were loaded since the last look.
    pub(crate) fn tell_libraries(&self) {
        let generation = loaded::generation();
        let mut told = self.libraries.lock();
        if generation == told.generation {
            return;
        }
        told.generation = generation;
        for object in loaded::objects().iter().filter(|object| object.is_rocm()) {
            if told.paths.insert(object.path.clone()) {
                self.define(clock::now(), Definition::Library { path: object.path.as_str().into() });
            }
        }
    }

    /// Tells what a look-up has found: `function` is kernel `name` of `module`.
    pub(crate) fn define_function(&self, stamp: u64, function: u64, module: u64, name: Text) {
        let mut names = self.names.lock();
        if names.is_new(&self.log, function, module, &name) {
            self.tell(&mut names, stamp, Definition::Function { function, module, name });
            // Not at its first launch: one that passes no arguments does not ask how they lie.
            self.look_up(&mut names, function);
        }
    }

    /// Tells that `function` is the same kernel as `of`.
    pub(crate) fn define_same_function(&self, stamp: u64, function: u64, of: u64) {
        let mut names = self.names.lock();
        if names.is_newly_same(&self.log, function, of) {
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
        let targets = self.names.lock().targets();
        let (image, code) = look(&targets);
        let mut names = self.names.lock();
        let number = self.tell(&mut names, stamp, Definition::Module { module, image });
        names.add_code(module, code);
        number
    }

    /// Tells that a BLAS library's handle has a setting from `stamp` on, unless that is told already.
    pub(crate) fn set(&self, stamp: u64, handle: u64, setting: u8, value: u64) {
        if let Some(value) = self.settings.news(handle, setting, value) {
            self.define(stamp, Definition::Setting { handle, setting, value });
        }
    }

    /// The handle's settings are to be told anew.
    pub(crate) fn forget_settings(&self, handle: u64) {
        self.settings.forget(handle);
    }

    /// The functions of `module` mean nothing any more as of `stamp`.
    pub(crate) fn forget_functions(&self, module: u64, stamp: u64) {
        self.names.lock().forget(module, stamp);
        self.graphs.lock().forget_names();
    }

    /// Tells of a fat binary: which file it lies in, where, and which of that file's it is.
    pub(crate) fn define_fat_binary(&self, stamp: u64, handle: u64, address: u64) {
        let mut names = self.names.lock();
        let (path, offset, ordinal) = names.place_of(address);
        let path = path.into();
        self.tell(&mut names, stamp, Definition::FatBinary { handle, path, offset, ordinal, address });
    }

    /// Tells of a device, once.
    pub(crate) fn define_device(&self, stamp: u64, ordinal: i32, gfx: Text, name: Text, how: &'static str) {
        let mut names = self.names.lock();
        if names.is_new_device(ordinal, &gfx) {
            self.tell(&mut names, stamp, Definition::Device { ordinal, gfx, name, how: how.into() });
        }
    }

    /// How the arguments of `function` lie. Tells what its code object says of it, before it is launched.
    pub(crate) fn layout_of(&self, function: u64) -> &'static Layout {
        self.look_up(&mut self.names.lock(), function)
    }

    fn look_up(&self, names: &mut Names, function: u64) -> &'static Layout {
        let tell = |stamp: u64, definition: Definition| drop(self.log.define(&Frame { stamp, definition }));
        names.look_up(&self.log, function, self.config.args, tell)
    }
}

/// Makes the trace file, empty: in the folder asked for, or, where that cannot be, in one under the temporary folder,
/// with a note that says why.
fn make_trace(config: &Config, about: &About) -> io::Result<(PathBuf, Option<String>)> {
    let asked = config.out.clone().unwrap_or_else(|| PathBuf::from("rocshim-out"));
    let emergency = std::env::temp_dir().join(format!("rocshim-{}", uid()));
    let end = if config.compress.is_some() { "ndjson.zst" } else { "ndjson" };
    let first = make_trace_in(&asked, about, end);
    let Err(error) = first else { return first.map(|path| (path, None)) };
    let path = make_trace_in(&emergency, about, end)?;
    let note =
        config.out.is_some().then(|| format!("{}: {error}; the trace is here instead", asked.display()));
    Ok((path, note))
}

fn make_trace_in(folder: &Path, about: &About, end: &str) -> io::Result<PathBuf> {
    let folder = std::path::absolute(folder)?;
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let program = about.exe.rsplit('/').next().unwrap_or("program");
    // An image that was replaced by exec has the same pid and keeps its own file.
    for again in 0.. {
        let suffix = if again == 0 { String::new() } else { format!("-{again}") };
        let path = folder.join(format!("{program}-{}{suffix}.{end}", about.pid));
        if has_parts(&path) {
            continue;
        }
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match made {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && again < 10_000 => {}
            made => return made.map(|_| path),
        }
    }
    unreachable!("the loop returns")
}

/// True where there are parts of a trace with this first file: it was removed, and its process had the same number.
fn has_parts(first: &Path) -> bool {
    let is_part = |path: PathBuf| TracePath::of(&path).is_some_and(|of| of.part > 1 && of.first == first);
    let folder = first.parent().and_then(|folder| folder.read_dir().ok());
    folder.into_iter().flatten().flatten().any(|entry| is_part(entry.path()))
}

/// Makes the folder of the ring files: where asked, else beside the trace, else none.
fn make_folder(config: &Config, about: &About, trace: &Path) -> Option<Folder> {
    let name = format!("rocshim-{}-{}-{}", uid(), about.pid, about.start_ticks);
    let file = trace.file_name()?.to_string_lossy();
    let file = file.split(".ndjson").next()?;
    let beside = trace.with_file_name(format!(".rocshim-{file}"));
    let asked = (0..100).map(|again| config.rings.join(format!("{name}-{again}")));
    asked.chain([beside]).find_map(|path| Folder::create(path).ok())
}
