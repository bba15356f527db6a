//! Types of hip_runtime_api.h, as the hooked HIP functions take and return them.
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
/// `void**`: an array of pointers to the kernel's arguments, or the `extra` list.
pub(crate) type KernelParams = Pointer;
/// Address of the host stub that the compiler generates for a `__global__` function.
pub(crate) type HostFn = Pointer;
pub(crate) type CName = *const c_char;

/// Returned by a hook when no loaded library has the real function (hip_runtime_api.h).
pub(crate) const hipErrorNotSupported: hipError_t = 801;

/// Size of a grid or a block, passed by value.
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

/// The argument of `__hipRegisterFatBinary`: a magic number and a pointer to device code (clang,
/// CGCUDANV.cpp).
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

/// Filled by `hipGetDeviceProperties`: the ROCm 5 layout, which the unversioned name keeps in every
/// release.
#[repr(C, align(8))]
pub(crate) struct hipDeviceProp_tR0000 {
    /// Marketing name, NUL-terminated.
    pub(crate) name: [u8; 256],
    pub(crate) before: [u8; 140],
    /// Target with its features (`gfx1100`), NUL-terminated.
    pub(crate) gcnArchName: [u8; 256],
    pub(crate) after: [u8; 140],
}

/// Filled by `hipGetDevicePropertiesR0600`: the layout of ROCm 6 and later.
#[repr(C, align(8))]
pub(crate) struct hipDeviceProp_tR0600 {
    pub(crate) name: [u8; 256],
    pub(crate) before: [u8; 904],
    pub(crate) gcnArchName: [u8; 256],
    pub(crate) after: [u8; 56],
}
