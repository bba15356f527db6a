//! Devices, by what the runtime answers to the program's own questions.
#![allow(unsafe_code)] // reads a structure that the runtime has just filled

use crate::abi::hip::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t};
use crate::hook::Observed;
use crate::lifecycle::guarded;
use rocshim_ring::CallGuard;
use rocshim_ring::definition::Text;

/// `hipDeviceProp_t` in one of its layouts.
pub(crate) trait Properties {
    /// What the device is sold as, and its target.
    fn names(&self) -> [&[u8]; 2];
}

impl Properties for hipDeviceProp_tR0000 {
    fn names(&self) -> [&[u8]; 2] {
        [&self.name, &self.gcnArchName]
    }
}

impl Properties for hipDeviceProp_tR0600 {
    fn names(&self) -> [&[u8]; 2] {
        [&self.name, &self.gcnArchName]
    }
}

/// `hipGetDeviceProperties` in one of its layouts.
pub(crate) struct DeviceProperties<P> {
    /// The function's name.
    pub(crate) name: &'static str,
    /// The structure that it fills.
    pub(crate) properties: *const P,
    pub(crate) device: i32,
}

impl<P: Properties> Observed<hipError_t> for DeviceProperties<P> {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status != 0 {
            return;
        }
        // SAFETY: the call succeeded, so it has just filled the program's structure.
        let Some(properties) = (unsafe { self.properties.as_ref() }) else { return };
        guarded(|process| {
            let [name, gfx] = properties.names().map(text);
            if gfx.starts_with("gfx") {
                process.define_device(returned, self.device, gfx, name, self.name);
            }
        });
    }
}

/// What stands before the first NUL.
fn text(bytes: &[u8]) -> Text<'_> {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
}
