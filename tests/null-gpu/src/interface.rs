//! The model interface 0.4 of ROCr (`hsakmtmodeliface.h`): the table of functions that
//! `HSA_MODEL_LIB` is asked for.
#![allow(unsafe_code)] // C callbacks with the runtime's pointers

use crate::device::Device;
use crate::queue::{Kind, Place, Queue};
use std::ffi::c_void;

type SetEventFn = unsafe extern "C" fn(data: *mut c_void, event_id: u32);

/// `hsakmt_model_queue_info`; addresses are the device's.
#[repr(C)]
pub(crate) struct QueueInfo {
    ring_base_address: u64,
    write_pointer_address: u64,
    read_pointer_address: u64,
    doorbell: *mut u64,
    ring_size: u32,
    /// `KFD_IOC_QUEUE_TYPE_*`.
    queue_type: u32,
}

const QUEUE_TYPE_COMPUTE_AQL: u32 = 2;

/// `hsakmt_model_functions`, in the header's order.
#[repr(C)]
pub(crate) struct Functions {
    version_major: u32,
    version_minor: u32,
    create: extern "C" fn() -> *const Device,
    destroy: extern "C" fn(&'static Device),
    set_global_aperture: extern "C" fn(&'static Device, base: *mut c_void, size: u64),
    alloced_memory: extern "C" fn(&'static Device, base: *mut c_void, size: u64, flags: u32),
    freed_memory: extern "C" fn(&'static Device, base: *mut c_void, size: u64),
    set_notify_event: extern "C" fn(&'static Device, callback: *mut c_void, data: *mut c_void),
    set_wait_event: extern "C" fn(&'static Device, callback: *mut c_void, data: *mut c_void),
    register_queue: extern "C" fn(&'static Device, info: &QueueInfo) -> *mut Queue,
    set_set_event: extern "C" fn(&'static Device, set: SetEventFn, data: *mut c_void),
    destroy_queue: unsafe extern "C" fn(&'static Device, queue: *mut Queue),
}

static FUNCTIONS: Functions = Functions {
    version_major: 0,
    version_minor: 4,
    create,
    destroy,
    set_global_aperture,
    alloced_memory,
    freed_memory,
    set_notify_event: ignore_callback,
    set_wait_event: ignore_callback,
    register_queue,
    set_set_event,
    destroy_queue,
};

/// What the runtime looks up in `HSA_MODEL_LIB`.
// SAFETY: the name is the interface's own; nothing else in a process bears it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn get_hsakmt_model_functions() -> *const Functions {
    &FUNCTIONS
}

extern "C" fn create() -> *const Device {
    Box::leak(Box::new(Device::new()))
}

extern "C" fn destroy(_: &'static Device) {}

extern "C" fn set_global_aperture(device: &'static Device, base: *mut c_void, size: u64) {
    device.memory.set_aperture(base.expose_provenance() as u64, size);
}

extern "C" fn alloced_memory(device: &'static Device, base: *mut c_void, size: u64, _flags: u32) {
    device.memory.allocated(base.addr() as u64, size);
}

extern "C" fn freed_memory(device: &'static Device, base: *mut c_void, _size: u64) {
    device.memory.freed(base.addr() as u64);
}

extern "C" fn ignore_callback(_: &'static Device, _callback: *mut c_void, _data: *mut c_void) {}

extern "C" fn register_queue(device: &'static Device, info: &QueueInfo) -> *mut Queue {
    let kind = if info.queue_type == QUEUE_TYPE_COMPUTE_AQL { Kind::Aql } else { Kind::Sdma };
    let place = Place {
        ring: info.ring_base_address,
        bytes: u64::from(info.ring_size),
        write_index: info.write_pointer_address,
        read_index: info.read_pointer_address,
    };
    Box::into_raw(Box::new(device.start_queue(kind, place)))
}

extern "C" fn set_set_event(device: &'static Device, set: SetEventFn, data: *mut c_void) {
    let data = data.expose_provenance();
    device.set_set_event(Box::new(move |event| {
        // SAFETY: the runtime gave the function and its data for calls from any thread, as long as
        // the process lives.
        unsafe { set(std::ptr::with_exposed_provenance_mut(data), event) }
    }));
}

unsafe extern "C" fn destroy_queue(_: &'static Device, queue: *mut Queue) {
    // SAFETY: made by `register_queue`, and the runtime destroys a queue once.
    drop(unsafe { Box::from_raw(queue) });
}
