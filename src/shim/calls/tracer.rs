//! Registration of another tool's HIP tracer callback: it receives reports through ours, where ours
//! is registered.

use crate::abi::Pointer;
use crate::hook::{Intercept, tracer};
use rocshim_ring::CallGuard;
use std::ffi::c_void;

/// `hipRegisterTracerCallback`.
pub(crate) struct RegisterTracer(pub(crate) Pointer);

impl Intercept<()> for RegisterTracer {
    const STATE_ONLY: bool = true;

    fn called(&self, real: *mut c_void) {
        tracer::registered(real, self.0);
    }

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _answer: ()) {}
}
