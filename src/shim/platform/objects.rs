//! Loaded objects (the executable and its shared libraries): which one contains an address, and
//! which symbols they define.
//!
//! Everything is read from the loader's list and the objects' tables in memory. `dlopen` and
//! `dlsym` would have visible effects in the program: reference counts, and the text that `dlerror`
//! returns.
#![allow(unsafe_code)] // dl_iterate_phdr passes C structures for the length of a call; symbol tables are raw memory

use crate::platform::elf::Dynamic;
use crate::platform::fork::block_forks;
use rocshim_ring::sandbox;
use rocshim_trace::is_library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::path::PathBuf;

/// ROCm libraries whose paths the trace records, by the beginning of their file name.
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
    /// Its file as the loader names it; for the executable the resolved path.
    pub(crate) path: String,
    /// Load bias: address in memory minus address in the file.
    base: u64,
    /// Loadable segments: address in memory, length in bytes, offset in the file.
    segments: Vec<(u64, u64, u64)>,
}

impl Object {
    /// Returns true for a file of library `name` (`libamdhip64.so`), with or without a version, or
    /// of a library that exports the same names.
    pub(crate) fn is(&self, name: &str) -> bool {
        is_library(&self.path, name)
    }

    /// Returns true for a ROCm library or a library that brings device code.
    pub(crate) fn is_rocm(&self) -> bool {
        ROCM.iter().any(|name| self.is(name))
    }

    /// Returns the offset of `address` in the object's file; `None` when the object does not
    /// contain it.
    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        let segment =
            self.segments.iter().find(|(start, length, _)| (*start..start + length).contains(&address));
        segment.map(|(start, _, offset)| address - start + offset)
    }

    /// Returns the number of bytes from `address` to the end of its segment; 0 outside the object.
    pub(crate) fn rest(&self, address: u64) -> usize {
        let end = |(start, length, _): &(u64, u64, u64)| {
            (*start..start + length).contains(&address).then(|| start + length)
        };
        self.segments.iter().find_map(end).map_or(0, |end| (end - address) as usize)
    }

    /// Returns true when the object contains `address`.
    pub(crate) fn holds(&self, address: *const c_void) -> bool {
        self.offset_of(address as u64).is_some()
    }
}

/// The unwind tables of one loaded object.
pub(crate) struct UnwindTables {
    /// As [`Object::path`].
    pub(crate) path: String,
    /// Load bias.
    pub(crate) base: u64,
    /// From the first to the last address of its segments.
    pub(crate) range: Range<u64>,
    /// Addresses of its index of call frame information (`PT_GNU_EH_FRAME`).
    pub(crate) header: Range<u64>,
    pub(crate) segments: Vec<Segment>,
}

/// A segment that is mapped readable.
pub(crate) struct Segment {
    pub(crate) range: Range<u64>,
    pub(crate) is_code: bool,
}

/// Returns the unwind tables of every loaded object that has them.
pub(crate) fn unwind_tables() -> Vec<UnwindTables> {
    let mut found = Vec::new();
    visit(|info, name| {
        let range = |h: &libc::Elf64_Phdr| {
            let start = info.dlpi_addr.wrapping_add(h.p_vaddr);
            start..start.saturating_add(h.p_memsz)
        };
        let is_readable = |h: &&libc::Elf64_Phdr| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_R != 0;
        let segment =
            |h: &libc::Elf64_Phdr| Segment { range: range(h), is_code: h.p_flags & libc::PF_X != 0 };
        let segments: Vec<Segment> = headers(info).iter().filter(is_readable).map(segment).collect();
        let header = headers(info).iter().find(|h| h.p_type == libc::PT_GNU_EH_FRAME).map(range);
        // The index is used only where a readable segment holds it.
        let holds = |header: &Range<u64>| {
            segments.iter().any(|s| s.range.start <= header.start && header.end <= s.range.end)
        };
        let start = segments.iter().map(|segment| segment.range.start).min();
        let end = segments.iter().map(|segment| segment.range.end).max();
        if let (Some(start), Some(end), Some(header)) = (start, end, header.filter(holds)) {
            let path = path_of(name);
            found.push(UnwindTables { path, base: info.dlpi_addr, range: start..end, header, segments });
        }
        true
    });
    found
}

