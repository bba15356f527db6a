//! Hook coverage: for each function and each library whether calls were seen, and what their absence means.

use super::{
    evidence::Evidence,
    interner::Interner,
    solution_index::Numbering,
    verdict::{Circumstances, FunctionRow, judge},
};
use rocshim_trace::{Hook, Library, OWN_LIBRARY, is_library};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A library, over all processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LibraryRow {
    /// Its name without version.
    pub library: String,
    /// Its files, in the processes that had it.
    pub paths: BTreeSet<String>,
    /// In how many processes it was found.
    pub loaded_in: u64,
    /// Of how many.
    pub processes: u64,
    /// Hooked functions.
    pub functions: u64,
    /// Those of them that were called.
    pub functions_called: u64,
    /// Calls seen.
    pub calls: u64,
    /// Whether it was called, and how sure that is.
    pub evidence: Evidence,
    /// The reason, in words.
    pub why: String,
    /// How a call of it could have passed the hooks by in some process that had it.
    pub(crate) open_way: Option<String>,
    /// Functions of it that make no events were called, or may have been.
    #[serde(skip)]
    pub(crate) has_silent_calls: bool,
}

#[derive(Clone, Default)]
struct LibraryStats {
    paths: BTreeSet<String>,
    circumstances: Circumstances,
}

/// What one process knew of a hook at its end.
pub(crate) struct Seen<'a> {
    /// The number of its function over all processes.
    pub function: usize,
    /// Its last record.
    pub hook: &'a Hook,
    /// Calls of it.
    pub calls: u64,
    /// Those of them that made no events.
    pub(crate) silent: u64,
    /// Calls that make no event were counted too: the process ended in order.
    pub(crate) is_counted: bool,
    /// Recording was stopped for a while: there may have been more calls.
    pub(crate) is_partial: bool,
}

/// How a process ended, as far as it matters for what was not seen.
#[derive(Clone, Default)]
pub(crate) struct Blindness {
    /// Events were lost.
    pub(crate) lossy: bool,
    /// The process still runs, or did when this was written.
    pub running: bool,
    /// Why calls may be missing that are not counted as lost.
    pub(crate) unrecorded: Option<String>,
}

/// The coverage of all processes.
#[derive(Clone)]
pub(crate) struct Coverage {
    functions: Interner<(String, String), FunctionRow>,
    /// Their libraries and names, by number.
    names: Vec<(Rc<str>, Rc<str>)>,
    libraries: BTreeMap<String, LibraryStats>,
    /// Every ROCm library of any process.
    loaded: Vec<Library>,
    /// Only some phases were read: what makes no event is not known of them.
    of_phases: bool,
}

const NOT_BY_PHASE: &str =
    "functions of it that make no events were called in the process; whether in these phases is not known";

impl Coverage {
    pub(crate) fn new() -> Self {
        Coverage {
            functions: Interner::new(),
            names: Vec::new(),
            libraries: BTreeMap::new(),
            loaded: Vec::new(),
            of_phases: false,
        }
    }

    /// The number of a function over all processes.
    pub(crate) fn number(&mut self, hook: &Hook) -> usize {
        self.functions.number((hook.of.clone(), hook.name.clone()), || {
            self.names.push((hook.of.as_str().into(), hook.name.as_str().into()));
            FunctionRow { function: hook.name.clone(), library: hook.of.clone(), ..FunctionRow::default() }
        })
    }

    /// Only some phases will be read.
    pub(crate) fn of_phases(&mut self) {
        self.of_phases = true;
    }

    /// The library and the name of a function.
    pub(crate) fn name(&self, function: usize) -> (Rc<str>, Rc<str>) {
        self.names[function].clone()
    }

