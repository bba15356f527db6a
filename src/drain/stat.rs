//! Reads `/proc/PID/stat`: a process's parent, state, and start time, which distinguishes it from a
//! later process with the same pid.

use std::os::unix::fs::MetadataExt;
use xxhash_rust::xxh3::xxh3_64;

/// Fields of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// It runs or can run again: it is neither a zombie nor dead.
    pub lives: bool,
    /// It is stopped, by a signal or a debugger.
    pub stopped: bool,
    /// It sleeps until a signal or an event.
    pub sleeps: bool,
    /// Its parent's pid.
    pub ppid: u32,
    /// When it started, in clock ticks since boot.
    pub start_ticks: u64,
}

impl Stat {
    /// Reads process `pid` (a number, or `self`); `None` if there is none.
    pub fn of(pid: impl std::fmt::Display) -> Option<Stat> {
        Stat::parse(&String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/stat")).ok()?))
    }

    /// Returns a number that identifies the calling process's PID namespace on this boot of this
    /// machine: processes with equal numbers see each other by the same pids. 0: unknown.
    pub fn pid_namespace() -> u64 {
        let boot = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = std::fs::metadata("/proc/self/ns/pid").map_or(0, |of| of.ino());
        if boot.is_empty() || namespace == 0 { 0 } else { (xxh3_64(&boot) ^ namespace).max(1) }
    }

    fn parse(text: &str) -> Option<Stat> {
        // The second field is the name in parentheses, which may hold anything; fields are counted
        // after it.
        let mut fields = text.rsplit(')').next()?.split_whitespace();
        let state = fields.next()?;
        let (lives, stopped) = (!["Z", "X"].contains(&state), ["T", "t"].contains(&state));
        Some(Stat {
            lives,
            stopped,
            sleeps: state == "S",
            ppid: fields.next()?.parse().ok()?,
            start_ticks: fields.nth(17)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_the_name_in_parentheses() {
        let text = "7 (a) b (c)) S 3 7 7 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 4711 13 14";
        assert_eq!(
            Stat::parse(text),
            Some(Stat { lives: true, stopped: false, sleeps: true, ppid: 3, start_ticks: 4711 })
        );
        assert_eq!(Stat::parse("7 (a) Z 3"), None);
    }
}
