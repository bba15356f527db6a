//! The process's kernel registry: names, owners and code of its device functions, so that no
//! definition is emitted twice, and a launch gets its arguments' layout.
//!
//! The registry follows the definition log: `learn` receives every definition that the process
//! emits or inherits from its parent.
#![allow(unsafe_code)] // fat binaries are read where the loader has mapped them

use crate::platform::ids::gettid;
use crate::platform::objects::{self, Object};
use crate::platform::python::{Python, PythonFrame};
use crate::platform::unwind::Unwinder;
use crate::state::layouts;
use rocshim_drain::{Metadata, Source, metadata};
use rocshim_ring::arguments::Layout;
use rocshim_ring::definition::{Chain, Definition, StampedDefinition};
use rocshim_ring::kernel::KernelCode;
use rocshim_ring::log::{Log, LogPosition};
use std::collections::{HashMap, HashSet};

/// The longest compressed image, in bytes, of which a copy is kept until its first launch.
const MAX_PACKED: u64 = 64 << 20;

/// Device code of a process.
#[derive(Default)]
pub(crate) struct KernelRegistry {
    /// `hipFunction_t` or host stub → the latest definition that names it.
    functions: HashMap<u64, LogPosition>,
    /// Those whose code was emitted since.
    described: HashSet<u64>,
    /// Module or fat binary → its code.
    owners: HashMap<u64, Owner>,
    /// Loaded objects, as of the last lookup of a fat binary.
    objects: Vec<Object>,
    /// File → offsets of its fat binaries, in order of first registration.
    fat_binaries: HashMap<String, Vec<u64>>,
    /// Device ordinal → target, for the devices that the program queried.
    devices: HashMap<i32, Box<str>>,
    /// Every distinct argument layout. There are few.
    layouts: HashMap<Vec<(u32, u32)>, &'static Layout>,
    unwinder: Unwinder,
    python: Python,
    /// File and name → number of its definition, for Python functions on a chain of callers.
    python_functions: HashMap<(String, String), u32>,
    /// File → number of its definition, for those on a chain of callers.
    binaries: HashMap<String, u32>,
}

/// Appends a definition, valid from a stamp on, to the log; returns its number.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(u64, Definition) -> Option<u32>;

/// A module or a fat binary.
struct Owner {
    /// Stamp at which its handle was last given out or returned. Functions named before are
    /// invalid.
    since: u64,
    code: Code,
}

/// Where an owner's kernels are described.
pub(crate) enum Code {
    /// Nowhere.
    Unknown,
    /// In the fat binary mapped at this address.
    Mapped(u64),
    /// In a copy of a compressed image.
    Packed(Box<[u8]>),
    /// In metadata that is parsed already.
    Known(Vec<Metadata>),
}

impl Code {
    /// Keeps what will be needed of an image that may be freed, for devices of `targets`. `length`
    /// is in bytes.
    pub(crate) fn of(source: &dyn Source, format: &str, length: Option<u64>, targets: &[Box<str>]) -> Code {
        match (format, length) {
            ("compressed_bundle", Some(length @ ..=MAX_PACKED)) => {
                let bytes = source.read(0, length as usize);
                bytes.map_or(Code::Unknown, |bytes| Code::Packed(bytes.into_owned().into()))
            }
            ("elf" | "bundle", _) => Code::Known(metadata(source, targets)),
            _ => Code::Unknown,
        }
    }
}

/// A function's name as defined.
struct Named {
    stamp: u64,
    owner: u64,
    name: String,
}

impl KernelRegistry {
    /// Applies the definition at `position` of `log`.
    pub(crate) fn apply(&mut self, log: &Log, position: LogPosition) {
        let Some(StampedDefinition { stamp, definition }) = log.read(position) else { return };
        let mut set_owner = |owner, code| {
            // The end of a handle may be emitted after the handle was given out again.
            if self.owners.get(&owner).is_none_or(|known| known.since <= stamp) {
                layouts::remove_owner(owner);
                self.owners.insert(owner, Owner { since: stamp, code });
            }
        };
        match definition {
            Definition::FatBinary { handle, address, .. } => set_owner(handle, Code::Mapped(address)),
            Definition::Module { module, .. } => set_owner(module, Code::Unknown),
            Definition::Unregister { handle } => set_owner(handle, Code::Unknown),
            Definition::Unload { module } => set_owner(module, Code::Unknown),
            Definition::HostFunction { stub: function, .. }
            | Definition::Function { function, .. }
            | Definition::SameFunction { function, .. } => {
                layouts::remove(function);
                self.described.remove(&function);
                self.functions.insert(function, position);
            }
            Definition::Device { ordinal, gfx, .. } => drop(self.devices.insert(ordinal, gfx.into())),
            _ => {}
        }
    }

