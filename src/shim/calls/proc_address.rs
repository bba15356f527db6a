//! `hipGetProcAddress` and its variants, an interception point within HIP: the address that they
//! return is replaced by a trampoline.
#![allow(unsafe_code)] // reads and replaces the address that the runtime has just stored

use crate::abi::Pointer;
use crate::abi::hip::{CName, hipError_t};
use crate::hook::Intercept;
use crate::hook::entry_points::substitute;
use crate::lifecycle::is_enabled;
use crate::platform::objects;
use crate::table::row::{Hook, InterceptionPoint};
use rocshim_ring::CallGuard;
use std::ffi::{CStr, c_void};

/// A request for the address of a HIP function.
pub(crate) struct ProcAddress {
    pub(crate) symbol: CName,
    /// Where the runtime stores the address.
    pub(crate) function: *mut Pointer,
    /// Finds a row of the hook table by name.
    pub(crate) row: fn(&CStr) -> Option<&'static Hook>,
}

impl Intercept<hipError_t> for ProcAddress {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipError_t) {
        if status != 0
            || self.symbol.is_null()
            || self.function.is_null()
            || !is_enabled(InterceptionPoint::ProcAddress)
        {
            return;
        }
        // SAFETY: `symbol` is not NULL, and the call succeeded, so it is a C string, which the
        // program keeps for the call.
        let symbol = unsafe { CStr::from_ptr(self.symbol) };
        // SAFETY: `function` is not NULL, and the call succeeded, so the address is stored there.
        let address = unsafe { *self.function }.cast_mut();
        if let Some(hook) = self.row_of(symbol, address) {
            // SAFETY: `function` is not NULL and writable, since the runtime has just stored to it;
            // the program reads it after we return.
            unsafe { *self.function = substitute(hook, address, InterceptionPoint::ProcAddress) };
        }
    }
}

impl ProcAddress {
    /// Returns the row of the function at `address`. It may differ from the requested one:
    /// depending on version and flags the runtime returns `hipGetDevicePropertiesR0600` for
    /// `hipGetDeviceProperties`, `hipLaunchKernel_spt` for `hipLaunchKernel`.
    fn row_of(&self, symbol: &CStr, address: *mut c_void) -> Option<&'static Hook> {
        let holder = objects::holder(address)?;
        let name = symbol.to_str().ok()?;
        let requested = (self.row)(symbol);
        if objects::symbol(&holder, name) == Some(address) {
            return requested;
        }
        let table = requested?.table;
        table()
            .into_iter()
            .find(|hook| hook.name.starts_with(name) && objects::symbol(&holder, hook.name) == Some(address))
    }
}
