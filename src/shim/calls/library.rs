//! Libraries of kernels (ROCm 7.2), and kernels that get a second handle.
#![allow(unsafe_code)] // reads the results of calls that have just succeeded, and asks for the names of kernels

use crate::abi::Pointer;
use crate::abi::hip::*;
use crate::calls::code::{handle, image_in_memory, loaded};
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::state::graph_nodes::of_the_one_runtime;
use crate::state::kernels::Code;
use rocshim_ring::definition::{Image, Text};
use rocshim_ring::event::Load;
use rocshim_ring::{CallGuard, Producer};
use std::ffi::CStr;

/// `hipModuleLoadFatBinary`: an image, or what `__hipRegisterFatBinary` would be given.
pub(crate) fn image_of(fatbin: Pointer) -> Pointer {
    let wrapper = fatbin as *const FatbinWrapper;
    let magic = u32::to_le_bytes(FATBIN_MAGIC);
    // SAFETY: it begins with a wrapper's magic number.
    if begins_with(fatbin, &magic) { unsafe { (*wrapper).binary } } else { fatbin }
}

/// `hipLibraryLoadData`: the image is not looked into before the first kernel is asked for, so it may be anything.
pub(crate) struct LoadLibrary {
    pub(crate) library: *mut hipLibrary_t,
    pub(crate) image: Pointer,
}

impl Observed<hipError_t> for LoadLibrary {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Load::default())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        const KNOWN: [&[u8]; 3] = [b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"];
        let look = |targets: &[Box<str>]| match KNOWN.iter().any(|magic| begins_with(self.image, magic)) {
            true => image_in_memory(targets, self.image),
            false => (Image { format: "opaque".into(), ..Image::default() }, Code::Unknown),
        };
        loaded(span, returned, status, self.library, look);
    }
}

/// True when the bytes at `start` begin with `magic`. Nothing is read past the first byte that differs.
fn begins_with(start: Pointer, magic: &[u8]) -> bool {
    let start = start.cast::<u8>();
    // SAFETY: the program gave it as an image, which ends no earlier than it begins to differ from one.
    !start.is_null() && magic.iter().enumerate().all(|(at, byte)| unsafe { *start.wrapping_add(at) } == *byte)
}

/// `hipLibraryEnumerateKernels`: handles without names, which the runtime is asked for.
pub(crate) struct EnumerateKernels {
    pub(crate) kernels: *const hipKernel_t,
    pub(crate) room: u32,
    pub(crate) library: hipLibrary_t,
}

type GetCount = unsafe extern "C" fn(*mut u32, hipLibrary_t) -> hipError_t;
type GetName = unsafe extern "C" fn(*mut CName, hipKernel_t) -> hipError_t;

impl Observed<hipError_t> for EnumerateKernels {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status != 0 || self.kernels.is_null() {
            return;
        }
        guarded(|process| {
            let count = of_the_one_runtime("hipLibraryGetKernelCount");
            let (Some(count), Some(name)) = (count, of_the_one_runtime("hipKernelGetName")) else { return };
            // SAFETY: HIP's function of this name, whose type hip_runtime_api.h states.
            let get_count: GetCount = unsafe { std::mem::transmute(count) };
            // SAFETY: as above.
            let get_name: GetName = unsafe { std::mem::transmute(name) };
            let mut count = 0;
            // SAFETY: a library that the call has just succeeded with. The last error stays as it left it: `nodes`.
            if unsafe { get_count(&mut count, self.library) } != 0 {
                return;
            }
            for at in 0..count.min(self.room) as usize {
                // SAFETY: the call has stored as many handles as there are kernels and room.
                let kernel = unsafe { *self.kernels.wrapping_add(at) };
                let mut name = std::ptr::null();
                // SAFETY: a kernel of a library, and a place for its name.
                if unsafe { get_name(&mut name, kernel) } != 0 || name.is_null() {
                    return;
                }
                // SAFETY: a C string that lives as long as the library.
                let name: Text = unsafe { CStr::from_ptr(name) }.to_string_lossy();
                let (function, module) = (kernel as u64, self.library as u64);
                process.define_function(returned, function, module, name);
            }
        });
    }
}

/// A kernel gets another handle: `hipGetFuncBySymbol`, `hipKernelGetFunction`.
pub(crate) struct SameFunction {
    pub(crate) function: *const hipFunction_t,
    pub(crate) of: Pointer,
}

impl Observed<hipError_t> for SameFunction {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let (function, of) = (if status == 0 { handle(self.function) } else { 0 }, self.of as u64);
        if function != 0 && function != of {
            guarded(|process| process.define_same_function(returned, function, of));
        }
    }
}
