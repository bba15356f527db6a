//! The scope of a reading: the part of a trace that counts, such as the passes of some phases.
//!
//! A pass has the calls that returned after the previous pass (of its model stream group) had
//! ended, until its own end. Definitions are in every scope. Setters make no events: they are
//! counted per process, not per phase, because their phase is unknown. A function that makes
//! events, and made none in a phase, was not called there.

use super::process::Identity;
use foldhash::HashMap;

/// Which events count: those that returned within some windows of time.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The name of the phases.
    pub name: String,
    /// By process, in order of time and disjoint: after the first and up to the second, ns since
    /// the process's epoch.
    windows: HashMap<Identity, Vec<(u64, u64)>>,
}

impl Scope {
    /// Creates the scope of the phases named `name` from the windows of their passes, in any order:
    /// after the first and up to the second, ns since the process's epoch.
    pub fn new(name: &str, windows: impl Iterator<Item = (Identity, (u64, u64))>) -> Scope {
        let mut scope = Scope { name: name.to_string(), ..Scope::default() };
        for (process, window) in windows {
            scope.windows.entry(process).or_default().push(window);
        }
        for windows in scope.windows.values_mut() {
            windows.sort_unstable();
            let mut merged: Vec<(u64, u64)> = Vec::new();
            for (from, to) in windows.drain(..) {
                match merged.last_mut().filter(|(_, last)| from <= *last) {
                    Some((_, last)) => *last = to.max(*last),
                    None => merged.push((from, to)),
                }
            }
            *windows = merged;
        }
        scope
    }

    /// Returns the windows of a process.
    pub(super) fn windows(&self, process: &Identity) -> Vec<(u64, u64)> {
        self.windows.get(process).cloned().unwrap_or_default()
    }
}

/// Returns true if `end` is within one of these windows.
pub(super) fn is_within(windows: &[(u64, u64)], end: u64) -> bool {
    let after = windows.partition_point(|(from, _)| *from < end);
    after > 0 && end <= windows[after - 1].1
}
