//! The device: its memory, its queues and the way back to the runtime.
#![allow(unsafe_code)] // Memory's contract is taken on here

use crate::calm;
use crate::memory::Memory;
use crate::queue::{Kind, Place, Queue, SetEvent};
use crate::{aql, sdma};
use std::sync::OnceLock;

/// A device. It lives as long as the process, because the runtime's threads may outlive its last
/// words.
pub(crate) struct Device {
    pub(crate) memory: Memory,
    set_event: OnceLock<Box<SetEvent>>,
}

impl Device {
    /// A device without memory, queues or events yet.
    pub(crate) fn new() -> Device {
        calm::note_threads();
        // SAFETY: the model interface's promise: ROCr maps into the aperture whatever it hands to
        // the device's queues.
        Device { memory: unsafe { Memory::new() }, set_event: OnceLock::new() }
    }

    /// Says how the device sets an event of the runtime. A second call changes nothing.
    pub(crate) fn set_set_event(&self, set: Box<SetEvent>) {
        let _ = self.set_event.set(set);
    }

    /// Starts a queue.
    pub(crate) fn start_queue(&'static self, kind: Kind, place: Place) -> Queue {
        calm::calm();
        let work = match kind {
            Kind::Aql => aql::work,
            Kind::Sdma => sdma::work,
        };
        let set_event = self.set_event.get_or_init(|| Box::new(|_| ()));
        Queue::start(kind, place, &self.memory, &**set_event, work)
    }
}
