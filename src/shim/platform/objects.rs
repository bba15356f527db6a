//! The objects that the process has loaded, where an address lies in them, and which symbols they define.
//!
//! Everything is read from the loader's list and the objects' own tables in memory: `dlopen` and `dlsym` would leave
//! traces in the program (reference counts, the text that `dlerror` returns).
#![allow(unsafe_code)] // dl_iterate_phdr hands out C structures for the length of a call; symbol tables are raw memory

use crate::platform::elf::Dynamic;
use crate::platform::fork::hold_off;
use rocshim_ring::sandbox;
use rocshim_trace::is_library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;

/// The ROCm libraries that a trace tells of, by the beginning of their file name.
const ROCM: [&str; 21] = [
    "libamdhip64.so",
    "librocblas.so",
    "libhipblas.so",
    "libhipblaslt.so",
    "libMIOpen.so",
    "libhsa-runtime64.so",
    "librocprofiler-register.so",
    "librocprofiler-sdk.so",
    "librocprofiler-sdk-roctx.so",
    "libroctx64.so",
    "librccl.so",
    "libggml-hip.so",
    "libtorch_hip.so",
    "librocfft.so",
    "libhipfft.so",
    "librocrand.so",
    "libhiprand.so",
    "librocsparse.so",
    "libhipsparse.so",
    "librocsolver.so",
    "libhipsolver.so",
];

/// A loaded object.
#[derive(Clone, PartialEq)]
pub(crate) struct Object {
    /// Its file as the loader knows it; the executable's own is resolved.
    pub(crate) path: String,
    /// The difference between its addresses in memory and in its file.
    base: u64,
    /// Its loadable segments: address in memory, length, offset in the file.
    segments: Vec<(u64, u64, u64)>,
}

impl Object {
    /// True for a file of library `name` (`libamdhip64.so`), with or without a version, or of one that exports the same
    /// names.
    pub(crate) fn is(&self, name: &str) -> bool {
        is_library(&self.path, name)
    }

    /// True for a library of ROCm or one that brings device code.
    pub(crate) fn is_rocm(&self) -> bool {
        ROCM.iter().any(|name| self.is(name))
    }

    /// Where `address` lies in the file, if it lies in this object.
    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        let segment =
            self.segments.iter().find(|(start, length, _)| (*start..start + length).contains(&address));
        segment.map(|(start, _, offset)| address - start + offset)
    }

    /// How many bytes of the segment that holds it lie from `address` on.
    pub(crate) fn rest(&self, address: u64) -> usize {
        let end = |(start, length, _): &(u64, u64, u64)| {
            (*start..start + length).contains(&address).then(|| start + length)
        };
        self.segments.iter().find_map(end).map_or(0, |end| (end - address) as usize)
    }

    /// True when `address` lies in this object.
    pub(crate) fn holds(&self, address: *const c_void) -> bool {
        self.offset_of(address as u64).is_some()
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Every object that is loaded now, in the loader's order.
pub(crate) fn objects() -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    visit(|info, name| {
        let segment = |h: &libc::Elf64_Phdr| (info.dlpi_addr.wrapping_add(h.p_vaddr), h.p_memsz, h.p_offset);
        let segments = headers(info).iter().filter(|h| h.p_type == libc::PT_LOAD).map(segment).collect();
        let name = name.to_string_lossy();
        let path = if name.is_empty() { executable() } else { name.into_owned() };
        found.push(Object { path, base: info.dlpi_addr, segments });
        true
    });
    found
}

/// How many objects were ever loaded and unloaded: a change means that `objects` has something new to say.
pub(crate) fn generation() -> u64 {
    let mut count = 0;
    visit(|info, _| {
        count = info.dlpi_adds + info.dlpi_subs;
        false
    });
    count
}

/// The object that `address` lies in.
pub(crate) fn holder(address: *const c_void) -> Option<Object> {
    objects().into_iter().find(|object| object.holds(address))
}

/// The address of the function `symbol` that `object` defines; `None` also when it is gone.
pub(crate) fn symbol(object: &Object, symbol: &str) -> Option<*mut c_void> {
    let mut found = None;
    with_dynamic(object, |dynamic| found = dynamic.function(symbol));
    found
}

/// True when `object` is what others name `soname` in what they were linked with: a soname, a file name or a path.
pub(crate) fn is_called(object: &Object, soname: &str) -> bool {
    let mut own = None;
    with_dynamic(object, |dynamic| own = dynamic.soname());
    own.as_deref() == Some(soname) || object.path == soname || file_name(&object.path) == soname
}

/// The files that `object` was linked with, by soname, in order.
pub(crate) fn needed(object: &Object) -> Vec<String> {
    let mut found = Vec::new();
    with_dynamic(object, |dynamic| found = dynamic.needed());
    found
}

/// The function `symbol` of the first object whose file name begins with one of `names`. Allocates nothing.
pub(crate) fn first_symbol(names: &[&str], symbol: &str) -> *mut c_void {
    let mut found = None;
    visit(|info, name| {
        if is_named(name, names) {
            found = dynamic_of(info).and_then(|dynamic| dynamic.function(symbol));
        }
        found.is_none()
    });
    found.unwrap_or(std::ptr::null_mut())
}