    /// Adds a process that has ended, or has been read as far as it went.
    pub(crate) fn add_process<'a>(
        &mut self,
        hooks: impl Iterator<Item = Seen<'a>>,
        libraries: &BTreeMap<u32, Library>,
        blindness: &Blindness,
        open_way: impl Fn(&str) -> Option<String>,
    ) {
        self.loaded.extend(libraries.values().cloned());
        let mut hooked = BTreeSet::new();
        for seen in hooks {
            hooked.insert(seen.hook.of.clone());
            let bound_to = seen.hook.library.and_then(|id| libraries.get(&id));
            add_hook(self.functions.get_mut(seen.function), &seen, bound_to);
        }
        for name in hooked {
            let files = libraries.values().filter(|library| is_of(library, &name));
            let paths: BTreeSet<String> = files.map(|library| library.path.clone()).collect();
            let open_way = if paths.is_empty() { None } else { open_way(&name) };
            let stats = self.libraries.entry(name).or_default();
            let unrecorded = blindness.unrecorded.clone().filter(|_| !paths.is_empty());
            stats.circumstances.open_way = stats.circumstances.open_way.take().or(open_way);
            stats.circumstances.unrecorded = stats.circumstances.unrecorded.take().or(unrecorded);
            stats.circumstances.processes += 1;
            stats.circumstances.loaded_in += u64::from(!paths.is_empty());
            stats.circumstances.lossy += u64::from(blindness.lossy);
            stats.circumstances.running += u64::from(blindness.running);
            stats.paths.extend(paths);
        }
    }

    /// How a call of `library` could have passed the hooks by in some process.
    pub(crate) fn open_way(&self, library: &str) -> Option<String> {
        self.libraries.get(library)?.circumstances.open_way.clone()
    }

    /// How the rocBLAS of these processes numbers its solutions, by the versions in its files' names.
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

    /// Every function that was hooked, in the order of the hook table.
    pub(crate) fn functions(&self) -> Vec<FunctionRow> {
        let is_hook = |row: &&FunctionRow| !row.state.is_empty() && row.library != OWN_LIBRARY;
        self.functions.values().iter().filter(is_hook).cloned().collect()
    }

    /// Every library of the hook table, in its order.
    pub(crate) fn libraries(&self) -> Vec<LibraryRow> {
        let mut order: Vec<&str> = Vec::new();
        for row in self.functions.values().iter().filter(|row| row.library != OWN_LIBRARY) {
            if !order.contains(&row.library.as_str()) {
                order.push(&row.library);
            }
        }
        order.into_iter().filter_map(|name| Some(self.library(name, self.libraries.get(name)?))).collect()
    }

    fn library(&self, name: &str, stats: &LibraryStats) -> LibraryRow {
        let functions: Vec<&FunctionRow> =
            self.functions.values().iter().filter(|row| row.library == name).collect();
        let (mut evidence, mut why) = judge(&functions, &stats.circumstances);
        let calls = functions.iter().map(|row| row.calls).sum();
        if self.of_phases && calls == 0 && evidence == Evidence::Confirmed {
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
        }
    }
}

/// Whether a file is a version of the library `name`.
fn is_of(library: &Library, name: &str) -> bool {
    is_library(&library.path, name) || library.soname.as_deref().is_some_and(|file| is_library(file, name))
}

