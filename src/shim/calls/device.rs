//! Devices, by what the runtime answers to the program's own questions.
#![allow(unsafe_code)] // reads a structure that the runtime has just filled

use crate::abi::Pointer;
use crate::abi::hip::{DEVICE_NAME_BYTES, hipError_t};
use crate::hook::Observed;
use crate::lifecycle::guarded;
use rocshim_ring::Span;
use rocshim_ring::definition::Text;

/// `hipGetDeviceProperties` in one of its layouts.
pub(crate) struct DeviceProperties {
    /// The function's name.
    pub(crate) name: &'static str,
    /// The structure that it fills; it begins with the name that the device is sold as.
    pub(crate) properties: Pointer,
    pub(crate) device: i32,
    /// Where the target's name lies in it.
    pub(crate) gfx_at: usize,
}

impl Observed<hipError_t> for DeviceProperties {
    const SILENT: bool = true;

    fn finish(self, _span: Option<Span>, returned: u64, status: hipError_t) {
        if status != 0 || self.properties.is_null() {
            return;
        }
        guarded(|process| {
            let text = |at: usize| {
                let from = self.properties.cast::<u8>().wrapping_add(at);
                // SAFETY: the call succeeded, so the structure was filled, in which `DEVICE_NAME_BYTES` lie here.
                text(unsafe { std::slice::from_raw_parts(from, DEVICE_NAME_BYTES) })
            };
            let (name, gfx) = (text(0), text(self.gfx_at));
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
