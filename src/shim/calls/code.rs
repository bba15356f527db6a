//! Device code coming and going: modules, functions, fat binaries. What they define is told on the application's thread,
//! before the call returns, so that every launch finds its name.
#![allow(unsafe_code)] // reads the strings, results and images of calls that have just succeeded

use crate::abi::Pointer;
use crate::abi::hip::*;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::state::kernels::Code;
use rocshim_drain::{FileSource, Source, describe, length};
use rocshim_ring::definition::{Definition, Image, Text};
use rocshim_ring::event::Load;
use rocshim_ring::{CallGuard, Producer, clock};
use std::borrow::Cow;
use std::ffi::{CStr, c_void};

/// A C string of the program; `None` for NULL.
fn text<'a>(name: CName) -> Option<Text<'a>> {
    // SAFETY: the call that took this name succeeded, so it is a C string, and it lives until the hook returns.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}

/// Reads where a successful call has stored its handle.
pub(crate) fn handle(out: *const Pointer) -> u64 {
    // SAFETY: the call succeeded, so `out` holds the handle that it stored.
    if out.is_null() { 0 } else { unsafe { *out as u64 } }
}

/// `hipModuleLoad`, `hipLibraryLoadFromFile`.
pub(crate) struct LoadFile {
    pub(crate) module: *mut hipModule_t,
    pub(crate) path: CName,
}

/// `hipModuleLoadData`, `hipModuleLoadDataEx`.
pub(crate) struct LoadImage {
    pub(crate) module: *mut hipModule_t,
    pub(crate) image: Pointer,
}

impl Observed<hipError_t> for LoadFile {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Load::default())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        loaded(span, returned, status, self.module, |targets| image_in_file(targets, text(self.path)));
    }
}

impl Observed<hipError_t> for LoadImage {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Load::default())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        loaded(span, returned, status, self.module, |targets| image_in_memory(targets, self.image));
    }
}

pub(crate) fn loaded<'a>(
    span: Option<CallGuard>,
    returned: u64,
    status: hipError_t,
    out: *const hipModule_t,
    look: impl FnOnce(&[Box<str>]) -> (Image<'a>, Code),
) {
    if status == 0 {
        guarded(|process| {
            // Before the module: the library that loads it says in which folders its file may lie.
            process.tell_libraries();
            let module = handle(out);
            let number = process.define_module(returned, module, look);
            let image = number.map_or(0, |number| number as u64 + 1);
            if let Some(span) = &span {
                Load::store_loaded(module, image, |index, value| span.put(index, value));
            }
        });
    }
    if let Some(span) = span {
        span.leave(returned, status);
    }
}

/// An image that the runtime has just read as what its header says: memory without a known end.
struct Accepted(*const u8);

impl Source for Accepted {
    fn read(&self, at: u64, length: usize) -> Option<Cow<'_, [u8]>> {
        // SAFETY: the runtime has read this image. `length` and the first look at it read only headers, and of them what
        // the first 64 bytes, which every image has, say is there; then, once, the whole of the length that they tell.
        let bytes = unsafe { std::slice::from_raw_parts(self.0.wrapping_add(at as usize), length) };
        Some(Cow::Borrowed(bytes))
    }

    fn read_up_to(&self, at: u64, most: usize) -> Cow<'_, [u8]> {
        self.read(at, most).unwrap_or_default()
    }
}

/// Looks at an image that the runtime has just accepted.
pub(crate) fn image_in_memory<'a>(targets: &[Box<str>], image: Pointer) -> (Image<'a>, Code) {
    let accepted = Accepted(image as *const u8);
    let bytes = length(&accepted);
    let whole = accepted.read_up_to(0, bytes.unwrap_or(64) as usize);
    let (image, code) = look_at(targets, &whole.as_ref(), bytes);
    (Image { hash: bytes.map(|_| xxhash_rust::xxh3::xxh3_128(&whole)), ..image }, code)
}

