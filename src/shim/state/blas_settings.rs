//! Settings of BLAS handles as last emitted, so that only changes become definitions.
//!
//! Programs set a handle's stream before every GEMM (PyTorch and llama.cpp do). The number of
//! definitions of one setting of one handle is bounded.

use crate::state::address_map::AddressMap;
use rocshim_ring::definition::SETTINGS;
use std::sync::atomic::Ordering::Relaxed;

/// Definitions of one setting; after that many it is emitted once more, as unknown.
const MAX_DEFINITIONS: u64 = 4096;
/// Words of a handle: for each setting the value last emitted and the number of definitions.
const WORDS: usize = 2 * SETTINGS.len();

/// The settings of a process's handles.
#[derive(Default)]
pub(crate) struct BlasSettings(AddressMap<WORDS>);

impl BlasSettings {
    /// Returns what to emit after a setting was given `value`: `None` when the value is emitted
    /// already, `Some(None)` when the setting is to be marked as unknown.
    pub(crate) fn change(&self, handle: u64, setting: u8, value: u64) -> Option<Option<u64>> {
        let words = self.0.find(handle).or_else(|| self.0.put(handle, [0; WORDS]))?;
        let (emitted, count) = (&words[2 * setting as usize], &words[2 * setting as usize + 1]);
        // Relaxed, here and below: only the thread that uses the handle reads and writes its words.
        let before = count.load(Relaxed);
        if before > MAX_DEFINITIONS || before != 0 && emitted.load(Relaxed) == value {
            return None;
        }
        emitted.store(value, Relaxed);
        count.store(before + 1, Relaxed);
        Some((before < MAX_DEFINITIONS).then_some(value))
    }

    /// Removes a handle that is destroyed: another may be given its address.
    pub(crate) fn remove(&self, handle: u64) {
        self.0.remove(handle);
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limited_number_of_changes_is_emitted() {
        let settings = BlasSettings::default();
        assert_eq!(settings.change(0x10, 0, 7), Some(Some(7)));
        assert_eq!(settings.change(0x10, 0, 7), None);
        assert_eq!(settings.change(0x10, 1, 7), Some(Some(7)), "another setting");
        assert_eq!(settings.change(0x20, 0, 7), Some(Some(7)), "another handle");
        let emitted: Vec<_> =
            (0..2 * MAX_DEFINITIONS).filter_map(|i| settings.change(0x10, 0, i % 2)).collect();
        assert_eq!(emitted.len(), MAX_DEFINITIONS as usize);
        assert_eq!(emitted.last(), Some(&None), "after that it is unknown");
        settings.remove(0x10);
        assert_eq!(settings.change(0x10, 0, 1), Some(Some(1)), "a new handle at the same address");
    }
}
