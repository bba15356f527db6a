//! Calls of running processes as they arrive: timeline rows, filtered.

use super::{
    Summary,
    session::Session,
    tracks::{Cell, TrackProcess, TrackRow, Tracks},
};
use rocshim_reader::{End, Reading, Watcher};
use rocshim_trace::{Record, fits};
use std::{collections::BTreeMap, path::Path};

/// A filter of rows: selects those that match one pattern of each list that is not empty.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Patterns of kernels' symbols or demangled names.
    pub kernels: Patterns,
    /// Patterns of families, or of their owners.
    pub families: Patterns,
    /// Patterns of the libraries whose functions are called.
    pub libraries: Patterns,
    /// Patterns of executables' names; a number is a process id.
    pub processes: Patterns,
}

/// Patterns of names, in lower case: case-insensitive. With `*` a pattern matches the whole name,
/// without it a part.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<String>);

impl Patterns {
    /// Creates patterns from the user's words.
    pub fn new(patterns: &[String]) -> Patterns {
        Patterns(patterns.iter().map(|pattern| pattern.to_lowercase()).collect())
    }

    /// Returns true if a pattern matches one of the names, or there is no pattern.
    fn fit<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        let fits_one = |name: &str| {
            let name = name.to_lowercase();
            self.0.iter().any(|pattern| is_like(pattern, &name))
        };
        self.0.is_empty() || names.into_iter().any(fits_one)
    }

    /// Same for a process, which a number selects by its id.
    fn fit_process(&self, process: &TrackProcess) -> bool {
        let name = process.name().to_lowercase();
        let fits_it = |pattern: &String| match pattern.parse::<u32>() {
            Ok(pid) => process.pid == pid,
            Err(_) => is_like(pattern, &name),
        };
        self.0.is_empty() || self.0.iter().any(fits_it)
    }
}

impl Summary {
    /// Keeps only kernels, and families, that match a pattern.
    pub fn keep_kernels(&mut self, kernel: &Patterns, family: &Patterns) {
        let fits = |name: &str, demangled: Option<&str>| {
            let of = rocshim_trace::family(name, demangled);
            kernel.fit([name].into_iter().chain(demangled))
                && family.fit(of.iter().flat_map(|of| [of.name, of.of]))
        };
        self.kernels.retain(|row| fits(&row.name, row.demangled.as_deref()));
        self.columns.retain(|row| fits(&row.kernel, row.demangled.as_deref()));
        if let Some(gpu) = &mut self.gpu {
            gpu.kernels.retain(|row| fits(&row.kernel, None));
        }
        self.families.retain(|row| family.fit(row.family.into_iter().chain(row.of)));
    }
}

/// Both in lower case.
fn is_like(pattern: &str, name: &str) -> bool {
    if pattern.contains('*') { fits(pattern, name) } else { name.contains(pattern) }
}

impl Wanted {
    /// Returns true for a selected row. Rows about losses and pauses are always selected, because
    /// they may stand for selected calls.
    fn takes(&self, row: &TrackRow, process: &TrackProcess) -> bool {
        let has = |columns: &[&str], patterns: &Patterns| {
            let words = columns.iter().filter_map(|column| match row.cell(column) {
                Some(Cell::Word(word)) => Some(word.as_str()),
                _ => None,
            });
            patterns.fit(words)
        };
        self.processes.fit_process(process)
            && (row.table.is_about_what_is_missing()
                || has(&["kernel", "demangled"], &self.kernels)
                    && has(&["family", "family_of"], &self.families)
                    && has(&["library"], &self.libraries))
    }
}

/// A change of a followed trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceChange {
    /// The trace exists and continues.
    Begun,
    /// Nothing more will come.
    Ended(End),
    /// It has no end, and its process is not visible here.
    Silent,
}

