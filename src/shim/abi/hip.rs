//! hip_runtime_api.h: what the hooked functions take and return.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

use super::Pointer;
use std::ffi::c_char;

pub(crate) type hipError_t = i32;
pub(crate) type hipModule_t = Pointer;
pub(crate) type hipFunction_t = Pointer;
pub(crate) type hipStream_t = Pointer;
pub(crate) type hipEvent_t = Pointer;
pub(crate) type hipLibrary_t = Pointer;
pub(crate) type hipKernel_t = Pointer;
/// `void**`: pointers to the arguments, or the `extra` list.
pub(crate) type KernelParams = Pointer;
/// The address of a `__global__` function's host stub.
pub(crate) type HostFn = Pointer;
pub(crate) type CName = *const c_char;

/// What a hook answers when no library has the function (hip_runtime_api.h).
pub(crate) const hipErrorNotSupported: hipError_t = 801;

/// A grid or block, passed by value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct dim3 {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}

const _: () = assert!(size_of::<dim3>() == 12 && align_of::<dim3>() == 4);

impl From<dim3> for [u32; 3] {
    #[inline(always)]
    fn from(dim: dim3) -> [u32; 3] {
        [dim.x, dim.y, dim.z]
    }
}

/// What `__hipRegisterFatBinary` is given: a pointer to device code and a magic number (clang, CGCUDANV.cpp).
#[repr(C)]
pub(crate) struct FatbinWrapper {
    pub(crate) magic: u32,
    pub(crate) version: u32,
    pub(crate) binary: Pointer,
    pub(crate) unused: Pointer,
}

pub(crate) const FATBIN_MAGIC: u32 = 0x4849_5046;

const _: () = assert!(size_of::<FatbinWrapper>() == 24);
const _: () = assert!(std::mem::offset_of!(FatbinWrapper, binary) == 8);

/// What `hipGetDeviceProperties` fills: the layout of ROCm 5, which its plain name keeps in every release.
#[repr(C, align(8))]
pub(crate) struct hipDeviceProp_tR0000 {
    /// What the device is sold as, ended by NUL.
    pub(crate) name: [u8; 256],
    pub(crate) before: [u8; 140],
    /// The target, `gfx1100`, with its features, ended by NUL.
    pub(crate) gcnArchName: [u8; 256],
    pub(crate) after: [u8; 140],
}

/// What `hipGetDevicePropertiesR0600` fills: the layout of ROCm 6 and later.
#[repr(C, align(8))]
pub(crate) struct hipDeviceProp_tR0600 {
    pub(crate) name: [u8; 256],
    pub(crate) before: [u8; 904],
    pub(crate) gcnArchName: [u8; 256],
    pub(crate) after: [u8; 56],
}
