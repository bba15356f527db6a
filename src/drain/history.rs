//! The meanings of a handle over time. Handles are reused, so an event is decoded by what its
//! handles meant at the time of the call, however late it is read.

/// The meanings of a handle by the stamps from which they hold; `None`: no meaning.
pub(crate) struct History<T>(Vec<(u64, Option<T>)>);

impl<T> Default for History<T> {
    fn default() -> Self {
        History(Vec::new())
    }
}

impl<T: Copy> History<T> {
    /// Sets the meaning from `stamp` on, until a later one.
    pub(crate) fn set(&mut self, stamp: u64, meaning: Option<T>) {
        // Definitions of several threads may arrive slightly out of order.
        let at = self.0.partition_point(|(from, _)| *from <= stamp);
        self.0.insert(at, (stamp, meaning));
    }

    /// The stamp from which the current meaning holds.
    pub(crate) fn since(&self) -> Option<u64> {
        self.0.last().map(|(from, _)| *from)
    }

    /// The meaning at `stamp`.
    pub(crate) fn at(&self, stamp: u64) -> Option<T> {
        let after = self.0.partition_point(|(from, _)| *from <= stamp);
        after.checked_sub(1).and_then(|last| self.0[last].1)
    }
}
