//! The libraries that the process has loaded, and where an address lies in them.
#![allow(unsafe_code)] // dl_iterate_phdr hands out C structures for the length of a call

use std::ffi::{CStr, c_int, c_void};
use std::path::PathBuf;

/// The ROCm libraries that a trace tells of, by the beginning of their file name.
const ROCM: [&str; 13] = [
    "libamdhip64.so",
    "librocblas.so",
    "libhipblas.so",
    "libhipblaslt.so",
    "libMIOpen.so",
    "libhsa-runtime64.so",
    "librocprofiler-register.so",
    "librocprofiler-sdk.so",
    "libroctx64.so",
    "librccl.so",
    "libggml-hip.so",
    "libtorch_hip.so",
    "librocsparse.so",
];

/// A loaded object.
pub(crate) struct Object {
    /// Its file as the loader knows it; the executable's own is resolved.
    pub(crate) path: String,
    /// Its loadable segments: address in memory, length, offset in the file.
    segments: Vec<(u64, u64, u64)>,
}

impl Object {
    fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// True for a file of library `name` (`libamdhip64.so`), with or without a version.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.file_name().starts_with(name)
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
}

/// Every object that is loaded now, in the loader's order.
pub(crate) fn objects() -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    let out: *mut Vec<Object> = &mut found;
    // SAFETY: `each` gets `out` as its data and runs only during this call, while `found` lives and is not used.
    unsafe { libc::dl_iterate_phdr(Some(each), out.cast()) };
    found
}

/// How many objects were ever loaded and unloaded: a change means that `objects` has something new to say.
pub(crate) fn generation() -> u64 {
    let mut count = 0u64;
    let out: *mut u64 = &mut count;
    // SAFETY: as in `objects`.
    unsafe { libc::dl_iterate_phdr(Some(first), out.cast()) };
    count
}

unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _size: usize, out: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid structure.
    let info = unsafe { &*info };
    // SAFETY: `generation` passes a `u64`.
    unsafe { *out.cast::<u64>() = info.dlpi_adds + info.dlpi_subs };
    1
}

unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _size: usize, out: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid structure.
    let info = unsafe { &*info };
    // SAFETY: `objects` passes its vector.
    let found = unsafe { &mut *out.cast::<Vec<Object>>() };
    // SAFETY: the name is a C string for the length of the call.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
    // SAFETY: the program headers are an array of `dlpi_phnum` for the length of the call.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let segment = |h: &libc::Elf64_Phdr| (info.dlpi_addr.wrapping_add(h.p_vaddr), h.p_memsz, h.p_offset);
    let segments = headers.iter().filter(|h| h.p_type == libc::PT_LOAD).map(segment).collect();
    let path = if name.is_empty() { executable() } else { name };
    found.push(Object { path, segments });
    0
}

/// The program's own file.
pub(crate) fn executable() -> String {
    std::fs::read_link("/proc/self/exe")
        .unwrap_or_else(|_| PathBuf::from("unknown"))
        .to_string_lossy()
        .into_owned()
}
