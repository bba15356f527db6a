//! Device properties, from the results of the program's own queries.
#![allow(unsafe_code)] // reads a structure that the runtime has just filled

use crate::abi::hip::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t};
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use rocshim_ring::CallGuard;
use rocshim_ring::definition::Text;

/// `hipDeviceProp_t` in one of its layouts.
pub(crate) trait Properties {
    /// Returns the marketing name and the target.
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
    /// The structure that the call fills.
    pub(crate) properties: *const P,
    pub(crate) device: i32,
}

impl<P: Properties> Intercept<hipError_t> for DeviceProperties<P> {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status != 0 {
            return;
        }
        // SAFETY: `properties` is NULL or the program's structure, which the call has just filled,
        // because it succeeded.
        let Some(properties) = (unsafe { self.properties.as_ref() }) else { return };
        guarded(|process| {
            let [name, gfx] = properties.names().map(text);
            if gfx.starts_with("gfx") {
                process.define_device(returned, self.device, gfx, name, self.name);
            }
        });
    }
}

/// Returns the text before the first NUL.
fn text(bytes: &[u8]) -> Text<'_> {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
}
