//! A summary of some phases alone: which records of a trace are theirs.
//!
//! A pass has the calls that returned after the pass before it (of its lane) had ended, until it ended itself. What defines names
//! is everybody's. Calls that make no event are counted for the whole process, not by phase: whether they came in a phase is not
//! known, and their functions count as called, how often is not known. A function that makes events, and made none in a
//! phase, was not called there.

use super::in_time::end_of;
use crate::process::{Identity, goes_on_in, hook_of, identity};
use foldhash::HashMap;
use rocshim_trace::{Header, Hook, Record};

/// When a pass was: after `from` and up to `to`, in ns since the process's epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// Its process and its phase, by number.
    pub(super) process: usize,
    pub(super) phase: usize,
    pub(super) from: u64,
    pub(super) to: u64,
    /// When its first launch was entered, in the same ns.
    pub(super) begin: u64,
    /// The columns that most of its products have: the least and the most that there can be.
    pub(super) columns: Option<[u64; 2]>,
}

/// Lets through what belongs to some phases.
#[derive(Clone, Debug, Default)]
pub struct Only {
    /// What the phases are called.
    pub name: String,
    /// By process, in time, none in another.
    windows: HashMap<Identity, Vec<(u64, u64)>>,
    header: Option<Header>,
    here: Vec<(u64, u64)>,
    kernels: HashMap<u32, u16>,
    hooks: HashMap<u16, Hook>,
    /// Events by hook: all, and those that were let through.
    events: HashMap<u16, [u64; 2]>,
    /// Events by thread that were let through.
    threads: HashMap<u32, u64>,
}

impl Only {
    /// Of phases that are called `name`, these windows of processes.
    pub(super) fn new<'a>(name: &str, windows: impl Iterator<Item = (&'a Identity, &'a Window)>) -> Only {
        let mut only = Only { name: name.to_string(), ..Only::default() };
        for (process, window) in windows {
            only.windows.entry(process.clone()).or_default().push((window.from, window.to));
        }
        for windows in only.windows.values_mut() {
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
        only
    }

    /// The record as these phases have it; `None` where it is not theirs.
    pub fn filter(&mut self, mut record: Record) -> Option<Record> {
        match &mut record {
            Record::Header(header) => self.begin(header),
            Record::HookTable(table) => self.hooks.extend(table.hooks().map(|hook| (hook.id, hook))),
            Record::Hook(hook) => drop(self.hooks.insert(hook.id, hook.clone())),
            Record::Kernel(kernel) => self.kernels.extend(kernel.hook.map(|hook| (kernel.id, hook))),
            Record::Thread(account) => {
                account.written = self.threads.get(&account.tid).copied().unwrap_or(0);
                account.produced = account.written + account.lost;
            }
            Record::Footer(footer) => footer.calls.clear(),
            Record::InFlight(_) => return None,
            _ => {
                let Some((thread, end)) = end_of(&record) else { return Some(record) };
                let is_within = self.is_within(end);
                if let Some(hook) = self.hook(&record) {
                    let events = self.events.entry(hook).or_default();
                    events[0] += 1;
                    events[1] += u64::from(is_within);
                }
                if !is_within {
                    return None;
                }
                *self.threads.entry(thread).or_default() += u64::from(record.call().is_some());
            }
        }
        Some(record)
    }

    fn begin(&mut self, header: &Header) {
        if !self.header.as_ref().is_some_and(|known| goes_on_in(known, header)) {
            let (name, windows) = (std::mem::take(&mut self.name), std::mem::take(&mut self.windows));
            let here = windows.get(&identity(header)).cloned().unwrap_or_default();
            *self = Only { name, windows, here, ..Only::default() };
        }
        self.header = Some(header.clone());
    }

    fn is_within(&self, end: u64) -> bool {
        let after = self.here.partition_point(|(from, _)| *from < end);
        after > 0 && end <= self.here[after - 1].1
    }

    fn hook(&self, record: &Record) -> Option<u16> {
        match record {
            Record::Launch(launch) => Some(hook_of(launch, |id| self.kernels.get(&id).copied())),
            _ => Some(record.call()?.hook),
        }
    }

    /// The hooks that made events in the process, and none in these phases, as if nobody had called them.
    pub fn uncalled(&self) -> Vec<Hook> {
        let uncalled =
            |hook: &&Hook| self.events.get(&hook.id).is_some_and(|[all, here]| *all > 0 && *here == 0);
        let hooks = self.hooks.values().filter(uncalled);
        hooks.map(|hook| Hook { state: "armed".into(), library: None, ..hook.clone() }).collect()
    }
}
