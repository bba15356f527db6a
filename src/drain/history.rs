//! What a handle meant, from when on. Handles are reused, so each has a history; a call is read by what its handles meant
//! when it was made, however late its event is read.

/// The meanings of a handle by the stamps from which they hold; `None`: nothing any more.
pub(crate) struct History<T>(Vec<(u64, Option<T>)>);

impl<T> Default for History<T> {
    fn default() -> Self {
        History(Vec::new())
    }
}

impl<T: Copy> History<T> {
    /// From `stamp` on it means this, until something later is told.
    pub(crate) fn set(&mut self, stamp: u64, meaning: Option<T>) {
        // Definitions of several threads may arrive a little out of order.
        let at = self.0.partition_point(|(from, _)| *from <= stamp);
        self.0.insert(at, (stamp, meaning));
    }

    /// From which stamp on it means what it means now, as far as was told.
    pub(crate) fn since(&self) -> Option<u64> {
        self.0.last().map(|(from, _)| *from)
    }

    /// What it meant at `stamp`.
    pub(crate) fn at(&self, stamp: u64) -> Option<T> {
        let after = self.0.partition_point(|(from, _)| *from <= stamp);
        after.checked_sub(1).and_then(|last| self.0[last].1)
    }
}
