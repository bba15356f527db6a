//! Types of driver_types.h that describe two- and three-dimensional copies.
#![allow(non_camel_case_types, non_snake_case)]

use super::Pointer;
use std::mem::offset_of;

pub(crate) type hipDeviceptr_t = Pointer;
pub(crate) type hipArray_t = Pointer;
/// 0 host to host, 1 host to device, 2 device to host, 3 device to device, 4 default, 1024 device
/// to device without compute units.
pub(crate) type hipMemcpyKind = u32;

/// A pointer to rows of `pitch` bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct hipPitchedPtr {
    pub(crate) ptr: Pointer,
    pub(crate) pitch: usize,
    pub(crate) xsize: usize,
    pub(crate) ysize: usize,
}

const _: () = assert!(size_of::<hipPitchedPtr>() == 32);

/// Size of a copy. `width` is in bytes, or in elements where an array takes part.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct hipExtent {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

const _: () = assert!(size_of::<hipExtent>() == 24);

/// The argument of `hipMemcpy3D`.
#[repr(C)]
pub(crate) struct hipMemcpy3DParms {
    pub(crate) srcArray: hipArray_t,
    pub(crate) srcPos: [usize; 3],
    pub(crate) srcPtr: hipPitchedPtr,
    pub(crate) dstArray: hipArray_t,
    pub(crate) dstPos: [usize; 3],
    pub(crate) dstPtr: hipPitchedPtr,
    pub(crate) extent: hipExtent,
    pub(crate) kind: hipMemcpyKind,
}

const _: () = assert!(size_of::<hipMemcpy3DParms>() == 160);
const _: () = assert!(offset_of!(hipMemcpy3DParms, dstArray) == 64);
const _: () = assert!(offset_of!(hipMemcpy3DParms, extent) == 128);
const _: () = assert!(offset_of!(hipMemcpy3DParms, kind) == 152);

/// Source or destination of a [`hip_Memcpy2D`]. The values of `memoryType` differ between ROCm 5
/// and 6, so it is not read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MemcpyEnd {
    pub(crate) XInBytes: usize,
    pub(crate) Y: usize,
    pub(crate) memoryType: u32,
    pub(crate) host: Pointer,
    pub(crate) device: hipDeviceptr_t,
    pub(crate) array: hipArray_t,
    pub(crate) pitch: usize,
}

const _: () = assert!(size_of::<MemcpyEnd>() == 56);
const _: () = assert!(offset_of!(MemcpyEnd, host) == 24);

/// The argument of `hipMemcpyParam2D`.
#[repr(C)]
pub(crate) struct hip_Memcpy2D {
    pub(crate) src: MemcpyEnd,
    pub(crate) dst: MemcpyEnd,
    pub(crate) WidthInBytes: usize,
    pub(crate) Height: usize,
}

const _: () = assert!(size_of::<hip_Memcpy2D>() == 128);
