//! Tracks the settings of BLAS handles over time.

use crate::history::History;
use foldhash::HashMap;

/// Every setting of every handle.
#[derive(Default)]
pub(crate) struct Settings(HashMap<(u64, u8), History<u64>>);

impl Settings {
    /// `handle` has this setting from `stamp` on; `None`: unknown.
    pub(crate) fn set(&mut self, stamp: u64, handle: u64, setting: u8, value: Option<u64>) {
        self.0.entry((handle, setting)).or_default().set(stamp, value);
    }

    /// `handle` is destroyed at `stamp`.
    pub(crate) fn forget(&mut self, stamp: u64, handle: u64) {
        let own = self.0.iter_mut().filter(|((of, _), _)| *of == handle);
        own.for_each(|(_, history)| history.set(stamp, None));
    }

    /// The setting of `handle` at `stamp`, if known.
    pub(crate) fn at(&self, stamp: u64, handle: u64, setting: u8) -> Option<u64> {
        self.0.get(&(handle, setting))?.at(stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gemm_has_the_settings_of_its_handle_at_the_time() {
        let mut settings = Settings::default();
        settings.set(10, 0xa, 0, Some(7));
        settings.set(30, 0xa, 0, Some(9));
        settings.set(20, 0xa, 0, Some(8)); // defined late
        settings.set(12, 0xb, 0, Some(1));
        settings.forget(40, 0xa);
        let at = |stamp| settings.at(stamp, 0xa, 0);
        assert_eq!([9, 10, 19, 20, 35, 40].map(at), [None, Some(7), Some(7), Some(8), Some(9), None]);
        assert_eq!((settings.at(15, 0xa, 1), settings.at(50, 0xb, 0)), (None, Some(1)));
    }
}
