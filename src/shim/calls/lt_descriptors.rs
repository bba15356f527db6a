//! Calls that create, change and destroy hipBLASLt's descriptors: they update the tracked contents.
#![allow(unsafe_code)] // reads the results and attributes of calls that have just succeeded

use crate::abi::Pointer;
use crate::abi::hipblaslt::*;
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use crate::state::lt_descriptors::Words;
use rocshim_ring::CallGuard;

/// `hipblasLtMatrixLayoutCreate`, `hipblasLtMatmulDescCreate`.
pub(crate) struct CreateDescriptor {
    pub(crate) out: *const Pointer,
    pub(crate) words: Words,
}

impl Intercept<hipblasStatus_t> for CreateDescriptor {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipblasStatus_t) {
        if status != 0 || self.out.is_null() {
            return;
        }
        // SAFETY: `out` is not NULL, and the call succeeded, so it has stored a descriptor there.
        let address = unsafe { *self.out } as u64;
        guarded(|process| process.descriptors.create(address, self.words));
    }
}

/// Change of a descriptor's attribute.
pub(crate) struct SetAttribute {
    pub(crate) descriptor: Pointer,
    pub(crate) attribute: u32,
    pub(crate) value: Pointer,
    pub(crate) bytes: usize,
}

impl SetAttribute {
    /// Returns the value if it has at least `bytes` bytes; at most 8.
    fn read(&self, bytes: usize) -> Option<u64> {
        let mut value = [0; 8];
        if self.value.is_null() || self.bytes < bytes {
            return None;
        }
        // SAFETY: `value` is not NULL and has at least `bytes` bytes, which the library has just
        // read successfully. The program does not change them during its call.
        let from = unsafe { std::slice::from_raw_parts(self.value.cast::<u8>(), bytes) };
        value[..bytes].copy_from_slice(from);
        Some(u64::from_ne_bytes(value))
    }
}

impl Intercept<hipblasStatus_t> for SetAttribute {
    const STATE_ONLY: bool = true;
    const REBINDS: bool = false; // its users have called the function that created it

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipblasStatus_t) {
        if status == 0 {
            let address = self.descriptor as u64;
            guarded(|process| {
                process.descriptors.set_attribute(address, self.attribute, |bytes| self.read(bytes));
            });
        }
    }
}

/// Destruction of a descriptor. It is removed before the call, because another thread may be given
/// its address as soon as it is free.
pub(crate) struct DestroyDescriptor;

impl DestroyDescriptor {
    /// Removes the descriptor, right before the call.
    pub(crate) fn before_call(descriptor: Pointer) -> DestroyDescriptor {
        guarded(|process| process.descriptors.destroy(descriptor as u64));
        DestroyDescriptor
    }
}

impl Intercept<hipblasStatus_t> for DestroyDescriptor {
    const STATE_ONLY: bool = true;
    const REBINDS: bool = false; // its users have called the function that created it

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _status: hipblasStatus_t) {}
}

/// `hipblaslt_ext::copyMatmul`.
pub(crate) struct CopyMatmul {
    pub(crate) from: hipblasLtMatmulDesc_t,
    pub(crate) to: hipblasLtMatmulDesc_t,
}

impl Intercept<hipblasStatus_t> for CopyMatmul {
    const STATE_ONLY: bool = true;
    const REBINDS: bool = false; // its users have called the function that created it

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipblasStatus_t) {
        guarded(|process| match process.descriptors.matmul(self.from as u64) {
            Some(words) if status == 0 => process.descriptors.create(self.to as u64, words),
            _ => process.descriptors.destroy(self.to as u64),
        });
    }
}
