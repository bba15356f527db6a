//! Assigns overlapping things to tracks: each gets the first free one.

use super::row::{Track, TrackKind};
use foldhash::HashMap;

#[derive(Default)]
pub(super) struct Slots {
    /// When the last thing on each track ends.
    ends: HashMap<(TrackKind, Option<u32>), Vec<u64>>,
}

impl Slots {
    /// The track of something that lasts from `begin` for `dur`: it begins when everything that was
    /// put on that track has ended.
    pub(super) fn track(&mut self, what: TrackKind, of: Option<u32>, begin: u64, dur: Option<u64>) -> Track {
        let ends = self.ends.entry((what, of)).or_default();
        let end = dur.map_or(u64::MAX, |dur| begin.saturating_add(dur));
        let slot = ends.iter().position(|last| *last <= begin).unwrap_or(ends.len());
        match ends.get_mut(slot) {
            Some(last) => *last = end,
            None => ends.push(end),
        }
        Track::Other { what, of, slot: slot as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_put_on_another_track() {
        let mut slots = Slots::default();
        let found = [(0, Some(10)), (5, Some(10)), (10, Some(1)), (11, None), (20, Some(1)), (30, Some(1))]
            .map(|(begin, dur)| match slots.track(TrackKind::Losses, Some(1), begin, dur) {
                Track::Other { slot, .. } => slot,
                Track::Thread(_) => unreachable!("it is beside"),
            });
        assert_eq!(found, [0, 1, 0, 0, 1, 1]);
    }
}
