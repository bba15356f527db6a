//! Somebody registers for the reports of the HIP runtime: whoever it is gets them through us, where we are registered too.

use crate::abi::Pointer;
use crate::hook::{Observed, tracer};
use rocshim_ring::CallGuard;
use std::ffi::c_void;

/// `hipRegisterTracerCallback`.
pub(crate) struct RegisterTracer(pub(crate) Pointer);

impl Observed<()> for RegisterTracer {
    const SILENT: bool = true;

    fn called(&self, real: *mut c_void) {
        tracer::registered(real, self.0);
    }

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _answer: ()) {}
}