/// Runs `work` while the loader's list is locked, so that every object stays mapped, unless objects
/// have come or gone since `generation`.
pub(crate) fn while_loaded(generation: u64, mut work: impl FnMut()) {
    visit(|info, _| {
        if info.dlpi_adds + info.dlpi_subs == generation {
            work();
        }
        false
    });
}

/// Returns the path of the object that the loader lists under `name`, which is empty for the
/// executable.
fn path_of(name: &CStr) -> String {
    if name.is_empty() { executable() } else { name.to_string_lossy().into_owned() }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns every loaded object, in the loader's order.
pub(crate) fn objects() -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    visit(|info, name| {
        let segment = |h: &libc::Elf64_Phdr| (info.dlpi_addr.wrapping_add(h.p_vaddr), h.p_memsz, h.p_offset);
        let segments = headers(info).iter().filter(|h| h.p_type == libc::PT_LOAD).map(segment).collect();
        found.push(Object { path: path_of(name), base: info.dlpi_addr, segments });
        true
    });
    found
}

/// Returns the loader's generation: the number of objects loaded and unloaded so far. It changes
/// whenever the result of `objects` does.
pub(crate) fn generation() -> u64 {
    let mut count = 0;
    visit(|info, _| {
        count = info.dlpi_adds + info.dlpi_subs;
        false
    });
    count
}

/// Returns the object that contains `address`.
pub(crate) fn holder(address: *const c_void) -> Option<Object> {
    objects().into_iter().find(|object| object.holds(address))
}

/// Returns the address of function `symbol` in `object`; `None` also when the object is unloaded.
pub(crate) fn symbol(object: &Object, symbol: &str) -> Option<*mut c_void> {
    let mut found = None;
    with_dynamic(object, |dynamic| found = dynamic.function(symbol));
    found
}

/// Returns the addresses of these functions or variables in the first object that defines all.
pub(crate) fn symbols<const COUNT: usize>(names: [&str; COUNT]) -> Option<[u64; COUNT]> {
    let mut found = None;
    visit(|info, _| {
        let addresses = dynamic_of(info).map(|dynamic| names.map(|name| dynamic.symbol_named(name)));
        found = addresses
            .filter(|all| all.iter().all(Option::is_some))
            .map(|all| all.map(Option::unwrap_or_default));
        found.is_none()
    });
    found
}

/// Returns true when `object` satisfies the dependency `soname`: by its soname, file name or path.
pub(crate) fn is_called(object: &Object, soname: &str) -> bool {
    let mut own = None;
    with_dynamic(object, |dynamic| own = dynamic.soname());
    own.as_deref() == Some(soname) || object.path == soname || file_name(&object.path) == soname
}

/// Returns the sonames of the files that `object` is linked with, in order.
pub(crate) fn needed(object: &Object) -> Vec<String> {
    let mut found = Vec::new();
    with_dynamic(object, |dynamic| found = dynamic.needed());
    found
}

/// Returns function `symbol` of the first object whose file name begins with one of `names`, or
/// NULL. Allocates nothing.
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

/// The loader's description of an object for debuggers (`link.h`), as far as it is used here.
#[repr(C)]
struct LinkMap {
    base: u64,
    name: *const c_char,
    dynamic: u64,
    next: *const LinkMap,
}

/// The head of the loader's list of objects for debuggers.
#[repr(C)]
struct Debug {
    version: c_int,
    map: *const LinkMap,
}

