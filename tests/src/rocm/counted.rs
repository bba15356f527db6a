//! Compares the trace with the device's log: every launch, direct or from a graph, by name, grid
//! and block, with equal counts.

use super::device::{self, Dispatch};
use crate::Trace;
use crate::executed::{Counted, executed};
use std::path::Path;

/// What the device retired.
///
/// # Panics
/// As [`device::dispatches`].
#[track_caller]
pub fn dispatched(log: &Path) -> Counted {
    count(device::dispatches(log))
}

/// What the device retired for one process.
///
/// # Panics
/// As [`device::dispatches`].
#[track_caller]
pub fn dispatched_for(pid: u32, log: &Path) -> Counted {
    count(device::dispatches(log).into_iter().filter(|dispatch| dispatch.pid == pid))
}

fn count(dispatches: impl IntoIterator<Item = Dispatch>) -> Counted {
    let mut counted = Counted::new();
    dispatches.into_iter().for_each(|d| *counted.entry((d.name, d.grid, d.block)).or_default() += 1);
    counted
}

/// Fails unless the trace has exactly the launches that the device retired.
#[track_caller]
pub fn assert_equal(trace: &Trace, log: &Path) -> Counted {
    assert_same(executed(trace), dispatched(log))
}

/// Fails unless both are equal and not empty.
#[track_caller]
pub fn assert_same(ours: Counted, devices: Counted) -> Counted {
    for key in ours.keys().chain(devices.keys()) {
        let counts = [ours.get(key), devices.get(key)].map(|count| count.copied().unwrap_or(0));
        assert_eq!(counts[0], counts[1], "launches in the trace, packets of the device: {key:?}");
    }
    assert!(!ours.is_empty(), "something was launched");
    ours
}

/// Number of launches whose kernel name contains `family`.
pub fn of_family(counted: &Counted, family: &str) -> u64 {
    counted.iter().filter(|((name, ..), _)| name.contains(family)).map(|(_, count)| count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(count: u64) -> Counted {
        Counted::from([(("scale".to_owned(), [64, 1, 1], [32, 1, 1]), count)])
    }

    #[test]
    fn the_same_launches_are_the_same() {
        assert_eq!(of_family(&assert_same(some(2), some(2)), "cal"), 2);
    }

    #[test]
    #[should_panic(expected = "launches in the trace")]
    fn a_launch_that_is_missing_is_seen() {
        assert_same(some(1), some(2));
    }

    #[test]
    #[should_panic(expected = "launches in the trace")]
    fn a_launch_that_the_device_never_had_is_seen() {
        assert_same(some(1), Counted::new());
    }

    #[test]
    #[should_panic(expected = "something was launched")]
    fn two_times_nothing_is_no_proof() {
        assert_same(Counted::new(), Counted::new());
    }
}
