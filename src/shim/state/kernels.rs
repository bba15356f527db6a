//! What the process's device code is called and where it lies, kept in the process: nothing is told twice, and a launch
//! learns how its arguments lie.
//!
//! It follows the definition log: `learn` is given every definition that the process tells, or inherits from its parent.
#![allow(unsafe_code)] // fat binaries are read where the loader has mapped them

use crate::platform::objects::{self, Object};
use crate::state::layouts;
use rocshim_drain::{Metadata, Source, metadata};
use rocshim_ring::arguments::Layout;
use rocshim_ring::definition::{Definition, Frame};
use rocshim_ring::kernel::KernelCode;
use rocshim_ring::log::{Log, Place};
use std::collections::HashMap;

/// The longest compressed image of which a copy is kept until its first launch.
const MAX_PACKED: u64 = 64 << 20;

/// What the process knows of its device code.
#[derive(Default)]
pub(crate) struct Names {
    /// `hipFunction_t` or host stub → where the log names it, as last told.
    functions: HashMap<u64, Place>,
    /// Module or fat binary → what became of it.
    owners: HashMap<u64, Owner>,
    /// Objects, as last looked up for a fat binary.
    objects: Vec<Object>,
    /// File → where its fat binaries lie, in the order in which they were first registered.
    fat_binaries: HashMap<String, Vec<u64>>,
    /// The targets of the devices that the program asked about, by ordinal.
    devices: HashMap<i32, Box<str>>,
    /// Every layout that was ever needed; few are different.
    layouts: HashMap<Vec<(u32, u32)>, &'static Layout>,
}

/// A module or a fat binary.
struct Owner {
    /// When its handle was last given out or given back: functions that were named before mean nothing any more.
    since: u64,
    code: Code,
}

/// Where an owner's kernels are described.
pub(crate) enum Code {
    /// Nowhere.
    Unknown,
    /// In the fat binary at this address.
    Mapped(u64),
    /// In a copy of a compressed image.
    Packed(Box<[u8]>),
    /// Here.
    Known(Vec<Metadata>),
}

impl Code {
    /// Takes what will be asked of an image that may go away, for devices of `targets`.
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

/// A function as it was named.
struct Named {
    stamp: u64,
    owner: u64,
    name: String,
}

impl Names {
    /// Takes what is told at `place` of `log`.
    pub(crate) fn learn(&mut self, log: &Log, place: Place) {
        let Some(Frame { stamp, definition }) = log.read(place) else { return };
        let mut own = |owner, code| {
            // An end may be told when the handle has been given out again.
            if self.owners.get(&owner).is_none_or(|known| known.since <= stamp) {
                layouts::forget_all(owner);
                self.owners.insert(owner, Owner { since: stamp, code });
            }
        };
        match definition {
            Definition::FatBinary { handle, address, .. } => own(handle, Code::Mapped(address)),
            Definition::Module { module, .. } => own(module, Code::Unknown),
            Definition::Unregister { handle } => own(handle, Code::Unknown),
            Definition::Unload { module } => own(module, Code::Unknown),
            Definition::HostFunction { stub: function, .. }
            | Definition::Function { function, .. }
            | Definition::SameFunction { function, .. } => {
                layouts::forget(function);
                self.functions.insert(function, place);
            }
            Definition::Device { ordinal, gfx, .. } => drop(self.devices.insert(ordinal, gfx.into())),
            _ => {}
        }
    }

    /// The image that a module was loaded from was looked at.
    pub(crate) fn add_code(&mut self, module: u64, code: Code) {
        if let Some(owner) = self.owners.get_mut(&module) {
            owner.code = code;
        }
    }

    /// The functions of `owner` mean nothing any more as of `stamp`, though nothing was told of it yet.
    pub(crate) fn forget(&mut self, owner: u64, stamp: u64) {
        layouts::forget_all(owner);
        self.owners.insert(owner, Owner { since: stamp, code: Code::Unknown });
    }

    /// What `function` is called, if it means anything still.
    fn named(&self, log: &Log, function: u64) -> Option<Named> {
        let Frame { stamp, definition } = log.read(*self.functions.get(&function)?)?;
        let named = match definition {
            // If the other was named again since, it is another.
            Definition::SameFunction { of, .. } => {
                let other = named_at(log, *self.functions.get(&of)?).filter(|other| other.stamp <= stamp)?;
                Named { stamp, ..other }
            }
            _ => named_at(log, *self.functions.get(&function)?)?,
        };
        let is_current = self.owners.get(&named.owner).is_none_or(|owner| owner.since <= stamp);
        is_current.then_some(named)
    }

