//! Loading and unloading of device code: modules, functions, fat binaries. Definitions are emitted
//! on the program's thread before the call returns, so that every later launch has its kernel's
//! name.
#![allow(unsafe_code)] // reads the strings, results and images of calls that have just succeeded

use crate::abi::Pointer;
use crate::abi::hip::*;
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use crate::state::kernels::Code;
use rocshim_drain::{FileSource, Source, describe, length};
use rocshim_ring::definition::{Definition, Image, Text};
use rocshim_ring::event::Load;
use rocshim_ring::{CallGuard, Producer, clock};
use std::borrow::Cow;
use std::ffi::{CStr, c_void};

/// Converts a C string of the program; `None` for NULL.
fn text<'a>(name: CName) -> Option<Text<'a>> {
    // SAFETY: `name` is not NULL, and the call that took it succeeded, so it is a C string. The
    // program keeps it until the hook returns.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}

/// Reads the handle that a successful call has stored at `out`; 0 for NULL.
pub(crate) fn handle(out: *const Pointer) -> u64 {
    // SAFETY: `out` is not NULL, and the call succeeded, so it points to the handle that the call
    // stored.
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

impl Intercept<hipError_t> for LoadFile {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Load::default())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        loaded(span, returned, status, self.module, |targets| image_in_file(targets, text(self.path)));
    }
}

impl Intercept<hipError_t> for LoadImage {
    const HAS_SIDE_STATE: bool = true;

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
    describe_with: impl FnOnce(&[Box<str>]) -> (Image<'a>, Code),
) {
    if status == 0 {
        guarded(|process| {
            // Before the module: the library that loads it determines the folders of its file.
            process.emit_libraries();
            let module = handle(out);
            let number = process.define_module(returned, module, describe_with);
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

/// An image that the runtime has just accepted: memory whose end only its headers state.
struct MappedImage(*const u8);

impl Source for MappedImage {
    fn read(&self, at: u64, length: usize) -> Option<Cow<'_, [u8]>> {
        // SAFETY: the runtime has read this image, so its headers are valid. `length` and the first
        // read access only headers, the first 64 bytes of which every image has and the rest of
        // which these describe. The last read has the length that they state. The program keeps the
        // image until the hook returns.
        let bytes = unsafe { std::slice::from_raw_parts(self.0.wrapping_add(at as usize), length) };
        Some(Cow::Borrowed(bytes))
    }

    fn read_up_to(&self, at: u64, most: usize) -> Cow<'_, [u8]> {
        self.read(at, most).unwrap_or_default()
    }
}

/// Describes an image that the runtime has just accepted.
pub(crate) fn image_in_memory<'a>(targets: &[Box<str>], image: Pointer) -> (Image<'a>, Code) {
    let mapped = MappedImage(image as *const u8);
    let bytes = length(&mapped);
    let whole = mapped.read_up_to(0, bytes.unwrap_or(64) as usize);
    let (image, code) = describe_image(targets, &whole.as_ref(), bytes);
    (Image { hash: bytes.map(|_| xxhash_rust::xxh3::xxh3_128(&whole)), ..image }, code)
}

/// Describes a file that the runtime has just loaded.
fn image_in_file<'a>(targets: &[Box<str>], path: Option<Text<'a>>) -> (Image<'a>, Code) {
    let source = path.as_ref().and_then(|path| FileSource::open(path.as_ref().as_ref(), 0).ok());
    let describe_file = |source: FileSource| describe_image(targets, &source, length(&source));
    let (image, code) = source.map_or((Image::default(), Code::Unknown), describe_file);
    (Image { path, ..image }, code)
}

fn describe_image<'a>(devices: &[Box<str>], source: &dyn Source, bytes: Option<u64>) -> (Image<'a>, Code) {
    let described = describe(source);
    let code = Code::of(source, described.format, bytes, devices);
    let targets = described.targets.into_iter().map(Text::from).collect();
    let format = described.format.into();
    (Image { format, bytes, targets, kernels: described.kernels, ..Image::default() }, code)
}

/// `hipModuleUnload`, `hipLibraryUnload`.
pub(crate) struct Unload {
    module: hipModule_t,
    /// Taken before the call, because another thread may be given the same handles as soon as they
    /// are free.
    stamp: u64,
}

impl Unload {
    /// Invalidates the module's functions, right before the call: a thread that is given one of
    /// these handles again emits a new definition.
    pub(crate) fn before_call(module: hipModule_t) -> Unload {
        let stamp = clock::now();
        guarded(|process| process.forget_functions(module as u64, stamp));
        Unload { module, stamp }
    }
}

impl Intercept<hipError_t> for Unload {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Load { unload: true, module: self.module as u64, image: 0 })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status == 0 {
            // As of the event's own entry, so that the event itself still finds what the handle
            // meant.
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

impl Intercept<hipError_t> for GetFunction {
    const STATE_ONLY: bool = true;

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

impl Intercept<*mut *mut c_void> for FatBinary {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, modules: *mut *mut c_void) {
        // SAFETY: `wrapper` is NULL or what the program passed to the call, which has just read it;
        // nothing writes to it.
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

impl Intercept<()> for RegisterFunction {
    const STATE_ONLY: bool = true;

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
    pub(crate) fn before_call(modules: *mut *mut c_void) -> UnregisterFatBinary {
        UnregisterFatBinary { modules, stamp: clock::now() }
    }
}

impl Intercept<()> for UnregisterFatBinary {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _: ()) {
        let handle = self.modules as u64;
        guarded(|process| {
            process.emit_graphs(self.stamp, |graphs, _| graphs.forget_emitted());
            process.define(self.stamp, Definition::Unregister { handle });
        });
    }
}
