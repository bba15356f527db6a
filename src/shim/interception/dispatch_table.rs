//! The table interception point: from ROCm 6.2 on, libamdhip64 hands its dispatch tables to rocprofiler-register, and every public call
//! goes through them, whoever makes it and however it was found.
//!
//! The tables are forwarded first and patched in place afterwards, so that a profiler that wraps their entries lies
//! beneath us and keeps working. (rocprofiler-register, `rocprofiler_register.h`; hipamd, `hip_api_trace.hpp`.)
#![allow(unsafe_code)] // an export by the vendor's name, and tables in the runtime's memory

use crate::hook::entry_points::{claim, is_own};
use crate::hooks::table as table_of_hooks;
use crate::lifecycle::{caught, guarded, is_open};
use crate::platform::objects;
use crate::platform::signals::{keeping_errno, quietly};
use crate::table::row::{Hook, InterceptionPoint};
use rocshim_ring::clock;
use rocshim_ring::definition::Definition;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

/// The functions of HIP's table, in its order. Entries are only ever added at the end.
const HIP: &str = include_str!("../abi/hip_table.txt");
/// The functions of the compiler's table.
const HIP_COMPILER: &str = "__hipPopCallConfiguration __hipPushCallConfiguration __hipRegisterFatBinary \
    __hipRegisterFunction __hipRegisterManagedVar __hipRegisterSurface __hipRegisterTexture __hipRegisterVar \
    __hipUnregisterFatBinary";

/// What `rocprofiler_register_library_api_table` returns where rocprofiler-register is not loaded.
const NO_TOOLS: u32 = 1;
/// No table is larger, bytes: more than ten times what HIP 7.2 has.
const LARGEST: usize = 64 << 10;

type Register =
    unsafe extern "C" fn(*const c_char, *const c_void, u32, *mut *mut c_void, u64, *mut c_void) -> u32;

/// Takes the tables of a library that hands them over. No HIP function may be called here: the runtime is in the middle of
/// a static initialiser.
///
/// # Safety
/// As rocprofiler-register's.
#[unsafe(no_mangle)]
unsafe extern "C" fn rocprofiler_register_library_api_table(
    lib_name: *const c_char,
    import_func: *const c_void,
    lib_version: u32,
    api_tables: *mut *mut c_void,
    api_table_length: u64,
    register_id: *mut c_void,
) -> u32 {
    let real = keeping_errno(|| {
        objects::first_symbol(&["librocprofiler-register.so"], "rocprofiler_register_library_api_table")
    });
    let answer = if real.is_null() {
        NO_TOOLS
    } else {
        // SAFETY: rocprofiler-register's function of this name, which has this type.
        let real: Register = unsafe { std::mem::transmute(real) };
        // SAFETY: the library's own arguments.
        unsafe { real(lib_name, import_func, lib_version, api_tables, api_table_length, register_id) }
    };
    if is_open(InterceptionPoint::Table)
        && !lib_name.is_null()
        && !api_tables.is_null()
        && api_table_length > 0
    {
        // SAFETY: the library names itself with a C string.
        let name = unsafe { CStr::from_ptr(lib_name) };
        // SAFETY: it passes an array of at least one table.
        let first = unsafe { *api_tables };
        quietly(|| caught(|| take(name, first.cast())));
    }
    answer
}

fn take(name: &CStr, table: *mut usize) {
    let order = match name.to_bytes() {
        b"hip" => HIP,
        b"hip_compiler" => HIP_COMPILER,
        _ => return,
    };
    if table.is_null() || !table.is_aligned() {
        return;
    }
    // SAFETY: every table begins with its size in bytes.
    let size = unsafe { *table };
    let entries = (size.min(LARGEST) / size_of::<usize>()).saturating_sub(1);
    let known: Vec<&str> = order.split_ascii_whitespace().take(entries).collect();
    let rows = table_of_hooks();
    let patched = rows.iter().filter(|hook| {
        let place = known.iter().position(|name| *name == hook.name);
        // SAFETY: entry `place` lies within the size that the table states.
        place.is_some_and(|place| unsafe { patch(hook, table.wrapping_add(1 + place)) })
    });
    let functions = patched.count() as u32;
    let path = objects::holder(table.cast()).map_or_else(|| "unknown".into(), |object| object.path);
    let library = name.to_string_lossy().into_owned();
    guarded(|process| {
        let table =
            Definition::Table { name: library.into(), path: path.into(), entries: entries as u32, functions };
        process.define(clock::now(), table);
    });
}

/// Puts our function into an entry of the table; true when it is there.
///
/// # Safety
/// `entry` is the entry of the function of `hook`, in memory that may be written.
unsafe fn patch(hook: &Hook, entry: *mut usize) -> bool {
    // SAFETY: an aligned word of the table; other threads may be reading it.
    let entry = unsafe { AtomicPtr::<c_void>::from_ptr(entry.cast()) };
    let real = entry.load(Acquire);
    if real.is_null() || is_own(real) {
        return is_own(real);
    }
    let Some(path) = objects::holder(real).map(|object| object.path) else { return false };
    let Some(way) = claim(hook, real, InterceptionPoint::Table, &path) else { return false };
    // Release: whoever calls through the entry finds the way leading to the real function.
    entry.store(hook.ways[way].own(), Release);
    true
}