    /// True when `function` was not told yet as what it is now.
    pub(crate) fn is_new(&self, log: &Log, function: u64, owner: u64, name: &str) -> bool {
        self.named(log, function).is_none_or(|told| told.owner != owner || told.name != name)
    }

    /// True when it was not told yet that `function` is the same kernel as `of`.
    pub(crate) fn is_newly_same(&self, log: &Log, function: u64, of: u64) -> bool {
        let told = self.functions.get(&function).and_then(|place| log.read(*place));
        let is_told = told.is_some_and(|told| told.definition == Definition::SameFunction { function, of });
        !is_told || self.named(log, function).is_none()
    }

    /// True when a device was not told yet as what it is.
    pub(crate) fn is_new_device(&self, ordinal: i32, gfx: &str) -> bool {
        self.devices.get(&ordinal).is_none_or(|told| **told != *gfx)
    }

    /// Where in which file `address` lies, and which of that file's fat binaries it is.
    pub(crate) fn place_of(&mut self, address: u64) -> (String, u64, u32) {
        let place = |object: &Object| Some((object.path.clone(), object.offset_of(address)?));
        let found = self.object_at(address).and_then(place);
        let (path, offset) = found.unwrap_or_else(|| ("unknown".into(), address));
        let known = self.fat_binaries.entry(path.clone()).or_default();
        let ordinal = known.iter().position(|place| *place == offset).unwrap_or(known.len());
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

    /// The targets of all devices that are known.
    pub(crate) fn targets(&self) -> Vec<Box<str>> {
        let mut targets: Vec<_> = self.devices.values().cloned().collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// Finds how the arguments of `function` lie, for all its launches to come. What its code object says of it is told
    /// with `tell`; only with `args` are its arguments to be recorded.
    pub(crate) fn look_up(
        &mut self,
        log: &Log,
        function: u64,
        args: bool,
        tell: impl FnOnce(u64, Definition),
    ) -> &'static Layout {
        let named = self.named(log, function);
        let owner = named.as_ref().map_or(0, |named| named.owner);
        let mut layout = &layouts::UNKNOWN;
        if let Some(named) = named {
            self.open(named.owner);
            let code = self.owners.get(&named.owner).and_then(|owner| owner.kernel(&named.name));
            let code = code.map(KernelCode::into_owned);
            if let Some(args) = code.as_ref().and_then(|code| code.args.as_ref()) {
                layout = self.layout(args.iter().map(|arg| (arg.offset, arg.size)).collect());
            }
            if let Some(code) = code {
                tell(named.stamp, Definition::Code { function, code });
            }
        }
        let layout = if args { layout } else { &layouts::NONE };
        layouts::keep(function, owner, layout);
        layout
    }

    fn layout(&mut self, places: Vec<(u32, u32)>) -> &'static Layout {
        let new = |places: &Vec<(u32, u32)>| &*Box::leak(Box::new(Layout::new(places.iter().copied())));
        self.layouts.entry(places).or_insert_with_key(new)
    }

    /// Reads the metadata of an owner that nobody has asked for yet.
    fn open(&mut self, owner: u64) {
        let targets = self.targets();
        let found = match self.owners.get(&owner).map(|owner| &owner.code) {
            Some(Code::Packed(bytes)) => metadata(&&**bytes, &targets),
            Some(Code::Mapped(address)) => {
                let address = *address;
                let rest = self.object_at(address).map_or(0, |object| object.rest(address));
                // SAFETY: the loader has mapped so many bytes from `address` on; the program launches a kernel of them,
                // so they stay until it returns.
                let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, rest) };
                metadata(&bytes, &targets)
            }
            _ => return,
        };
        self.add_code(owner, Code::Known(found));
    }
}

/// The function that is named at `place` of `log`.
fn named_at(log: &Log, place: Place) -> Option<Named> {
    let Frame { stamp, definition } = log.read(place)?;
    let (owner, name) = match definition {
        Definition::HostFunction { handle, name, .. } => (handle, name),
        Definition::Function { module, name, .. } => (module, name),
        _ => return None,
    };
    Some(Named { stamp, owner, name: name.into_owned() })
}

impl Owner {
    /// What is known of the kernel `name`, whichever of the targets it runs on.
    fn kernel(&self, name: &str) -> Option<KernelCode<'_>> {
        let Code::Known(targets) = &self.code else { return None };
        let kernels = targets.iter().filter_map(|metadata| metadata.find(name));
        kernels.reduce(|one, other| one.agreed(&other))
    }
}