fn add_hook(row: &mut FunctionRow, seen: &Seen, bound_to: Option<&Library>) {
    *row.doors.entry(seen.hook.door.clone()).or_default() += seen.calls;
    row.calls += seen.calls;
    row.silent += seen.silent;
    // An exported function is bound by its first call; what another door gave out may never have been called.
    let may_be_called = seen.hook.door == "preload" || !seen.is_counted;
    let is_bound = !matches!(seen.hook.state.as_str(), "armed" | "off");
    let may_be_more = if seen.calls == 0 { is_bound && may_be_called } else { seen.is_partial };
    row.uncounted += u64::from(may_be_more);
    row.bound_to.extend(bound_to.map(|library| library.path.clone()));
    row.why.extend(seen.hook.why.clone());
    // The worst state of any process is the one to know.
    let rank = |state: &str| ["armed", "bound", "unbound", "off"].iter().position(|known| *known == state);
    if row.state.is_empty() || rank(&seen.hook.state) > rank(&row.state) {
        row.state = seen.hook.state.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(name: &str, state: &str, library: Option<u32>) -> Hook {
        let (of, door) = ("libhipblaslt.so".to_string(), "preload".to_string());
        Hook { name: name.into(), of, door, state: state.into(), library, ..Hook::default() }
    }

    fn loaded() -> BTreeMap<u32, Library> {
        let path = "/opt/rocm/lib/libhipblaslt.so.1".to_string();
        BTreeMap::from([(4, Library { id: 4, path, ..Library::default() })])
    }

    fn verdict(
        hooks: &[(Hook, u64)],
        libraries: BTreeMap<u32, Library>,
        blindness: Blindness,
        open_way: Option<&str>,
    ) -> LibraryRow {
        let mut coverage = Coverage::new();
        let numbers: Vec<usize> = hooks.iter().map(|(hook, _)| coverage.number(hook)).collect();
        let seen = hooks.iter().zip(numbers).map(|((hook, calls), function)| Seen {
            function,
            hook,
            calls: *calls,
            silent: 0,
            is_counted: true,
            is_partial: false,
        });
        coverage.add_process(seen, &libraries, &blindness, |_| open_way.map(str::to_owned));
        coverage.libraries().remove(0)
    }

    #[test]
    fn absence_is_confirmed_only_where_a_call_would_have_been_seen() {
        let armed = hook("hipblasLtMatmul", "armed", None);
        let told = |open_way: Option<&str>, libraries, blindness| {
            let row = verdict(&[(armed.clone(), 0)], libraries, blindness, open_way);
            (row.evidence, row.why)
        };
        let whole = Blindness::default;
        assert_eq!(
            told(Some("by a tunnel"), BTreeMap::new(), whole()),
            (Evidence::ConfirmedAbsent, "not loaded in the process".into())
        );
        assert_eq!(
            told(None, loaded(), whole()),
            (Evidence::ConfirmedAbsent, "loaded in the process, no call seen".into())
        );
        assert_eq!(
            told(Some("by a tunnel"), loaded(), whole()),
            (Evidence::Limited, "loaded in the process, no call seen; by a tunnel".into())
        );
        assert_eq!(told(None, loaded(), Blindness { lossy: true, ..whole() }).0, Evidence::Limited);
        let stopped = Blindness { unrecorded: Some("recording was stopped".into()), ..whole() };
        assert_eq!(
            told(None, loaded(), stopped.clone()),
            (Evidence::Limited, "loaded in the process, no call seen; recording was stopped".into())
        );
        assert_eq!(told(None, BTreeMap::new(), stopped).0, Evidence::ConfirmedAbsent);
        assert_eq!(
            told(None, loaded(), Blindness { running: true, ..whole() }).1,
            "loaded in the process, no call seen so far"
        );
    }

    #[test]
    fn a_function_that_was_not_found_leaves_the_library_unresolved() {
        let unbound = Hook { why: Some("no such symbol".into()), ..hook("hipblasLtMatmul", "unbound", None) };
        let row = verdict(&[(unbound, 0)], loaded(), Blindness::default(), None);
        assert_eq!(row.evidence, Evidence::Unresolved);
        assert_eq!(row.why, "called, but the real one was not found: hipblasLtMatmul");
    }

    #[test]
    fn calls_confirm() {
        let hooks =
            [(hook("hipblasLtMatmul", "bound", Some(4)), 3), (hook("hipblasLtCreate", "armed", None), 0)];
        let row = verdict(&hooks, loaded(), Blindness::default(), None);
        assert_eq!(
            (row.evidence, row.calls, row.functions, row.functions_called),
            (Evidence::Confirmed, 3, 2, 1)
        );
        assert_eq!(row.paths, BTreeSet::from(["/opt/rocm/lib/libhipblaslt.so.1".to_string()]));
        assert_eq!(row.why, "1 of 2 hooked functions called");
    }

    #[test]
    fn the_numbering_of_solutions_is_known_from_rocblas_4_2_on() {
        let numbering = |paths: &[&str]| {
            let library = |path: &&str| Library { path: path.to_string(), ..Library::default() };
            let libraries = paths.iter().map(library).enumerate().map(|(id, l)| (id as u32, l)).collect();
            let mut coverage = Coverage::new();
            coverage.add_process(std::iter::empty(), &libraries, &Blindness::default(), |_| None);
            let told = coverage.numbering();
            (told.by_target, told.hipblaslt)
        };
        let (old, some, new) = ("/l/librocblas.so.3.1", "/l/librocblas.so.4", "/l/librocblas.so.4.2.60200");
        assert_eq!(numbering(&[]), (false, false));
        assert_eq!([old, some, new].map(|path| numbering(&[path]).0), [false, false, true]);
        assert_eq!(numbering(&["/l/librocblas.so.5"]), (true, false));
        assert_eq!(numbering(&["/l/librocblas.so.5", old]), (false, false));
        assert_eq!(numbering(&["/l/librocblas.so.5", "/l/libhipblaslt.so.1"]), (true, true));
    }

    #[test]
    fn a_library_is_not_its_namesake() {
        let blas = |path: &str| Library { path: path.into(), ..Library::default() };
        assert!(is_of(&blas("/a/libhipblas.so.3.1"), "libhipblas.so"));
        assert!(!is_of(&blas("/a/libhipblaslt.so"), "libhipblas.so"));
        assert!(!is_of(&blas("/libhipblas.so/x"), "libhipblas.so"));
    }
}
