//! The dispatch table interception point. From ROCm 6.2 on, libamdhip64 hands its dispatch tables
//! to rocprofiler-register, and every public call goes through them, from any caller.
//!
//! The tables are forwarded first and patched in place afterwards, so a profiler that wraps their
//! entries stays below us and keeps working. (rocprofiler-register, `rocprofiler_register.h`;
//! hipamd, `hip_api_trace.hpp`.)
#![allow(unsafe_code)] // an export by the vendor's name, and tables in the runtime's memory

use crate::hook::entry_points::{claim, is_in_shim};
use crate::hooks::table as table_of_hooks;
use crate::lifecycle::{caught, guarded, is_enabled};
use crate::platform::objects;
use crate::platform::signals::{keeping_errno, with_signals_deferred};
use crate::table::row::{Hook, InterceptionPoint};
use rocshim_ring::clock;
use rocshim_ring::definition::Definition;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

/// Functions of HIP's table, in order. Releases only append entries.
const HIP: &str = include_str!("../abi/hip_table.txt");
/// Functions of the compiler's table, in order.
const HIP_COMPILER: &str = "__hipPopCallConfiguration __hipPushCallConfiguration __hipRegisterFatBinary \
    __hipRegisterFunction __hipRegisterManagedVar __hipRegisterSurface __hipRegisterTexture __hipRegisterVar \
    __hipUnregisterFatBinary";

/// Result of `rocprofiler_register_library_api_table` when rocprofiler-register is not loaded.
const NO_TOOLS: u32 = 1;
/// Limit of a table's size, bytes: more than ten times that of HIP 7.2.
const LARGEST: usize = 64 << 10;

type Register =
    unsafe extern "C" fn(*const c_char, *const c_void, u32, *mut *mut c_void, u64, *mut c_void) -> u32;

/// Receives the dispatch tables of a library. Must not call HIP: the runtime is inside a static
/// initialiser.
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
        // SAFETY: `real` is rocprofiler-register's function of this name, whose C type is
        // `Register`.
        let real: Register = unsafe { std::mem::transmute(real) };
        // SAFETY: these are the library's own arguments, passed on unchanged.
        unsafe { real(lib_name, import_func, lib_version, api_tables, api_table_length, register_id) }
    };
    if is_enabled(InterceptionPoint::Table)
        && !lib_name.is_null()
        && !api_tables.is_null()
        && api_table_length > 0
    {
        // SAFETY: `lib_name` is not NULL, so it is the library's name, a C string that it keeps for
        // this call.
        let name = unsafe { CStr::from_ptr(lib_name) };
        // SAFETY: `api_tables` is not NULL and has `api_table_length` tables, which is at least
        // one.
        let first = unsafe { *api_tables };
        with_signals_deferred(|| caught(|| take(name, first.cast())));
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
    // SAFETY: `table` is not NULL and aligned, and every dispatch table begins with its size in
    // bytes.
    let size = unsafe { *table };
    let entries = (size.min(LARGEST) / size_of::<usize>()).saturating_sub(1);
    let known: Vec<&str> = order.split_ascii_whitespace().take(entries).collect();
    let rows = table_of_hooks();
    let patched = rows.iter().filter(|hook| {
        let place = known.iter().position(|name| *name == hook.name);
        // SAFETY: entry `place` is within the size that the table states, and holds the function of
        // this name.
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

/// Puts our trampoline into an entry of the table; returns true when it is there.
///
/// # Safety
/// `entry` is the entry of the function of `hook`, in writable memory.
unsafe fn patch(hook: &Hook, entry: *mut usize) -> bool {
    // SAFETY: by the contract `entry` is an aligned word of the table, which lives as long as the
    // runtime. Other threads may read it, and the atomic store does not tear.
    let entry = unsafe { AtomicPtr::<c_void>::from_ptr(entry.cast()) };
    let real = entry.load(Acquire);
    if real.is_null() || is_in_shim(real) {
        return is_in_shim(real);
    }
    let Some(path) = objects::holder(real).map(|object| object.path) else { return false };
    let Some(number) = claim(hook, real, InterceptionPoint::Table, &path) else { return false };
    // Release: a thread that calls through the entry finds the trampoline bound.
    entry.store(hook.entry_points[number].trampoline(), Release);
    true
}
