//! The runtime's tool (`HSA_TOOLS_LIB`): gives ROCr the device's clock, which the model interface
//! leaves at 0, and calm.
//!
//! Without the clock the times of events are 0 or NaN, and a library that chooses by time (MIOpen)
//! rejects every kernel.
#![allow(unsafe_code)] // the runtime's tables of function pointers, changed in place

use crate::calm;
use crate::clock;
use crate::memory::Memory;
use crate::signal;
use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::OnceLock;

type Status = u32;
const SUCCESS: Status = 0;
const SYSTEM_INFO_TIMESTAMP_FREQUENCY: u32 = 3;
const SIGNAL_CONDITION_NE: u32 = 1;

type SystemGetInfo = unsafe extern "C" fn(attribute: u32, value: *mut c_void) -> Status;
type SignalCreate =
    unsafe extern "C" fn(initial_value: i64, consumers: u32, agents: *const u64, signal: *mut u64) -> Status;
type SignalHandler = extern "C" fn(value: i64, arg: *mut c_void) -> bool;
type SignalAsyncHandler = unsafe extern "C" fn(
    signal: u64,
    condition: u32,
    value: i64,
    handler: SignalHandler,
    arg: *mut c_void,
) -> Status;

/// `ApiTableVersion`.
type Version = [u32; 4];

/// The beginning of `HsaApiTable` (`hsa_api_trace.h`).
#[repr(C)]
pub(crate) struct ApiTable {
    version: Version,
    core: *mut CoreTable,
    amd_ext: *mut AmdExtTable,
}

/// The beginning of `CoreApiTable`.
#[repr(C)]
struct CoreTable {
    version: Version,
    init: *const c_void,
    shut_down: *const c_void,
    system_get_info: SystemGetInfo,
    between: [*const c_void; 34],
    signal_create: SignalCreate,
}

/// The beginning of `AmdExtTable`.
#[repr(C)]
struct AmdExtTable {
    version: Version,
    coherency: [*const c_void; 2],
    profiling_enable: [*const c_void; 2],
    get_dispatch_time: unsafe extern "C" fn(agent: u64, signal: u64, time: *mut Time) -> Status,
    get_async_copy_time: unsafe extern "C" fn(signal: u64, time: *mut Time) -> Status,
    convert_tick_to_system_domain: unsafe extern "C" fn(agent: u64, tick: u64, time: *mut u64) -> Status,
    signal_async_handler: SignalAsyncHandler,
}

// `hsa_signal_create` is entry 38 of its table, `hsa_amd_signal_async_handler` entry 8.
const _: () = assert!(offset_of!(CoreTable, signal_create) == 8 + 8 * 38);
const _: () = assert!(offset_of!(AmdExtTable, signal_async_handler) == 8 + 8 * 8);

/// `hsa_amd_profiling_dispatch_time_t` and `hsa_amd_profiling_async_copy_time_t`.
#[repr(C)]
struct Time {
    start: u64,
    end: u64,
}

/// The runtime's own `hsa_system_get_info`.
static SYSTEM_GET_INFO: OnceLock<SystemGetInfo> = OnceLock::new();

/// Called by the runtime when it has loaded its tools.
///
/// # Safety
/// `table` is the runtime's.
// SAFETY: the name is the runtime's for its tools; the library is not linked to anything, so it
// conflicts with no other definition.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn OnLoad(
    table: *const ApiTable,
    _runtime_version: u64,
    _failed_tool_count: u64,
    _failed_tool_names: *const *const c_char,
) -> bool {
    // SAFETY: the runtime passes its own table, which is alive, and which no other code uses while
    // the runtime loads its tools.
    let table = unsafe { &*table };
    // SAFETY: the first sub-table is another object of the runtime, alive for as long as the
    // process; no other code reads or writes it while the runtime loads its tools.
    let core = unsafe { &mut *table.core };
    // SAFETY: the second sub-table is a third object, equally alive; the loading of tools, which
    // runs once and on one thread, is its only user during this call.
    let amd_ext = unsafe { &mut *table.amd_ext };
    let _ = SYSTEM_GET_INFO.set(core.system_get_info);
    core.system_get_info = system_get_info;
    amd_ext.get_dispatch_time = get_dispatch_time;
    amd_ext.get_async_copy_time = get_async_copy_time;
    amd_ext.convert_tick_to_system_domain = convert_tick_to_system_domain;
    handle_forever(core, amd_ext);
    true
}

/// Has the runtime call [`pause`] whenever it looks at its signals: for a signal that is never 0.
fn handle_forever(core: &CoreTable, amd_ext: &AmdExtTable) {
    let mut signal = 0;
    // SAFETY: no agents, and `signal` is ours to write.
    if unsafe { (core.signal_create)(1, 0, ptr::null(), &mut signal) } == SUCCESS {
        // SAFETY: the signal that was made; `pause` takes no argument.
        unsafe { (amd_ext.signal_async_handler)(signal, SIGNAL_CONDITION_NE, 0, pause, ptr::null_mut()) };
    }
}

/// Returns true: call it again.
extern "C" fn pause(_value: i64, _arg: *mut c_void) -> bool {
    calm::pause();
    true
}

/// Called by the runtime before it unloads its tools.
// SAFETY: no other object of the process defines this name; the runtime looks it up here.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn OnUnload() {}

unsafe extern "C" fn system_get_info(attribute: u32, value: *mut c_void) -> Status {
    if attribute == SYSTEM_INFO_TIMESTAMP_FREQUENCY {
        // SAFETY: for this attribute `value` points to a u64.
        unsafe { *value.cast::<u64>() = clock::FREQUENCY };
        return SUCCESS;
    }
    match SYSTEM_GET_INFO.get() {
        // SAFETY: the caller's own arguments.
        Some(real) => unsafe { real(attribute, value) },
        None => 1, // HSA_STATUS_ERROR: not reached, it is set before this function is known to anyone
    }
}

unsafe extern "C" fn get_dispatch_time(_agent: u64, signal: u64, time: *mut Time) -> Status {
    // SAFETY: the caller passes a `time` that it may write to.
    unsafe { *time = time_of(signal) };
    SUCCESS
}

unsafe extern "C" fn get_async_copy_time(signal: u64, time: *mut Time) -> Status {
    // SAFETY: the caller passes a `time` that it may write to.
    unsafe { *time = time_of(signal) };
    SUCCESS
}

unsafe extern "C" fn convert_tick_to_system_domain(_agent: u64, tick: u64, time: *mut u64) -> Status {
    // The device's clock is the system's.
    // SAFETY: the caller passes a `time` that it may write to.
    unsafe { *time = tick };
    SUCCESS
}

/// The times in a signal, never empty: some divide by them.
fn time_of(signal: u64) -> Time {
    // SAFETY: a signal's handle is its address in this process.
    let memory = unsafe { Memory::new() };
    let (start, end): (u64, u64) = (memory.read(signal + signal::START), memory.read(signal + signal::END));
    Time { start, end: end.max(start + 1) }
}
