//! What the process emits about its device code: fat binaries, devices, and kernels at their first
//! launch.

use super::Process;
use crate::platform::signals::lock;
use rocshim_ring::CallGuard;
use rocshim_ring::arguments::Layout;
use rocshim_ring::definition::{Definition, StampedDefinition, Text};

impl Process {
    /// Emits a fat binary: its file, its offset there, and its ordinal among the file's.
    pub(crate) fn define_fat_binary(&self, stamp: u64, handle: u64, address: u64) {
        let mut kernels = lock(&self.kernels);
        let (path, offset, ordinal) = kernels.place_of(address);
        let path = path.into();
        self.emit(&mut kernels, stamp, Definition::FatBinary { handle, path, offset, ordinal, address });
    }

    /// Emits a device, once.
    pub(crate) fn define_device(&self, stamp: u64, ordinal: i32, gfx: Text, name: Text, how: &'static str) {
        let mut kernels = lock(&self.kernels);
        if kernels.is_new_device(ordinal, &gfx) {
            self.emit(&mut kernels, stamp, Definition::Device { ordinal, gfx, name, how: how.into() });
        }
    }

    /// Returns the argument layout of `function`, which the calling thread is about to launch for
    /// the first time. Emits what its code object states about it, and its callers.
    pub(crate) fn layout_of(&self, function: u64) -> &'static Layout {
        let mut kernels = lock(&self.kernels);
        kernels.emit_callers(&self.log, function, self.config.callers, &mut self.appender());
        kernels.look_up(&self.log, function, self.config.args, &mut self.appender())
    }

    /// Emits the callers of a call that the calling thread is about to make.
    pub(crate) fn emit_callers(&self, call: &CallGuard) {
        let mut kernels = lock(&self.kernels);
        let (stamp, limit) = (call.entered(), self.config.callers);
        kernels.emit_call_callers(stamp, call.id(), limit, &mut self.appender());
    }

    /// Appends definitions that the registry need not follow.
    pub(super) fn appender(&self) -> impl FnMut(u64, Definition) -> Option<u32> {
        |stamp, definition| Some(self.log.define(&StampedDefinition { stamp, definition }).ok()?.0)
    }
}
