//! The chain of a MIOpen convolution: the searches before, the find database, and what ran.

use super::{
    catalogs::FoundProblem,
    rows::{Change, Link},
    seen::{ConvKey, Process, Search, Seen},
};
use crate::{Evidence, evidence::observations::Observation};
use rocshim_catalog::FoundSolver;
use rocshim_trace::ConvResult;

const MEASURES: &str = "a search that measures launches the kernels that it measures";

/// Adds what was possible, and what decided.
pub(super) fn explain(
    conv: &ConvKey,
    seen: &Seen,
    (process, found): (&Process, Option<&FoundProblem>),
    links: &mut Vec<Link>,
    changes: &mut Vec<Change>,
) {
    links.extend(conv.solver.as_ref().map(|solver| {
        let text = format!("solver {solver}, by the solution's number");
        Link::new("chosen", Evidence::Inferred, text).from("MIOpen's table of solver numbers")
    }));
    match &seen.search {
        None => {
            let text = "no search and no question about this problem is in the trace";
            links.push(Link::new("possible", Evidence::Unresolved, text));
        }
        Some(search) => links.push(possible(search)),
    }
    let place = seen.search.as_ref().and_then(|search| place(conv, search));
    let asked = asked(conv);
    let link = match place {
        Some(place) => {
            let text = format!(
                "the program took {asked}, result {} of what {} returned",
                place + 1,
                seen.search.as_ref().map_or("", |search| &search.function)
            );
            Link::new("decided", Observation::Argument.evidence(), text)
        }
        None if seen.search.is_some() => {
            let text =
                format!("the program took {asked}, which is not among the results that the trace keeps");
            Link::new("decided", Observation::Argument.evidence(), text)
        }
        None => {
            Link::new("decided", Observation::Argument.evidence(), format!("the program asked for {asked}"))
        }
    };
    links.push(link);
    if let Some(search) = &seen.search {
        links.push(databases(search, process));
        links.push(entry(conv, search, process, found));
        links.extend(find_mode(search, process));
        links.extend(place.and_then(|place| workspace(&search.results[place], seen)));
    }
    links.extend(switched(process));
    links.extend(seen.search.iter().flat_map(|search| left_out(search, process)));
    let set = |name: &str| process.environment.contains_key(name);
    if !set("MIOPEN_FIND_MODE") {
        changes.push(Change {
            what: "MIOPEN_FIND_MODE=NORMAL (or FAST, HYBRID, DYNAMIC_HYBRID)".into(),
            effect: "another search: NORMAL measures every solver, FAST takes the find database's entry"
                .into(),
        });
    }
    changes.push(Change {
        what: "MIOPEN_DEBUG_FIND_ONLY_SOLVER=NAME".into(),
        effect: "only that solver is tried, where it can solve the problem".into(),
    });
}

fn asked(conv: &ConvKey) -> String {
    match (&conv.solution, &conv.algorithm) {
        (Some(id), _) => format!("solution {id}"),
        (None, Some(algorithm)) => format!("the algorithm {algorithm}"),
        (None, None) => "what it had been given".to_owned(),
    }
}

/// Which of the results the program took: by solution, or by algorithm.
fn place(conv: &ConvKey, search: &Search) -> Option<usize> {
    search.results.iter().position(|result| match (&conv.solution, &conv.algorithm) {
        (Some(id), _) => result.solution_id == Some(*id),
        (None, Some(algorithm)) => result.algorithm == *algorithm,
        (None, None) => false,
    })
}

fn possible(search: &Search) -> Link {
    let each = search.results.iter().map(|result| {
        let id = result.solution_id.map(|id| format!(" {id}")).unwrap_or_default();
        let time = result.time_ms.map(|time| format!(" {time} ms")).unwrap_or_default();
        format!("{}{id}{time} ({} bytes of workspace)", result.algorithm, result.workspace)
    });
    let list = each.collect::<Vec<_>>().join(", ");
    let list = if list.is_empty() { String::new() } else { format!(": {list}") };
    let how = if search.exhaustive { ", by an exhaustive search" } else { "" };
    let text = format!("{} returned {} results{how}{list}", search.function, search.returned);
    Link::new("possible", Observation::Returned.evidence(), text)
}

