//! Called or not called, and how sure that is.
//!
//! The rule for "no call was seen": it is confirmed absent where the library was in no process, or where it was there
//! and its hooks stood in every way by which it can be called. It is limited where some way was open (an object that was
//! opened with RTLD_DEEPBIND passes the exported hooks by), where events were lost, or where recording was stopped for a while. It is unresolved where the real
//! function could not be found.

use super::evidence::Evidence;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A hooked function, over all processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FunctionRow {
    /// The symbol.
    pub function: String,
    /// Its ROCm library, without version.
    pub library: String,
    /// The ways in, each with the calls that came through it.
    pub doors: BTreeMap<String, u64>,
    /// `armed` (never called), `bound` (called, and the real function was found), `unbound` (not found) or `off` (left out).
    pub state: String,
    /// The files that hold the real function.
    pub bound_to: BTreeSet<String>,
    /// Why it is unbound or off.
    pub why: BTreeSet<String>,
    /// Calls seen.
    pub calls: u64,
    /// Those of them that made no events.
    #[serde(skip)]
    pub(super) silent: u64,
    /// Processes in which it was called, but how often is not known (they were killed, still run, or were not recording for a
    /// while).
    pub uncounted: u64,
}

impl FunctionRow {
    /// It was called, whether or not the calls were counted.
    pub(super) fn was_called(&self) -> bool {
        self.calls > 0 || self.uncounted > 0
    }
}

/// In how many processes a library could have been called, and in how many of them that could have been missed.
#[derive(Clone, Default)]
pub(super) struct Circumstances {
    /// All that hooked it.
    pub(super) processes: u64,
    /// Those that had it loaded.
    pub(super) loaded_in: u64,
    /// Those of which events were lost.
    pub(super) lossy: u64,
    /// Those that still run.
    pub(super) running: u64,
    /// Why calls may be missing in those that had it loaded, though they are not counted as lost.
    pub(super) unrecorded: Option<String>,
    /// How a call could have passed the hooks by, in those that had it loaded.
    pub(super) open_way: Option<String>,
}

/// The class of "called" or "not called", with its reason.
pub(super) fn judge(functions: &[&FunctionRow], stats: &Circumstances) -> (Evidence, String) {
    let unbound: Vec<&str> =
        functions.iter().filter(|row| row.state == "unbound").map(|row| row.function.as_str()).collect();
    let called = functions.iter().filter(|row| row.was_called()).count();
    if called > unbound.len() {
        let mut why = format!("{called} of {} hooked functions called", functions.len());
        if !unbound.is_empty() {
            why.push_str(&format!("; the real one was not found of {}", unbound.join(", ")));
        }
        let off = functions.iter().filter(|row| row.state == "off").count();
        if off != 0 {
            why.push_str(&format!("; {off} are left out by ROCSHIM_RECORD"));
        }
        if let Some(unrecorded) = &stats.unrecorded {
            why.push_str(&format!("; {unrecorded}"));
        }
        return (Evidence::Confirmed, why);
    }
    if !unbound.is_empty() {
        return (
            Evidence::Unresolved,
            format!("called, but the real one was not found: {}", unbound.join(", ")),
        );
    }
    let so_far = if stats.running > 0 { " so far" } else { "" };
    if stats.loaded_in == 0 {
        return (Evidence::ConfirmedAbsent, format!("not loaded in {}{so_far}", processes(stats.processes)));
    }
    let loaded = format!("loaded in {}, no call seen{so_far}", of(stats.loaded_in, stats.processes));
    if stats.lossy > 0 {
        return (Evidence::Limited, format!("{loaded}; lost events may have been calls of it"));
    }
    if let Some(unrecorded) = &stats.unrecorded {
        return (Evidence::Limited, format!("{loaded}; {unrecorded}"));
    }
    if let Some(open_way) = &stats.open_way {
        return (Evidence::Limited, format!("{loaded}; {open_way}"));
    }
    (Evidence::ConfirmedAbsent, loaded)
}

fn processes(number: u64) -> String {
    if number == 1 { "the process".into() } else { format!("any of the {number} processes") }
}

fn of(some: u64, all: u64) -> String {
    match (some, all) {
        (1, 1) => "the process".into(),
        (some, all) if some == all => format!("all {all} processes"),
        (some, all) => format!("{some} of {all} processes"),
    }
}
