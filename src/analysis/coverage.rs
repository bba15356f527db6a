//! Hook coverage: whether each function and each library was called, and what the absence of calls
//! means.

use super::{
    evidence::Evidence,
    session::{FunctionId, HookUse, VisibilityGaps},
    solution_index::Numbering,
    table::Cell,
    units,
    verdict::{Circumstances, FunctionRow, HANDLES, judge},
};
use rocshim_trace::{Library, SHIM_LIBRARY, is_library};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A library, over all processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LibraryRow {
    /// Its name without version.
    pub library: String,
    /// Its files, in the processes that had it.
    pub paths: BTreeSet<String>,
    /// Number of processes in which it was found.
    pub loaded_in: u64,
    /// Number of all processes.
    pub processes: u64,
    /// Hooked functions.
    pub functions: u64,
    /// Number of these that were called.
    pub functions_called: u64,
    /// Calls seen.
    pub calls: u64,
    /// Whether it was called, and how sure that is.
    pub evidence: Evidence,
    /// The reason, in words.
    pub why: String,
    /// How a call of it could have bypassed the hooks in a process that had it loaded.
    pub(crate) open_way: Option<String>,
    /// True if functions of it that make no events were called, or may have been.
    #[serde(skip)]
    pub(crate) has_silent_calls: bool,
    /// True if a call of it may have been missed in a process that had it loaded.
    #[serde(skip)]
    pub(crate) may_miss: bool,
}

crate::table! {
    /// The hooked libraries: whether each was called.
    LIBRARIES: LibraryRow = "libraries", "Was it called?", "a library whose functions are hooked";
    |row|
    code("library", "library", "its name without version").name()
        => row.library.trim_end_matches(".so");
    count("calls", "calls", "calls seen") => row.calls;
    count("functions_called", "functions called", "hooked functions that were called").on_page()
        => row.functions_called;
    count("functions", "hooked", "hooked functions").on_page() => row.functions;
    words("loaded_in", "loaded in", "in how many of the processes it was found").on_page()
        => Cell::Shown(
            format!("{} of {}", units::count(row.loaded_in), units::counted(row.processes, "process")),
            row.loaded_in,
        );
    evidence("evidence", "evidence", "whether it was called, and how sure that is") => row.evidence;
    sentence("why", "why", "the reason") => &row.why;
}

#[derive(Clone, Default)]
struct LibraryStats {
    paths: BTreeSet<String>,
    circumstances: Circumstances,
}

/// The coverage of all processes.
#[derive(Clone, Default)]
pub(crate) struct Coverage {
    /// Functions that were hooked in a process, in the order of the hook table.
    functions: BTreeMap<FunctionId, FunctionRow>,
    libraries: BTreeMap<String, LibraryStats>,
    /// Every ROCm library of any process.
    loaded: Vec<Library>,
    /// Only some phases were read: calls that make no event cannot be assigned to them.
    of_phases: bool,
    /// The rows of each process alone, in their order.
    by_process: Vec<Vec<LibraryRow>>,
}

const NOT_BY_PHASE: &str =
    "functions of it that make no events were called in the process; whether in these phases is not known";

impl Coverage {
    /// Notes that only some phases will be read.
    pub(crate) fn of_phases(&mut self) {
        self.of_phases = true;
    }