/// Whether the results were measured in this run.
fn databases(search: &Search, process: &Process) -> Link {
    match (search.action.as_str(), search.launched, process.limits()) {
        ("get_solution", ..) => Link::new(
            "decided",
            Evidence::Unresolved,
            "the order is that of the find database or, without an entry, of an estimate; which it was is not in the trace",
        ),
        (_, 1.., _) => {
            let text = format!(
                "the search launched {} kernels: its times were measured in this run",
                search.launched
            );
            Link::new("decided", Evidence::Inferred, text).from(MEASURES)
        }
        (_, 0, Some(limits)) => {
            Link::new("decided", Evidence::Limited, format!("no launch of the search was seen: {limits}"))
        }
        (_, 0, None) => Link::new(
            "decided",
            Evidence::Inferred,
            "the search launched nothing: its results are an entry of the find database or an estimate",
        )
        .from(MEASURES),
    }
}

/// Whether the find database had an entry for the problem, as far as its files say it now.
fn entry(conv: &ConvKey, search: &Search, process: &Process, found: Option<&FoundProblem>) -> Link {
    let unresolved = |text: &str| Link::new("decided", Evidence::Unresolved, text);
    let is_off = |value: &String| !matches!(value.as_str(), "" | "0");
    if process.environment.get("MIOPEN_DEBUG_DISABLE_FIND_DB").is_some_and(is_off) {
        let text = "MIOPEN_DEBUG_DISABLE_FIND_DB is set: the find database is not read";
        return Link::new("decided", Evidence::Inferred, text).from("src/include/miopen/find_db.hpp");
    }
    let Some(key) = &conv.key else {
        return unresolved(
            "the find database's key of such a problem is not known: only two dimensions, dense NCHW, one group and one type are",
        );
    };
    let Some((found, user)) = found.and_then(|found| Some((found, found.user.as_ref()?))) else {
        return unresolved(
            "the user's find database was not looked up: MIOPEN_USER_DB_PATH is not set, so it is in the home folder, which is not in the trace",
        );
    };
    let installed = found.installed.as_ref().map(|database| match (&database.entry, database.files.len()) {
        (Some((_, solvers)), _) => format!("; the installed one has: {}", in_words(solvers)),
        (None, 0) => format!("; {} has no file for the target", database.folder.display()),
        (None, _) => "; the installed one has no entry".to_owned(),
    });
    let installed = installed.unwrap_or_default();
    let (trials, folder) = (search.launched, user.folder.display());
    let (evidence, text) = match &user.entry {
        Some((_, solvers)) if !found.here => (
            Evidence::Unresolved,
            format!("an entry is there, in a copy of the user's find database: {}", in_words(solvers)),
        ),
        Some((file, solvers)) => {
            let changed = user.files[*file].1;
            let is_older = changed.is_some_and(|changed| changed < i128::from(process.epoch));
            match (is_older, trials) {
                (true, _) => (
                    Evidence::Inferred,
                    format!(
                        "hit: the user's find database had an entry before the process began: {}",
                        in_words(solvers)
                    ),
                ),
                (false, 1..) => (
                    Evidence::Inferred,
                    format!(
                        "miss: the search launched {trials} kernels, and the file of the entry was written since the process began: {}",
                        in_words(solvers)
                    ),
                ),
                (false, 0) if has_times(search, solvers) => (
                    Evidence::Inferred,
                    format!(
                        "hit: the answer has the times of the entry in the user's find database: {}",
                        in_words(solvers)
                    ),
                ),
                (false, 0) => (
                    Evidence::Unresolved,
                    format!(
                        "an entry is there, in a file that was written since the process began: {}",
                        in_words(solvers)
                    ),
                ),
            }
        }
        None if !found.here => {
            (Evidence::Unresolved, format!("no entry in a copy of the user's find database, {folder}"))
        }
        None if trials > 0 => (
            Evidence::Inferred,
            format!(
                "miss: the search launched {trials} kernels, and the user's find database, {folder}, has no entry"
            ),
        ),
        None if found.installed.as_ref().is_some_and(|installed| installed.entry.is_none()) => (
            Evidence::Inferred,
            format!("miss: the user's find database, {folder}, has no entry: the answer is an estimate"),
        ),
        None => (Evidence::Unresolved, format!("the user's find database, {folder}, has no entry now")),
    };
    Link::new("decided", evidence, text + &installed).from(format!("find database, {key}"))
}