/// What the loader tells debuggers of an object (`link.h`), as far as it matters here.
#[repr(C)]
struct LinkMap {
    base: u64,
    name: *const c_char,
    dynamic: u64,
    next: *const LinkMap,
}

/// The head of its list of them.
#[repr(C)]
struct Debug {
    version: c_int,
    map: *const LinkMap,
}

/// As [`first_symbol`], of objects that the program began with. Calls nothing of the C library but for comparing strings, and
/// uses no thread-local word.
pub(crate) fn early_symbol(names: &[&str], symbol: &str) -> *mut c_void {
    unsafe extern "C" {
        static _r_debug: Debug;
    }
    // SAFETY: the loader has set it before any code of ours runs, and the head of the list stays.
    let mut at = unsafe { _r_debug.map };
    // SAFETY: what the program began with stays loaded, and what comes later stands behind it in the list.
    while let Some(object) = unsafe { at.as_ref() } {
        // SAFETY: every object in the list has a name, the program's is empty.
        let name = unsafe { CStr::from_ptr(object.name) };
        if is_named(name, names) {
            // SAFETY: the loader has mapped and relocated it, and keeps it.
            let dynamic = unsafe { Dynamic::new(object.base, object.dynamic) };
            if let Some(found) = dynamic.function(symbol) {
                return found;
            }
        }
        at = object.next;
    }
    std::ptr::null_mut()
}

/// True when the file name of `path` begins with one of `names`.
fn is_named(path: &CStr, names: &[&str]) -> bool {
    let file = path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    names.iter().any(|name| file.starts_with(name.as_bytes()))
}

/// Runs `work` with the tables of `object`, while the loader keeps it from going away.
fn with_dynamic(object: &Object, mut work: impl FnMut(&Dynamic)) {
    visit(|info, _| {
        let first = |h: &&libc::Elf64_Phdr| h.p_type == libc::PT_LOAD;
        let start = headers(info).iter().find(first).map(|h| info.dlpi_addr.wrapping_add(h.p_vaddr));
        let is_it =
            info.dlpi_addr == object.base && start == object.segments.first().map(|(start, ..)| *start);
        if let Some(dynamic) = is_it.then(|| dynamic_of(info)).flatten() {
            work(&dynamic);
        }
        !is_it
    });
}

fn dynamic_of(info: &libc::dl_phdr_info) -> Option<Dynamic> {
    let header = headers(info).iter().find(|h| h.p_type == libc::PT_DYNAMIC)?;
    // SAFETY: the loader has mapped and relocated this object, and keeps it while `visit` runs.
    Some(unsafe { Dynamic::new(info.dlpi_addr, info.dlpi_addr.wrapping_add(header.p_vaddr)) })
}

fn headers(info: &libc::dl_phdr_info) -> &[libc::Elf64_Phdr] {
    // SAFETY: the program headers are an array of `dlpi_phnum` as long as `info` is lent to us.
    unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
}

/// Calls `each` with every loaded object and its name, until it says `false`. The loader's list is locked meanwhile, so
/// nobody forks.
fn visit<F: FnMut(&libc::dl_phdr_info, &CStr) -> bool>(mut each: F) {
    unsafe extern "C" fn call<F: FnMut(&libc::dl_phdr_info, &CStr) -> bool>(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        each: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid structure.
        let info = unsafe { &*info };
        // SAFETY: `visit` passes its closure, which nothing else uses meanwhile.
        let each = unsafe { &mut *each.cast::<F>() };
        // SAFETY: the name is a C string for the length of the call.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        i32::from(!each(info, name))
    }
    let each: *mut F = &mut each;
    let _held = hold_off();
    // SAFETY: `call::<F>` gets `each` as its data and runs only during this call.
    unsafe { libc::dl_iterate_phdr(Some(call::<F>), each.cast()) };
}

/// The program's own file.
pub(crate) fn executable() -> String {
    // Not in a sandbox of the program's own: it may not allow to ask.
    let link = (!sandbox::is_new()).then(|| std::fs::read_link("/proc/self/exe").ok()).flatten();
    link.unwrap_or_else(executed_as).to_string_lossy().into_owned()
}

/// What the program was executed as: a script's own path, where its interpreter is what runs.
fn executed_as() -> PathBuf {
    // SAFETY: no preconditions.
    let name = unsafe { libc::getauxval(libc::AT_EXECFN) };
    if name == 0 {
        return "unknown".into();
    }
    // SAFETY: the kernel has put a C string there, for as long as the process lives.
    let name = unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(name as usize)) };
    PathBuf::from(name.to_string_lossy().into_owned())
}

/// What the program may be called by: its own file, what was executed, and its first argument.
pub(crate) fn names() -> Vec<String> {
    unsafe extern "C" {
        static program_invocation_name: *const c_char;
    }
    // SAFETY: the C library sets it before any constructor runs.
    let first = unsafe { program_invocation_name };
    // SAFETY: the first argument, a C string, or NULL.
    let first = (!first.is_null()).then(|| unsafe { CStr::from_ptr(first) }.to_string_lossy().into_owned());
    [executable(), executed_as().to_string_lossy().into_owned()].into_iter().chain(first).collect()
}
