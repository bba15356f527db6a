//! What the handles of BLAS libraries were set to, by time.

use crate::history::History;
use foldhash::HashMap;

/// Every setting of every handle.
#[derive(Default)]
pub(crate) struct Settings(HashMap<(u64, u8), History<u64>>);

impl Settings {
    /// `handle` has this setting from `stamp` on; `None`: nobody knows.
    pub(crate) fn set(&mut self, stamp: u64, handle: u64, setting: u8, value: Option<u64>) {
        self.0.entry((handle, setting)).or_default().set(stamp, value);
    }

    /// `handle` is gone from `stamp` on.
    pub(crate) fn forget(&mut self, stamp: u64, handle: u64) {
        let own = self.0.iter_mut().filter(|((of, _), _)| *of == handle);
        own.for_each(|(_, history)| history.set(stamp, None));
    }

    /// What `handle` was set to at `stamp`, where that is known.
    pub(crate) fn at(&self, stamp: u64, handle: u64, setting: u8) -> Option<u64> {
        self.0.get(&(handle, setting))?.at(stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_finds_what_its_handle_was_set_to_at_the_time() {
        let mut settings = Settings::default();
        settings.set(10, 0xa, 0, Some(7));
        settings.set(30, 0xa, 0, Some(9));
        settings.set(20, 0xa, 0, Some(8)); // told late
        settings.set(12, 0xb, 0, Some(1));
        settings.forget(40, 0xa);
        let at = |stamp| settings.at(stamp, 0xa, 0);
        assert_eq!([9, 10, 19, 20, 35, 40].map(at), [None, Some(7), Some(7), Some(8), Some(9), None]);
        assert_eq!((settings.at(15, 0xa, 1), settings.at(50, 0xb, 0)), (None, Some(1)));
    }
}