/// True when each result has the time of a solver of the entry, up to how it is written there.
fn has_times(search: &Search, solvers: &[FoundSolver]) -> bool {
    let is_of = |time: f64| solvers.iter().any(|solver| (solver.time_ms - time).abs() <= 1e-4 * time.abs());
    let times: Option<Vec<f64>> = search.results.iter().map(|result| result.time_ms.map(f64::from)).collect();
    times.is_some_and(|times| !times.is_empty() && times.into_iter().all(is_of))
}

fn in_words(solvers: &[FoundSolver]) -> String {
    let solver =
        |of: &FoundSolver| format!("{} {} ms ({} bytes of workspace)", of.name, of.time_ms, of.workspace);
    solvers.iter().map(solver).collect::<Vec<_>>().join(", ")
}

/// The find mode, by the variable; immediate mode has none.
fn find_mode(search: &Search, process: &Process) -> Option<Link> {
    if search.action == "get_solution" {
        return None;
    }
    let text = match process.environment.get("MIOPEN_FIND_MODE") {
        Some(value) => {
            let mode = match value.to_uppercase().as_str() {
                "1" | "NORMAL" => "normal: every solver is measured, unless an entry has the results",
                "2" | "FAST" => "fast: an entry is taken; without one, what immediate mode offers",
                "3" | "HYBRID" => "hybrid: an entry is taken; without one, every solver is measured",
                "4" | "FAST_HYBRID" => {
                    "fast hybrid: an entry is taken; without one, what compiles fast is measured"
                }
                "5" | "DYNAMIC_HYBRID" => {
                    "dynamic hybrid: an entry is taken; without one, solvers of code for every size are measured"
                }
                _ => "not one that MIOpen 3 knows",
            };
            format!("find mode of MIOPEN_FIND_MODE={value}: {mode}")
        }
        None => "MIOPEN_FIND_MODE is not set: the library's default, dynamic hybrid in MIOpen 3".into(),
    };
    Some(Link::new("decided", Evidence::Inferred, text).from("src/include/miopen/find_controls.hpp"))
}

/// Whether the result that ran needs more workspace than the call was given.
fn workspace(result: &ConvResult, seen: &Seen) -> Option<Link> {
    let given = seen.workspace.filter(|given| *given < result.workspace)?;
    let text = format!(
        "workspace too small: the result needs {} bytes, and a call was given {given}",
        result.workspace
    );
    Some(Link::new("decided", Evidence::Inferred, text))
}

/// Algorithms that variables switched off, with whether the results agree.
fn left_out(search: &Search, process: &Process) -> Vec<Link> {
    let kinds = [
        ("MIOPEN_DEBUG_CONV_GEMM", "gemm"),
        ("MIOPEN_DEBUG_CONV_DIRECT", "direct"),
        ("MIOPEN_DEBUG_CONV_WINOGRAD", "winograd"),
        ("MIOPEN_DEBUG_CONV_FFT", "fft"),
        ("MIOPEN_DEBUG_CONV_IMPLICIT_GEMM", "implicit_gemm"),
    ];
    let is_off = |name: &str| {
        let value = process.environment.get(name).map(|value| value.to_lowercase());
        value.is_some_and(|value| {
            matches!(value.as_str(), "0" | "no" | "off" | "false" | "disable" | "disabled")
        })
    };
    let link = |(name, kind): (&str, &str)| {
        let has = search.results.iter().any(|result| result.algorithm == kind);
        let (evidence, seen) = match has {
            false => (Evidence::Inferred, "none is among the results"),
            true => (Evidence::Unresolved, "but the results have one"),
        };
        let text = format!("{name} is off: solvers of {kind} are left out; {seen}");
        Link::new("decided", evidence, text).from("src/conv/solver_finders.cpp")
    };
    kinds.into_iter().filter(|(name, _)| is_off(name)).map(link).collect()
}

/// Solvers and databases that variables switched.
fn switched(process: &Process) -> Option<Link> {
    let is_such = |name: &&String| name.starts_with("MIOPEN_DEBUG_") || name.starts_with("MIOPEN_FIND_");
    let set = process.environment.iter().filter(|(name, _)| is_such(name));
    let list = set.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| {
        Link::new("decided", Observation::Variable.evidence(), format!("set in the process: {list}"))
    })
}