    /// Adds a process that has ended, or was read up to now. `launches`: of kernels of a library's
    /// code objects.
    pub(crate) fn add_process<'a>(
        &mut self,
        hooks: impl Iterator<Item = HookUse<'a>>,
        libraries: &BTreeMap<u32, Library>,
        gaps: &VisibilityGaps,
        bypass: impl Fn(&str) -> Option<String>,
        launches: impl Fn(&str) -> u64,
    ) {
        let hooks: Vec<HookUse> = hooks.collect();
        let mut alone = Coverage { of_phases: self.of_phases, ..Coverage::default() };
        alone.add(&hooks, libraries, gaps, &bypass, &launches);
        self.by_process.push(alone.libraries());
        self.add(&hooks, libraries, gaps, &bypass, &launches);
    }

    fn add(
        &mut self,
        hooks: &[HookUse],
        libraries: &BTreeMap<u32, Library>,
        gaps: &VisibilityGaps,
        bypass: &impl Fn(&str) -> Option<String>,
        launches: &impl Fn(&str) -> u64,
    ) {
        self.loaded.extend(libraries.values().cloned());
        let mut hooked = BTreeSet::new();
        for seen in hooks {
            hooked.insert(seen.hook.of.clone());
            let bound_to = seen.hook.library.and_then(|id| libraries.get(&id));
            let (name, library) = (&seen.hook.name, &seen.hook.of);
            let new =
                || FunctionRow { function: name.clone(), library: library.clone(), ..FunctionRow::default() };
            add_hook(self.functions.entry(seen.function).or_insert_with(new), seen, bound_to);
        }
        for name in hooked {
            let files = libraries.values().filter(|library| is_of(library, &name));
            let paths: BTreeSet<String> = files.clone().map(|library| library.path.clone()).collect();
            let open_way = if paths.is_empty() { None } else { bypass(&name) };
            let unread = files.clone().filter(|library| library.functions.is_none()).count() as u64;
            let exported = files.filter_map(|library| library.functions.zip(library.hooked));
            let exported: Vec<(u64, u64)> = exported.collect();
            let launches = launches(&name);
            let stats = self.libraries.entry(name).or_default();
            stats.circumstances.launches += launches;
            stats.circumstances.unread += unread;
            // The file with the most unhooked functions.
            let known = stats.circumstances.exported.into_iter().chain(exported);
            stats.circumstances.exported = known.max_by_key(|(all, hooked)| all.saturating_sub(*hooked));
            let unrecorded = gaps.unrecorded.clone().filter(|_| !paths.is_empty());
            stats.circumstances.open_way = stats.circumstances.open_way.take().or(open_way);
            stats.circumstances.unrecorded = stats.circumstances.unrecorded.take().or(unrecorded);
            stats.circumstances.processes += 1;
            stats.circumstances.loaded_in += u64::from(!paths.is_empty());
            stats.circumstances.lossy += u64::from(gaps.lossy);
            stats.circumstances.running += u64::from(gaps.running);
            stats.paths.extend(paths);
        }
    }

    /// Returns how a call of `library` could have bypassed the hooks in some process.
    pub(crate) fn open_way(&self, library: &str) -> Option<String> {
        self.libraries.get(library)?.circumstances.open_way.clone()
    }

    /// Returns how the rocBLAS of these processes numbers its solutions, by the versions in its
    /// files' names.
    pub(crate) fn numbering(&self) -> Numbering {
        let of = |name: &'static str| self.loaded.iter().filter(move |library| is_of(library, name));
        let numbers_by_target = |library: &Library| {
            let (_, version) = library.path.rsplit_once("librocblas.so.").unwrap_or_default();
            let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
            (numbers.next(), numbers.next()) >= (Some(4), Some(2))
        };
        Numbering {
            by_target: of("librocblas.so").next().is_some() && of("librocblas.so").all(numbers_by_target),
            hipblaslt: of("libhipblaslt.so").next().is_some(),
        }
    }

    /// Returns every hooked function, in the order of the hook table.
    pub(crate) fn functions(&self) -> Vec<FunctionRow> {
        let is_hook = |row: &&FunctionRow| !row.state.is_empty() && row.library != SHIM_LIBRARY;
        self.functions.values().filter(is_hook).cloned().collect()
    }

    /// Returns every library of the hook table, in its order.
    pub(crate) fn libraries(&self) -> Vec<LibraryRow> {
        let mut order: Vec<&str> = Vec::new();
        for row in self.functions.values().filter(|row| row.library != SHIM_LIBRARY) {
            if !order.contains(&row.library.as_str()) {
                order.push(&row.library);
            }
        }
        order.into_iter().filter_map(|name| Some(self.library(name, self.libraries.get(name)?))).collect()
    }

    fn library(&self, name: &str, stats: &LibraryStats) -> LibraryRow {
        let functions: Vec<&FunctionRow> =
            self.functions.values().filter(|row| row.library == name).collect();
        let mut circumstances = stats.circumstances.clone();
        circumstances.without_handle = self.without_handle(name);
        circumstances.exported = circumstances.exported.filter(|_| circumstances.unread == 0);
        let (mut evidence, mut why) = judge(&functions, &circumstances);
        let calls = functions.iter().map(|row| row.calls).sum();
        if self.of_phases && calls == 0 && evidence.is_confirmed() {
            (evidence, why) = (Evidence::Limited, NOT_BY_PHASE.into());
        }
        LibraryRow {
            library: name.to_string(),
            paths: stats.paths.clone(),
            loaded_in: stats.circumstances.loaded_in,
            processes: stats.circumstances.processes,
            functions: functions.len() as u64,
            functions_called: functions.iter().filter(|row| row.was_called()).count() as u64,
            calls,
            evidence,
            why,
            open_way: stats.circumstances.open_way.clone(),
            has_silent_calls: functions.iter().any(|row| row.silent + row.uncounted > 0),
            may_miss: circumstances.may_miss(),
        }
    }
}

