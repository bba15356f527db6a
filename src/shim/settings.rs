//! What the handles of BLAS libraries were set to, as it was last told: programs set a handle's stream before every
//! product (PyTorch and llama.cpp do), so only changes are told, and of one setting of one handle not for ever.

use parking_lot::Mutex;
use std::collections::HashMap;

/// Handles times settings that are kept; others are not told of.
const MOST: usize = 4096;
/// How often a change of one setting is told; after that it is told to be unknown, and no more.
const CHANGES: u32 = 4096;

struct Told {
    value: u64,
    times: u32,
}

/// The settings of a process's handles.
#[derive(Default)]
pub(crate) struct Settings {
    told: Mutex<HashMap<(u64, u8), Told>>,
}

impl Settings {
    /// What there is to tell of a setting that has just been given `value`: nothing when that is told already, `Some(None)`
    /// when it is not known from now on.
    pub(crate) fn news(&self, handle: u64, setting: u8, value: u64) -> Option<Option<u64>> {
        let mut told = self.told.lock();
        if told.len() >= MOST && !told.contains_key(&(handle, setting)) {
            return None;
        }
        let last = told.entry((handle, setting)).or_insert(Told { value, times: 0 });
        if last.times > CHANGES || last.times != 0 && last.value == value {
            return None;
        }
        *last = Told { value, times: last.times + 1 };
        Some((last.times <= CHANGES).then_some(value))
    }

    /// A handle is gone: another one may be given its address.
    pub(crate) fn forget(&self, handle: u64) {
        self.told.lock().retain(|(of, _), _| *of != handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_told_and_not_for_ever() {
        let settings = Settings::default();
        assert_eq!(settings.news(1, 0, 7), Some(Some(7)));
        assert_eq!(settings.news(1, 0, 7), None);
        assert_eq!(settings.news(1, 1, 7), Some(Some(7)), "another setting");
        assert_eq!(settings.news(2, 0, 7), Some(Some(7)), "another handle");
        let told: Vec<_> = (0..2 * CHANGES as u64).filter_map(|i| settings.news(1, 0, i % 2)).collect();
        assert_eq!(told.len(), CHANGES as usize);
        assert_eq!(told.last(), Some(&None), "after that it is unknown");
        settings.forget(1);
        assert_eq!(settings.news(1, 0, 1), Some(Some(1)), "a new handle at the same address");
    }
}