/// As [`first_symbol`], for the objects that the program started with. Calls no function of the C
/// library except string comparison, and uses no thread-local variable.
pub(crate) fn early_symbol(names: &[&str], symbol: &str) -> *mut c_void {
    unsafe extern "C" {
        static _r_debug: Debug;
    }
    // SAFETY: the loader sets the head of the list before any of our code runs, and does not move
    // it.
    let mut at = unsafe { _r_debug.map };
    // SAFETY: `at` is NULL or an entry of the list. Objects that the program started with stay
    // loaded, and later ones are appended, so the search ends or reaches an entry that stays valid.
    while let Some(object) = unsafe { at.as_ref() } {
        // SAFETY: every entry has a name, a C string; that of the program is empty.
        let name = unsafe { CStr::from_ptr(object.name) };
        if is_named(name, names) {
            // SAFETY: the loader has mapped and relocated the object, and it stays loaded, because
            // the program started with it.
            let dynamic = unsafe { Dynamic::new(object.base, object.dynamic) };
            if let Some(found) = dynamic.function(symbol) {
                return found;
            }
        }
        at = object.next;
    }
    std::ptr::null_mut()
}

/// Returns true when the file name of `path` begins with one of `names`.
fn is_named(path: &CStr, names: &[&str]) -> bool {
    let file = path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    names.iter().any(|name| file.starts_with(name.as_bytes()))
}

/// Runs `work` with the tables of `object`, which the loader keeps loaded meanwhile.
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
    // SAFETY: the loader has mapped and relocated this object, and keeps it loaded while `visit`
    // holds its lock.
    Some(unsafe { Dynamic::new(info.dlpi_addr, info.dlpi_addr.wrapping_add(header.p_vaddr)) })
}

fn headers(info: &libc::dl_phdr_info) -> &[libc::Elf64_Phdr] {
    // SAFETY: `dlpi_phdr` points to `dlpi_phnum` program headers, which stay mapped as long as
    // `info` is borrowed.
    unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
}

/// Calls `each` with every loaded object and its name until it returns false. The loader's list is
/// locked meanwhile, so forks are delayed.
fn visit<F: FnMut(&libc::dl_phdr_info, &CStr) -> bool>(mut each: F) {
    unsafe extern "C" fn call<F: FnMut(&libc::dl_phdr_info, &CStr) -> bool>(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        each: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid structure for the length of this call.
        let info = unsafe { &*info };
        // SAFETY: `each` points to the closure that `visit` passes, and nothing else uses it during
        // the call.
        let each = unsafe { &mut *each.cast::<F>() };
        // SAFETY: `dlpi_name` is a C string for the length of this call.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        i32::from(!each(info, name))
    }
    let each: *mut F = &mut each;
    let _held = block_forks();
    // SAFETY: `call::<F>` casts its data back to the `F` that `each` points to, and is called only
    // until this returns.
    unsafe { libc::dl_iterate_phdr(Some(call::<F>), each.cast()) };
}

/// Returns the path of the executable.
pub(crate) fn executable() -> String {
    // A new sandbox may not permit `readlink`.
    let link = (!sandbox::is_new()).then(|| std::fs::read_link("/proc/self/exe").ok()).flatten();
    link.unwrap_or_else(executed_as).to_string_lossy().into_owned()
}

/// Returns the path that was executed: for a script its own, not that of its interpreter.
fn executed_as() -> PathBuf {
    // SAFETY: `getauxval` has no preconditions.
    let name = unsafe { libc::getauxval(libc::AT_EXECFN) };
    if name == 0 {
        return "unknown".into();
    }
    // SAFETY: `name` is not 0, so it is the address of a C string that the kernel has stored for
    // the life of the process.
    let name = unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(name as usize)) };
    PathBuf::from(name.to_string_lossy().into_owned())
}

/// Returns the names by which the program may be selected: its executable, what was executed, and
/// its first argument.
pub(crate) fn names() -> Vec<String> {
    unsafe extern "C" {
        static program_invocation_name: *const c_char;
    }
    // SAFETY: the C library sets this variable before any constructor runs, and the program does
    // not change it at that time.
    let first = unsafe { program_invocation_name };
    // SAFETY: `first` is not NULL, so it is the program's first argument, a C string.
    let first = (!first.is_null()).then(|| unsafe { CStr::from_ptr(first) }.to_string_lossy().into_owned());
    [executable(), executed_as().to_string_lossy().into_owned()].into_iter().chain(first).collect()
}