/// Looks at a file that the runtime has just loaded.
fn image_in_file<'a>(targets: &[Box<str>], path: Option<Text<'a>>) -> (Image<'a>, Code) {
    let source = path.as_ref().and_then(|path| FileSource::open(path.as_ref().as_ref(), 0).ok());
    let look = |source: FileSource| look_at(targets, &source, length(&source));
    let (image, code) = source.map_or((Image::default(), Code::Unknown), look);
    (Image { path, ..image }, code)
}

fn look_at<'a>(devices: &[Box<str>], source: &dyn Source, bytes: Option<u64>) -> (Image<'a>, Code) {
    let described = describe(source);
    let code = Code::of(source, described.format, bytes, devices);
    let targets = described.targets.into_iter().map(Text::from).collect();
    let format = described.format.into();
    (Image { format, bytes, targets, kernels: described.kernels, ..Image::default() }, code)
}

/// `hipModuleUnload`, `hipLibraryUnload`.
pub(crate) struct Unload {
    module: hipModule_t,
    /// Before the call: another thread may be given the same handles as soon as they are free.
    stamp: u64,
}

impl Unload {
    /// The call is about to be made: from here on, whoever gets a function of this handle tells of it anew.
    pub(crate) fn now(module: hipModule_t) -> Unload {
        let stamp = clock::now();
        guarded(|process| process.forget_functions(module as u64, stamp));
        Unload { module, stamp }
    }
}

impl Observed<hipError_t> for Unload {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Load { unload: true, module: self.module as u64, image: 0 })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status == 0 {
            // As of the event's own entry, so that the event still finds what the handle meant.
            let stamp = span.as_ref().map_or(self.stamp, CallGuard::entered);
            guarded(|process| {
                process.define(stamp, Definition::Unload { module: self.module as u64 });
            });
        }
        if let Some(span) = span {
            span.leave(returned, status);
        }
    }
}

/// `hipModuleGetFunction`, `hipLibraryGetKernel`.
pub(crate) struct GetFunction {
    pub(crate) function: *mut hipFunction_t,
    pub(crate) module: hipModule_t,
    pub(crate) name: CName,
}

impl Observed<hipError_t> for GetFunction {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status != 0 {
            return;
        }
        guarded(|process| {
            let (function, module) = (handle(self.function), self.module as u64);
            let Some(name) = text(self.name) else { return };
            process.define_function(returned, function, module, name);
        });
    }
}

/// `__hipRegisterFatBinary`.
pub(crate) struct FatBinary {
    pub(crate) wrapper: *const FatbinWrapper,
}

impl Observed<*mut *mut c_void> for FatBinary {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, modules: *mut *mut c_void) {
        // SAFETY: the runtime has just read this wrapper.
        let Some(wrapper) = (unsafe { self.wrapper.as_ref() }) else { return };
        if wrapper.magic == FATBIN_MAGIC {
            guarded(|process| process.define_fat_binary(returned, modules as u64, wrapper.binary as u64));
        }
    }
}

/// `__hipRegisterFunction`.
pub(crate) struct RegisterFunction {
    pub(crate) modules: *mut *mut c_void,
    pub(crate) stub: HostFn,
    pub(crate) name: CName,
}

impl Observed<()> for RegisterFunction {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, _: ()) {
        guarded(|process| {
            let (handle, stub) = (self.modules as u64, self.stub as u64);
            let Some(name) = text(self.name) else { return };
            process.define(returned, Definition::HostFunction { handle, stub, name });
        });
    }
}

/// `__hipUnregisterFatBinary`.
pub(crate) struct UnregisterFatBinary {
    modules: *mut *mut c_void,
    stamp: u64,
}

impl UnregisterFatBinary {
    pub(crate) fn now(modules: *mut *mut c_void) -> UnregisterFatBinary {
        UnregisterFatBinary { modules, stamp: clock::now() }
    }
}

impl Observed<()> for UnregisterFatBinary {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _: ()) {
        let handle = self.modules as u64;
        guarded(|process| {
            process.tell_graphs(self.stamp, |graphs, _| graphs.forget_names());
            process.define(self.stamp, Definition::Unregister { handle });
        });
    }
}
