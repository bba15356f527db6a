//! The shapes of problems that the process has called functions with, so that the callers of the
//! first call of each are recorded.
//!
//! It is a lock-free set of fingerprints of fixed size: a function and a shape by chance taken for
//! another, or one that finds no room, has no callers recorded. Nothing is removed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Slots of the set, a power of two.
const SLOTS: usize = 8192;
/// Probe limit: a fingerprint is stored in one of this many consecutive slots.
const PROBE_LIMIT: usize = 16;
/// A free slot.
const FREE: u64 = 0;

static SHAPES: [AtomicU64; SLOTS] = [const { AtomicU64::new(FREE) }; SLOTS];
static HAS_SOME: AtomicBool = AtomicBool::new(false);

/// A function with a shape.
#[derive(Clone, Copy)]
pub(crate) struct Key(u64);

impl Key {
    /// The key of a function's hook and the fingerprint of a shape.
    #[inline(always)]
    pub(crate) fn new(hook: u16, shape: u64) -> Key {
        Key(shape.wrapping_add((u64::from(hook) + 1) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    #[inline(always)]
    fn slot(self, probe: usize) -> &'static AtomicU64 {
        &SHAPES[((self.0 >> 32) as usize + probe) % SLOTS]
    }
}

/// Returns true for most of what [`claim`] was called with.
#[inline(always)]
pub(crate) fn is_known(key: Key) -> bool {
    // Relaxed: the fingerprint is all that threads exchange.
    key.slot(0).load(Relaxed) == key.0
}

/// Adds a function with a shape. Returns true to the one call that adds it.
pub(crate) fn claim(Key(key): Key) -> bool {
    HAS_SOME.store(true, Relaxed);
    for probe in 0..PROBE_LIMIT {
        let slot = Key(key).slot(probe);
        match slot.compare_exchange(FREE, key, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(other) if other == key => return false,
            Err(_) => {}
        }
    }
    false
}

/// Forgets all of them: a forked child records its own.
pub(crate) fn clear() {
    if HAS_SOME.swap(false, Relaxed) {
        SHAPES.iter().for_each(|slot| slot.store(FREE, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single test, because there is a single set.
    #[test]
    fn a_shape_of_a_function_is_claimed_once_until_the_set_is_full() {
        let keys = || (0..3 * SLOTS as u64).map(|shape| Key::new((shape % 3) as u16, shape / 3));
        let claimed = keys().filter(|key| claim(*key)).count();
        assert!(claimed > SLOTS * 9 / 10 && claimed <= SLOTS, "{claimed}");
        assert_eq!(keys().filter(|key| claim(*key)).count(), 0);
        assert!(keys().any(is_known));
        clear();
        assert!(!keys().any(is_known));
        assert!(claim(Key::new(1, 0)) && is_known(Key::new(1, 0)) && !claim(Key::new(1, 0)));
        assert!(claim(Key::new(2, 0)), "of another function");
    }
}
