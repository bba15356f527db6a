//! Kernel libraries (ROCm 7.2), and functions that return a second handle of a kernel.
#![allow(unsafe_code)] // reads the results of calls that have just succeeded, and queries the names of kernels

use crate::abi::Pointer;
use crate::abi::hip::*;
use crate::calls::code::{handle, image_in_memory, loaded};
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use crate::state::graph_nodes::runtime_symbol;
use crate::state::kernels::Code;
use rocshim_ring::definition::{Image, Text};
use rocshim_ring::event::Load;
use rocshim_ring::{CallGuard, Producer};
use std::ffi::CStr;

/// Returns the image of `hipModuleLoadFatBinary`'s argument: itself, or what a
/// `__hipRegisterFatBinary` wrapper points to.
pub(crate) fn image_of(fatbin: Pointer) -> Pointer {
    let wrapper = fatbin as *const FatbinWrapper;
    let magic = u32::to_le_bytes(FATBIN_MAGIC);
    // SAFETY: `fatbin` begins with the magic number of a wrapper, so it points to one, which the
    // program keeps for the call.
    if begins_with(fatbin, &magic) { unsafe { (*wrapper).binary } } else { fatbin }
}

/// `hipLibraryLoadData`. The runtime does not parse the image before the first kernel is requested,
/// so it may be anything.
pub(crate) struct LoadLibrary {
    pub(crate) library: *mut hipLibrary_t,
    pub(crate) image: Pointer,
}

impl Intercept<hipError_t> for LoadLibrary {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Load::default())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        const KNOWN: [&[u8]; 3] = [b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"];
        let describe_with =
            |targets: &[Box<str>]| match KNOWN.iter().any(|magic| begins_with(self.image, magic)) {
                true => image_in_memory(targets, self.image),
                false => (Image { format: "opaque".into(), ..Image::default() }, Code::Unknown),
            };
        loaded(span, returned, status, self.library, describe_with);
    }
}

/// Returns true when the bytes at `start` begin with `magic`. Reads no further than the first byte
/// that differs.
fn begins_with(start: Pointer, magic: &[u8]) -> bool {
    let start = start.cast::<u8>();
    // SAFETY: `start` is not NULL. The program passes it as an image, of which at least one byte
    // exists, and each further byte is read only while the ones before match an image's magic
    // number.
    !start.is_null() && magic.iter().enumerate().all(|(at, byte)| unsafe { *start.wrapping_add(at) } == *byte)
}

/// `hipLibraryEnumerateKernels`: returns handles without names, which are queried from the runtime.
pub(crate) struct EnumerateKernels {
    pub(crate) kernels: *const hipKernel_t,
    pub(crate) room: u32,
    pub(crate) library: hipLibrary_t,
}

type GetCount = unsafe extern "C" fn(*mut u32, hipLibrary_t) -> hipError_t;
type GetName = unsafe extern "C" fn(*mut CName, hipKernel_t) -> hipError_t;

impl Intercept<hipError_t> for EnumerateKernels {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status != 0 || self.kernels.is_null() {
            return;
        }
        guarded(|process| {
            let count = runtime_symbol("hipLibraryGetKernelCount");
            let (Some(count), Some(name)) = (count, runtime_symbol("hipKernelGetName")) else { return };
            // SAFETY: `count` is libamdhip64's `hipLibraryGetKernelCount`, whose C type in
            // hip_runtime_api.h is `GetCount`.
            let get_count: GetCount = unsafe { std::mem::transmute(count) };
            // SAFETY: `name` is libamdhip64's `hipKernelGetName`, whose C type in hip_runtime_api.h
            // is `GetName`.
            let get_name: GetName = unsafe { std::mem::transmute(name) };
            let mut count = 0;
            // SAFETY: `library` is valid, because the call has just succeeded with it, and `count`
            // has room for the result. The last error is unchanged, as `state/graph_nodes.rs`
            // explains.
            if unsafe { get_count(&mut count, self.library) } != 0 {
                return;
            }
            for at in 0..count.min(self.room) as usize {
                // SAFETY: `kernels` is not NULL, and the call has stored min(kernels, room) handles
                // there; `at` is below that.
                let kernel = unsafe { *self.kernels.wrapping_add(at) };
                let mut name = std::ptr::null();
                // SAFETY: `kernel` is a handle that the runtime has just listed, and `name` has
                // room for the result.
                if unsafe { get_name(&mut name, kernel) } != 0 || name.is_null() {
                    return;
                }
                // SAFETY: `name` is not NULL, and the runtime's string lives as long as the
                // library.
                let name: Text = unsafe { CStr::from_ptr(name) }.to_string_lossy();
                let (function, module) = (kernel as u64, self.library as u64);
                process.define_function(returned, function, module, name);
            }
        });
    }
}

/// A second handle of a kernel: `hipGetFuncBySymbol`, `hipKernelGetFunction`.
pub(crate) struct SameFunction {
    pub(crate) function: *const hipFunction_t,
    pub(crate) of: Pointer,
}

impl Intercept<hipError_t> for SameFunction {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let (function, of) = (if status == 0 { handle(self.function) } else { 0 }, self.of as u64);
        if function != 0 && function != of {
            guarded(|process| process.define_same_function(returned, function, of));
        }
    }
}
