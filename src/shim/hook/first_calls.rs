//! The callers of a call that is the first of its function and of its problem's shape.

use crate::lifecycle::guarded;
use crate::state::shapes::{self, Key};
use rocshim_ring::payload::Payload;
use rocshim_ring::{CallGuard, Producer};

/// Stores a call that is about to be made, as [`Producer::enter`]. Of a call whose problem has a
/// shape that this function was not called with before, also records the callers.
#[inline(always)]
pub(crate) fn enter<P: Payload>(thread: Producer, hook: u16, payload: &P) -> Option<CallGuard> {
    let call = thread.enter(hook, payload);
    if P::SHAPE != 0 && payload.has_shape() {
        let key = Key::new(hook, payload.shape());
        if !shapes::is_known(key) {
            record_callers(call.as_ref(), key);
        }
    }
    call
}

/// Records the callers of a call, unless they are recorded of an earlier one.
#[cold]
#[inline(never)]
fn record_callers(call: Option<&CallGuard>, key: Key) {
    let Some(call) = call.filter(|_| shapes::claim(key)) else { return };
    guarded(|process| process.emit_callers(call));
    // This work is not the program's.
    call.restart();
}
