//! What the handles of BLAS libraries were set to, as it was last told: programs set a handle's stream before every
//! product (PyTorch and llama.cpp do), so only changes are told, and of one setting of one handle not for ever.

use crate::state::address_map::Slots;
use rocshim_ring::definition::SETTINGS;
use std::sync::atomic::Ordering::Relaxed;

/// How often a change of one setting is told; after that it is told to be unknown, and no more.
const CHANGES: u64 = 4096;
/// Of each setting of a handle: the value that was told, and how often one was told.
const WORDS: usize = 2 * SETTINGS.len();

/// The settings of a process's handles.
#[derive(Default)]
pub(crate) struct Settings(Slots<WORDS>);

impl Settings {
    /// What there is to tell of a setting that has just been given `value`: nothing when that is told already, `Some(None)`
    /// when it is not known from now on.
    pub(crate) fn news(&self, handle: u64, setting: u8, value: u64) -> Option<Option<u64>> {
        let words = self.0.find(handle).or_else(|| self.0.put(handle, [0; WORDS]))?;
        let (told, times) = (&words[2 * setting as usize], &words[2 * setting as usize + 1]);
        // Relaxed, here and below: only the thread that uses the handle comes here.
        let before = times.load(Relaxed);
        if before > CHANGES || before != 0 && told.load(Relaxed) == value {
            return None;
        }
        told.store(value, Relaxed);
        times.store(before + 1, Relaxed);
        Some((before < CHANGES).then_some(value))
    }

    /// A handle is gone: another one may be given its address.
    pub(crate) fn forget(&self, handle: u64) {
        self.0.remove(handle);
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_told_and_not_for_ever() {
        let settings = Settings::default();
        assert_eq!(settings.news(0x10, 0, 7), Some(Some(7)));
        assert_eq!(settings.news(0x10, 0, 7), None);
        assert_eq!(settings.news(0x10, 1, 7), Some(Some(7)), "another setting");
        assert_eq!(settings.news(0x20, 0, 7), Some(Some(7)), "another handle");
        let told: Vec<_> = (0..2 * CHANGES).filter_map(|i| settings.news(0x10, 0, i % 2)).collect();
        assert_eq!(told.len(), CHANGES as usize);
        assert_eq!(told.last(), Some(&None), "after that it is unknown");
        settings.forget(0x10);
        assert_eq!(settings.news(0x10, 0, 1), Some(Some(1)), "a new handle at the same address");
    }
}
