//! The memory that the device sees: the aperture that the runtime maps for it, and what is
//! allocated there.
#![allow(unsafe_code)] // a device reads and writes where its packets say; all of that is in this file

use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A value that any bytes are valid for.
pub(crate) trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for u16 {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for [u32; 16] {}

/// Device memory. Addresses below the aperture's size lie in it; all others are the process's own.
pub(crate) struct Memory {
    /// Where device address 0 lies, and how many bytes follow. Set once, before the first queue.
    aperture: OnceLock<(u64, u64)>,
    /// Start and bytes of each allocation.
    allocations: Mutex<BTreeMap<u64, u64>>,
}

impl Memory {
    /// # Safety
    /// The code that fills the device's queues guarantees for the addresses in them: each is
    /// mapped, and writable where the packet makes the device write, until the packet is retired.
    /// (On hardware a wrong one is a fault too.)
    pub(crate) unsafe fn new() -> Memory {
        Memory { aperture: OnceLock::new(), allocations: Mutex::default() }
    }

    /// The process's own memory, for tests that use addresses of their own variables.
    #[cfg(test)]
    pub(crate) fn of_this_process() -> Memory {
        // SAFETY: left to the tests, which hold on to what they give the address of.
        unsafe { Memory::new() }
    }

    /// Places device address 0 at `base`. A second call changes nothing.
    pub(crate) fn set_aperture(&self, base: u64, bytes: u64) {
        let _ = self.aperture.set((base, bytes));
    }

    /// Notes an allocation.
    pub(crate) fn allocated(&self, start: u64, bytes: u64) {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner).insert(start, bytes);
    }

    /// Forgets an allocation.
    pub(crate) fn freed(&self, start: u64) {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner).remove(&start);
    }

    /// The allocation that holds `address`.
    pub(crate) fn allocation(&self, address: u64) -> Option<Range<u64>> {
        let allocations = self.allocations.lock().unwrap_or_else(PoisonError::into_inner);
        let (&start, &bytes) = allocations.range(..=address).next_back()?;
        (address - start < bytes).then_some(start..start + bytes)
    }

    /// The value at `address`.
    pub(crate) fn read<T: Plain>(&self, address: u64) -> T {
        // SAFETY: mapped by the contract of `new`; any bytes make a `T`, at any alignment.
        unsafe { ptr::read_unaligned(self.host(address).cast::<T>()) }
    }

    /// Puts `value` at `address`.
    pub(crate) fn write<T: Plain>(&self, address: u64, value: T) {
        // SAFETY: mapped and writable by the contract of `new`.
        unsafe { ptr::write_unaligned(self.host(address).cast::<T>(), value) }
    }

    /// The word at `address`, which others read and write at the same time.
    pub(crate) fn shared(&self, address: u64) -> &AtomicU64 {
        // SAFETY: mapped by the contract of `new`; the runtime aligns what it shares (indices,
        // signals) to 8 bytes.
        unsafe { AtomicU64::from_ptr(self.host(address).cast::<u64>()) }
    }

    /// Copies `bytes` from one address to another; they may overlap.
    pub(crate) fn copy(&self, from: u64, to: u64, bytes: u64) {
        // SAFETY: both ends are mapped, and the second writable, by the contract of `new`.
        unsafe { ptr::copy(self.host(from), self.host(to), bytes as usize) }
    }

    fn host(&self, address: u64) -> *mut u8 {
        let base = match self.aperture.get() {
            Some(&(base, bytes)) if address < bytes => base,
            _ => 0,
        };
        ptr::with_exposed_provenance_mut((base + address) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_within_the_aperture_is_relative_to_its_base() {
        let mut words = [1u64, 2, 3];
        let memory = Memory::of_this_process();
        memory.set_aperture(words.as_mut_ptr().expose_provenance() as u64, 24);
        assert_eq!(memory.read::<u64>(8), 2);
        memory.copy(0, 16, 8);
        assert_eq!(words, [1, 2, 1]);
    }

    #[test]
    fn an_address_belongs_to_the_allocation_around_it_or_to_none() {
        let memory = Memory::of_this_process();
        memory.allocated(4096, 4096);
        assert_eq!(memory.allocation(8191), Some(4096..8192));
        assert_eq!(memory.allocation(8192), None);
        assert_eq!(memory.allocation(1), None);
        memory.freed(4096);
        assert_eq!(memory.allocation(8191), None);
    }
}