    /// Sets the code of a loaded module.
    pub(crate) fn set_code(&mut self, module: u64, code: Code) {
        if let Some(owner) = self.owners.get_mut(&module) {
            owner.code = code;
        }
    }

    /// Invalidates `owner`'s functions from `stamp` on, before the definition is emitted.
    pub(crate) fn invalidate(&mut self, owner: u64, stamp: u64) {
        layouts::remove_owner(owner);
        self.owners.insert(owner, Owner { since: stamp, code: Code::Unknown });
    }

    /// Returns what `function` is named, if the name is still valid.
    fn named(&self, log: &Log, function: u64) -> Option<Named> {
        let StampedDefinition { stamp, definition } = log.read(*self.functions.get(&function)?)?;
        let named = match definition {
            // If the other function was named again since, it is another one.
            Definition::SameFunction { of, .. } => {
                let other = named_at(log, *self.functions.get(&of)?).filter(|other| other.stamp <= stamp)?;
                Named { stamp, ..other }
            }
            _ => named_at(log, *self.functions.get(&function)?)?,
        };
        let is_current = self.owners.get(&named.owner).is_none_or(|owner| owner.since <= stamp);
        is_current.then_some(named)
    }

    /// Returns true unless the latest definition of `function` has this owner and name.
    pub(crate) fn is_new(&self, log: &Log, function: u64, owner: u64, name: &str) -> bool {
        self.named(log, function).is_none_or(|known| known.owner != owner || known.name != name)
    }

    /// Returns true unless the latest definition of `function` equates it with `of`.
    pub(crate) fn is_new_alias(&self, log: &Log, function: u64, of: u64) -> bool {
        let known = self.functions.get(&function).and_then(|position| log.read(*position));
        let is_known =
            known.is_some_and(|known| known.definition == Definition::SameFunction { function, of });
        !is_known || self.named(log, function).is_none()
    }

    /// Returns true unless the latest definition of the device has this target.
    pub(crate) fn is_new_device(&self, ordinal: i32, gfx: &str) -> bool {
        self.devices.get(&ordinal).is_none_or(|known| **known != *gfx)
    }

    /// Returns the file that holds `address`, the offset in it, and the ordinal among the file's
    /// fat binaries.
    pub(crate) fn place_of(&mut self, address: u64) -> (String, u64, u32) {
        let position = |object: &Object| Some((object.path.clone(), object.offset_of(address)?));
        let found = self.object_at(address).and_then(position);
        let (path, offset) = found.unwrap_or_else(|| ("unknown".into(), address));
        let known = self.fat_binaries.entry(path.clone()).or_default();
        let ordinal = known.iter().position(|position| *position == offset).unwrap_or(known.len());
        if ordinal == known.len() {
            known.push(offset);
        }
        (path, offset, ordinal as u32)
    }

    fn object_at(&mut self, address: u64) -> Option<&Object> {
        let holds = |object: &Object| object.offset_of(address).is_some();
        if !self.objects.iter().any(holds) {
            self.objects = objects::objects();
        }
        self.objects.iter().find(|object| holds(object))
    }

    /// Returns the distinct targets of all known devices.
    pub(crate) fn targets(&self) -> Vec<Box<str>> {
        let mut targets: Vec<_> = self.devices.values().cloned().collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// Finds the argument layout of `function` for all its later launches. Without `args` the
    /// layout has no arguments.
    pub(crate) fn look_up(&mut self, log: &Log, function: u64, args: bool, emit: Emit) -> &'static Layout {
        let mut layout = &layouts::UNKNOWN;
        let named = self.named(log, function);
        let owner = named.as_ref().map_or(0, |named| named.owner);
        let code = self.describe(log, function, emit);
        if let Some(args) = code.as_ref().and_then(|code| code.args.as_ref()) {
            layout = self.layout(args.iter().map(|arg| (arg.offset, arg.size)).collect());
        }
        let layout = if args { layout } else { &layouts::NONE };
        layouts::insert(function, owner, layout);
        layout
    }

