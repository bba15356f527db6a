//! Descriptors of hipBLASLt: made, changed, destroyed. The program's calls feed what is known of them.
#![allow(unsafe_code)] // reads the results and attributes of calls that have just succeeded

use crate::abi::Pointer;
use crate::abi::hipblaslt::*;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::state::lt_descriptors::Words;
use rocshim_ring::CallGuard;

/// `hipblasLtMatrixLayoutCreate`, `hipblasLtMatmulDescCreate`.
pub(crate) struct CreateDescriptor {
    pub(crate) out: *const Pointer,
    pub(crate) words: Words,
}

impl Observed<hipblasStatus_t> for CreateDescriptor {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipblasStatus_t) {
        if status != 0 || self.out.is_null() {
            return;
        }
        // SAFETY: the call succeeded, so it has stored a descriptor here.
        let address = unsafe { *self.out } as u64;
        guarded(|process| process.descriptors.made(address, self.words));
    }
}

/// An attribute of a descriptor is set.
pub(crate) struct SetAttribute {
    pub(crate) descriptor: Pointer,
    pub(crate) attribute: u32,
    pub(crate) value: Pointer,
    pub(crate) bytes: usize,
}

impl SetAttribute {
    /// The value, if it has that many bytes, which are at most 8.
    fn read(&self, bytes: usize) -> Option<u64> {
        let mut value = [0; 8];
        if self.value.is_null() || self.bytes < bytes {
            return None;
        }
        // SAFETY: the call succeeded, so the library has read that many bytes from here.
        let from = unsafe { std::slice::from_raw_parts(self.value.cast::<u8>(), bytes) };
        value[..bytes].copy_from_slice(from);
        Some(u64::from_ne_bytes(value))
    }
}

impl Observed<hipblasStatus_t> for SetAttribute {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a descriptor has made it

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipblasStatus_t) {
        if status == 0 {
            let address = self.descriptor as u64;
            guarded(|process| {
                process.descriptors.changed(address, self.attribute, |bytes| self.read(bytes));
            });
        }
    }
}

/// A descriptor is destroyed. It is forgotten before: another thread may be given its address as soon as it is free.
pub(crate) struct DestroyDescriptor;

impl DestroyDescriptor {
    /// The call is about to be made.
    pub(crate) fn now(descriptor: Pointer) -> DestroyDescriptor {
        guarded(|process| process.descriptors.gone(descriptor as u64));
        DestroyDescriptor
    }
}

impl Observed<hipblasStatus_t> for DestroyDescriptor {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a descriptor has made it

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _status: hipblasStatus_t) {}
}

/// `hipblaslt_ext::copyMatmul`.
pub(crate) struct CopyProduct {
    pub(crate) from: hipblasLtMatmulDesc_t,
    pub(crate) to: hipblasLtMatmulDesc_t,
}

impl Observed<hipblasStatus_t> for CopyProduct {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a descriptor has made it

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipblasStatus_t) {
        guarded(|process| match process.descriptors.product(self.from as u64) {
            Some(words) if status == 0 => process.descriptors.made(self.to as u64, words),
            _ => process.descriptors.gone(self.to as u64),
        });
    }
}
