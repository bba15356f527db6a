//! A row of the hook table: a function's name, its library, and the real function behind it.
#![allow(unsafe_code)] // a raw address in a static

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::Relaxed};

/// Every row, in the order of their ids.
pub(crate) type Table = Vec<&'static Hook>;

/// A row of the hook table.
pub(crate) struct Hook {
    /// Its place in the whole table, from 0.
    pub(crate) id: u16,
    /// The symbol, exported under this name.
    pub(crate) name: &'static str,
    /// The library that has the real function: `libamdhip64.so`.
    pub(crate) of: &'static str,
    /// The whole table, for whoever has but this row.
    pub(crate) table: fn() -> Table,
    /// The shim's own function.
    own: OwnAddress,
    /// The real function; NULL until it was found, then never changed.
    real: AtomicPtr<c_void>,
    /// Calls of a hook that makes no event.
    calls: AtomicU64,
    /// It was told that no library has the real function.
    told_missing: AtomicBool,
}

/// An address of this library's code, compared and never followed.
struct OwnAddress(*const c_void);

// SAFETY: the address is only compared.
unsafe impl Sync for OwnAddress {}

impl Hook {
    pub(crate) const fn new(
        id: u16,
        name: &'static str,
        of: &'static str,
        own: *const c_void,
        table: fn() -> Table,
    ) -> Hook {
        let (real, calls) = (AtomicPtr::new(std::ptr::null_mut()), AtomicU64::new(0));
        let told_missing = AtomicBool::new(false);
        Hook { id, name, of, table, own: OwnAddress(own), real, calls, told_missing }
    }

    /// The shim's own function of this name.
    pub(crate) fn own(&self) -> *const c_void {
        self.own.0
    }

    /// The real function, or NULL.
    #[inline(always)]
    pub(crate) fn real(&self) -> *mut c_void {
        // Relaxed: the address is the same whoever stores it, and code needs no publishing.
        self.real.load(Relaxed)
    }

    /// Stores the real function; true for the first who does.
    pub(crate) fn bind(&self, real: *mut c_void) -> bool {
        self.real.compare_exchange(std::ptr::null_mut(), real, Relaxed, Relaxed).is_ok()
    }

    /// True the first time: the real function is missing, and that is worth telling.
    pub(crate) fn is_newly_missing(&self) -> bool {
        !self.told_missing.swap(true, Relaxed)
    }

    /// Begins to count anew: in the child of a fork.
    pub(crate) fn reset(&self) {
        self.calls.store(0, Relaxed);
        self.told_missing.store(false, Relaxed);
    }

    /// Counts a call that makes no event.
    pub(crate) fn count(&self) {
        // Relaxed: a count, ordered with nothing.
        self.calls.fetch_add(1, Relaxed);
    }

    /// Calls seen, for a hook that makes no event.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }
}