    /// Returns what the code object states about `function`, and emits it the first time.
    pub(crate) fn describe(&mut self, log: &Log, function: u64, emit: Emit) -> Option<KernelCode<'static>> {
        let named = self.named(log, function)?;
        self.parse(named.owner);
        let code = self.owners.get(&named.owner)?.kernel(&named.name)?.into_owned();
        if self.described.insert(function) {
            emit(named.stamp, Definition::Code { function, code: code.clone() });
        }
        Some(code)
    }

    /// Emits the callers of the calling thread's launch of `function`, at most `limit` of them.
    pub(crate) fn emit_callers(&mut self, log: &Log, function: u64, limit: usize, emit: Emit) {
        let Some(named) = self.named(log, function) else { return };
        if let Some(chain) = self.chain(named.stamp, limit, emit) {
            emit(named.stamp, Definition::Callers { function, chain });
        }
    }

    /// Emits the callers of the calling thread's call `id`, at most `limit` of them.
    pub(crate) fn emit_call_callers(&mut self, stamp: u64, id: u64, limit: usize, emit: Emit) {
        if let Some(chain) = self.chain(stamp, limit, emit) {
            emit(stamp, Definition::CallCallers { id, chain });
        }
    }

    /// Returns the callers of the calling function, and emits what they refer to.
    fn chain(&mut self, stamp: u64, limit: usize, emit: Emit) -> Option<Chain> {
        let (callers, end) = self.unwinder.callers(limit).filter(|_| limit > 0)?;
        let mut frames = Vec::with_capacity(callers.len());
        for (object, address) in callers {
            let path = self.unwinder.path(object);
            let known = self.binaries.get(path).copied();
            let number = known.or_else(|| {
                let number = emit(stamp, Definition::Binary { path: path.into() })?;
                self.binaries.insert(path.to_owned(), number);
                Some(number)
            });
            frames.push((number?, address));
        }
        let mut python = Vec::new();
        for PythonFrame { file, function, line } in self.python.frames(limit) {
            let known = self.python_functions.get(&(file.clone(), function.clone())).copied();
            let number = known.or_else(|| {
                let (file, name) = (file.as_str().into(), function.as_str().into());
                emit(stamp, Definition::PythonFunction { file, name })
            });
            let number = number?;
            self.python_functions.insert((file, function), number);
            python.push((number, line));
        }
        Some(Chain { tid: gettid(), frames, end, python })
    }

    fn layout(&mut self, places: Vec<(u32, u32)>) -> &'static Layout {
        let new = |places: &Vec<(u32, u32)>| &*Box::leak(Box::new(Layout::new(places.iter().copied())));
        self.layouts.entry(places).or_insert_with_key(new)
    }

    /// Parses the metadata of an owner, unless that is done.
    fn parse(&mut self, owner: u64) {
        let targets = self.targets();
        let found = match self.owners.get(&owner).map(|owner| &owner.code) {
            Some(Code::Packed(bytes)) => metadata(&&**bytes, &targets),
            Some(Code::Mapped(address)) => {
                let address = *address;
                let rest = self.object_at(address).map_or(0, |object| object.rest(address));
                // SAFETY: the loader has mapped `rest` readable bytes from `address` on. The
                // program is launching a kernel of this object, so it stays loaded until the launch
                // returns. Mapped code is not written to.
                let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, rest) };
                metadata(&bytes, &targets)
            }
            _ => return,
        };
        self.set_code(owner, Code::Known(found));
    }
}

/// Returns the function that the definition at `position` of `log` names.
fn named_at(log: &Log, position: LogPosition) -> Option<Named> {
    let StampedDefinition { stamp, definition } = log.read(position)?;
    let (owner, name) = match definition {
        Definition::HostFunction { handle, name, .. } => (handle, name),
        Definition::Function { module, name, .. } => (module, name),
        _ => return None,
    };
    Some(Named { stamp, owner, name: name.into_owned() })
}

impl Owner {
    /// Returns what all targets' metadata agree on for kernel `name`.
    fn kernel(&self, name: &str) -> Option<KernelCode<'_>> {
        let Code::Known(targets) = &self.code else { return None };
        let kernels = targets.iter().filter_map(|metadata| metadata.find(name));
        kernels.reduce(|one, other| one.agreed(&other))
    }
}
