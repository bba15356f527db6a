//! The chain of a MIOpen convolution: the searches before, and what ran.

use super::{
    rows::{Change, Link},
    seen::{ConvKey, Process, Search, Seen},
};
use crate::{Evidence, evidence::observations::Observation};

const MEASURES: &str = "a search that measures launches the kernels that it measures";

/// Adds what was possible, and what decided.
pub(super) fn explain(
    conv: &ConvKey,
    seen: &Seen,
    process: &Process,
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
    links.extend(seen.search.as_ref().map(|search| databases(search, process)));
    links.extend(switched(process));
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
    let limits = process.limits.as_deref();
    match (search.action.as_str(), search.launched, limits) {
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

/// Solvers and databases that variables switched.
fn switched(process: &Process) -> Option<Link> {
    let is_such = |name: &&String| name.starts_with("MIOPEN_DEBUG_") || name.starts_with("MIOPEN_FIND_");
    let set = process.environment.iter().filter(|(name, _)| is_such(name));
    let list = set.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| {
        Link::new("decided", Observation::Variable.evidence(), format!("set in the process: {list}"))
    })
}