impl Coverage {
    /// Returns true if the functions that create the handles of `library` are hooked and were not
    /// called; `None` if that is unknown.
    fn without_handle(&self, library: &str) -> Option<bool> {
        let (_, of, makers) = HANDLES.iter().find(|(name, ..)| *name == library)?;
        let row = |maker: &&str| {
            let is_it = |row: &&FunctionRow| row.library == *of && row.function == **maker;
            self.functions.values().find(is_it)
        };
        let mut is_without = true;
        for row in makers.iter().map(row) {
            let row = row.filter(|row| row.state == "armed" || row.state == "bound")?;
            if row.looked_up > 0 && !row.was_called() {
                return None;
            }
            is_without &= !row.was_called();
        }
        Some(is_without)
    }

    /// Returns the rows of each process alone, in the order in which processes were added.
    pub(crate) fn by_process(&self) -> Vec<Vec<LibraryRow>> {
        self.by_process.clone()
    }
}

/// Returns true for a file that is a version of library `name`.
fn is_of(library: &Library, name: &str) -> bool {
    is_library(&library.path, name) || library.soname.as_deref().is_some_and(|file| is_library(file, name))
}

fn add_hook(row: &mut FunctionRow, seen: &HookUse, bound_to: Option<&Library>) {
    *row.points.entry(seen.hook.point.clone()).or_default() += seen.calls;
    row.calls += seen.calls;
    row.silent += seen.silent;
    // An exported function is bound by its first call; an address from another interception point
    // may never have been called.
    let is_bound = !matches!(seen.hook.state.as_str(), "armed" | "off");
    let was_called = seen.hook.point == "preload" && is_bound;
    let may_be_more = if seen.calls == 0 { was_called } else { seen.is_partial };
    row.uncounted += u64::from(may_be_more);
    row.looked_up += u64::from(seen.calls == 0 && is_bound && !was_called && !seen.is_counted);
    row.bound_to.extend(bound_to.map(|library| library.path.clone()));
    row.why.extend(seen.hook.why.clone());
    // Over several processes, the worst state is shown.
    let rank = |state: &str| ["armed", "bound", "unbound", "off"].iter().position(|known| *known == state);
    if row.state.is_empty() || rank(&seen.hook.state) > rank(&row.state) {
        row.state = seen.hook.state.clone();
    }
}

#[cfg(test)]
mod tests;