/// Receives the records of followed traces.
pub struct Tail {
    wanted: Wanted,
    /// Number of rows to keep of the records that exist at first.
    last: usize,
    /// True when a command reads launches' arguments.
    has_arguments: bool,
    traces: BTreeMap<usize, Followed>,
    rows: Vec<(usize, TrackRow)>,
    changes: Vec<(usize, TraceChange)>,
}

struct Followed {
    path: String,
    session: Session,
    tracks: Tracks,
    is_open: bool,
}

/// Rows are sorted and dropped when this many more than needed are kept.
const SPARE: usize = 4096;

impl Tail {
    /// Keeps the last `last` requested rows of the records that exist at first.
    pub fn new(wanted: Wanted, last: usize, has_arguments: bool) -> Tail {
        Tail { wanted, last, has_arguments, traces: BTreeMap::new(), rows: Vec::new(), changes: Vec::new() }
    }

    /// Called when the existing records were read: from then on every row is kept until it is
    /// taken, and every change of a trace is reported.
    pub fn has_caught_up(&mut self) {
        self.keep_last();
        self.last = usize::MAX;
        self.changes.clear();
        let open = self.traces.iter().filter(|(_, trace)| trace.is_open);
        self.changes.extend(open.map(|(number, _)| (*number, TraceChange::Begun)));
    }

    /// Returns the rows since the last call, in the order in which they began.
    pub fn take_rows(&mut self) -> Vec<(usize, TrackRow)> {
        self.rows.sort_by_key(|(_, row)| row.begin);
        std::mem::take(&mut self.rows)
    }

    /// Returns the changes of traces since the last call.
    pub fn take_changes(&mut self) -> Vec<(usize, TraceChange)> {
        std::mem::take(&mut self.changes)
    }

    /// Returns the process of a trace's rows, and the trace's path; `None` before its header was
    /// read.
    pub fn process(&self, trace: usize) -> Option<(&TrackProcess, &str)> {
        let trace = self.traces.get(&trace)?;
        Some((trace.tracks.processes().first()?, &trace.path))
    }

    fn collect(&mut self, trace: usize) {
        let Some(followed) = self.traces.get_mut(&trace) else { return };
        let rows = followed.tracks.take_rows();
        let Some(process) = followed.tracks.processes().first() else { return };
        let wanted = rows.into_iter().filter(|row| self.wanted.takes(row, process));
        self.rows.extend(wanted.map(|row| (trace, row)));
        if self.rows.len() > self.last.saturating_add(SPARE) {
            self.keep_last();
        }
    }

    fn keep_last(&mut self) {
        self.rows.sort_by_key(|(_, row)| row.begin);
        self.rows.drain(..self.rows.len().saturating_sub(self.last));
    }
}

impl Watcher for Tail {
    fn begin(&mut self, trace: usize, path: &Path) {
        let path = path.display().to_string();
        let (session, tracks) = (Session::default(), Tracks::default());
        self.traces.insert(trace, Followed { path, session, tracks, is_open: true });
        self.changes.push((trace, TraceChange::Begun));
    }

    fn take(&mut self, trace: usize, record: Record) {
        if let Some(followed) = self.traces.get_mut(&trace) {
            followed.session.visit(&record, &mut [&mut followed.tracks]);
            self.collect(trace);
        }
    }

    fn end(&mut self, trace: usize, reading: Reading) {
        let Some(followed) = self.traces.get_mut(&trace) else { return };
        followed.session.end_file(&reading, &mut [&mut followed.tracks]);
        if reading.end != End::Rotated {
            followed.is_open = false;
            self.changes.push((trace, TraceChange::Ended(reading.end)));
        }
        self.collect(trace);
    }

    fn silent(&mut self, trace: usize, is_silent: bool) {
        if let Some(followed) = self.traces.get_mut(&trace) {
            followed.is_open = !is_silent;
            self.changes.push((trace, if is_silent { TraceChange::Silent } else { TraceChange::Begun }));
        }
    }

    fn wants_arguments(&self, _trace: usize, _kernel: Option<u32>) -> bool {
        self.has_arguments
    }
}

#[cfg(test)]
mod tests;
