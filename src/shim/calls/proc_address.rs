//! `hipGetProcAddress` and its kin: an interception point within HIP. What they give out leads to us.
#![allow(unsafe_code)] // reads and replaces the address that the runtime has just stored

use crate::abi::Pointer;
use crate::abi::hip::{CName, hipError_t};
use crate::hook::Observed;
use crate::hook::entry_points::offer;
use crate::lifecycle::is_open;
use crate::platform::objects;
use crate::table::row::{Hook, InterceptionPoint};
use rocshim_ring::CallGuard;
use std::ffi::{CStr, c_void};

/// A request for the address of a HIP function.
pub(crate) struct ProcAddress {
    pub(crate) symbol: CName,
    /// Where the runtime stores the address.
    pub(crate) function: *mut Pointer,
    /// The hook table.
    pub(crate) row: fn(&CStr) -> Option<&'static Hook>,
}

impl Observed<hipError_t> for ProcAddress {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipError_t) {
        if status != 0
            || self.symbol.is_null()
            || self.function.is_null()
            || !is_open(InterceptionPoint::ProcAddress)
        {
            return;
        }
        // SAFETY: the call succeeded, so the name was a C string.
        let symbol = unsafe { CStr::from_ptr(self.symbol) };
        // SAFETY: the call succeeded, so the address was stored there.
        let address = unsafe { *self.function }.cast_mut();
        if let Some(hook) = self.row_of(symbol, address) {
            // SAFETY: as above; the program reads it when we return.
            unsafe { *self.function = offer(hook, address, InterceptionPoint::ProcAddress) };
        }
    }
}

impl ProcAddress {
    /// The row of the function that lies at `address`. It is not always the one that was asked for: by version and flags
    /// the runtime gives `hipGetDevicePropertiesR0600` for `hipGetDeviceProperties`, `hipLaunchKernel_spt` for
    /// `hipLaunchKernel`.
    fn row_of(&self, symbol: &CStr, address: *mut c_void) -> Option<&'static Hook> {
        let holder = objects::holder(address)?;
        let name = symbol.to_str().ok()?;
        let asked = (self.row)(symbol);
        if objects::symbol(&holder, name) == Some(address) {
            return asked;
        }
        let table = asked?.table;
        table()
            .into_iter()
            .find(|hook| hook.name.starts_with(name) && objects::symbol(&holder, hook.name) == Some(address))
    }
}
