//! The chain of a hipBLASLt GEMM: the queries and results of its heuristic, and what ran.

use super::{
    rows::{Change, Link},
    seen::{Gemm, Heuristic, Process, Seen},
};
use crate::{Evidence, evidence::observations::Observation, units::count};
use std::collections::BTreeMap;

/// Adds what was possible, what was chosen, and what decided.
pub(super) fn explain(
    gemm: &Gemm,
    seen: &Seen,
    process: &Process,
    links: &mut Vec<Link>,
    changes: &mut Vec<Change>,
) {
    links.extend(seen.heuristics.iter().map(|(heuristic, calls)| possible(gemm, heuristic, *calls, seen)));
    if seen.other_heuristics > 0 {
        let text = format!(
            "before {} the heuristic had returned yet other results, which are left out here",
            of_calls(seen.other_heuristics, seen)
        );
        links.push(Link::new("possible", Evidence::Limited, text));
    }
    links.extend(decided(gemm, seen));
    links.extend(alignment(seen));
    links.extend(override_file(process));
    let full = |of: &Heuristic| of.returned == Some(of.requested);
    let most = seen.heuristics.iter().flat_map(|(heuristic, _)| heuristic).filter(|of| full(of));
    changes.extend(most.map(|of| of.requested).max().map(|requested| Change {
        what: format!("a request of more than {requested} results"),
        effect: "more algorithms to choose from; the heuristic returned as many as it was asked for".into(),
    }));
    changes.push(Change {
        what: "another workspace limit in the preference".into(),
        effect: "algorithms that need more workspace are offered, or left out".into(),
    });
    if !process.environment.contains_key(OVERRIDE) {
        changes.push(Change {
            what: OVERRIDE.into(),
            effect: "the file's solution for this problem comes first".into(),
        });
    }
}

const OVERRIDE: &str = "HIPBLASLT_TUNING_OVERRIDE_FILE";

/// `3 of 4 calls`, or `each call`.
fn of_calls(calls: u64, seen: &Seen) -> String {
    match calls == seen.calls {
        true => "each call".into(),
        false => format!("{} of {} calls", count(calls), count(seen.calls)),
    }
}

/// What the heuristic had returned before some calls.
fn possible(gemm: &Gemm, heuristic: &Option<Heuristic>, calls: u64, seen: &Seen) -> Link {
    let Some(heuristic) = heuristic else {
        let why = match gemm.problem.solution {
            Some(_) => {
                "no heuristic for this problem is in the trace: the program has its algorithm from elsewhere"
            }
            None => "no heuristic for this problem is in the trace: the library picks by itself",
        };
        return Link::new("possible", Evidence::Unresolved, why);
    };
    let returned = heuristic.returned.map_or("an unknown number".to_owned(), |returned| returned.to_string());
    let indices = heuristic.solutions.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    let first = match heuristic.solutions.is_empty() {
        true => String::new(),
        false => format!(": {indices}; the first needs {} bytes of workspace", heuristic.needs),
    };
    let before = match seen.heuristics.len() {
        0 | 1 => String::new(),
        _ => format!("before {}: ", of_calls(calls, seen)),
    };
    let text = format!(
        "{before}hipblasLtMatmulAlgoGetHeuristic was asked for {} and returned {returned}{first}",
        heuristic.requested
    );
    Link::new("possible", Observation::Returned.evidence(), text)
}

/// Which of the results ran: one link, or one for each place among them.
fn decided(gemm: &Gemm, seen: &Seen) -> Vec<Link> {
    let mut by_text: BTreeMap<String, (Evidence, u64)> = BTreeMap::new();
    for (heuristic, calls) in &seen.heuristics {
        let (evidence, text) = taken(gemm, heuristic.as_ref());
        by_text.entry(text).or_insert((evidence, 0)).1 += calls;
    }
    let only = by_text.len() == 1;
    let mut taken: Vec<_> = by_text.into_iter().collect();
    taken.sort_by_key(|(_, (_, calls))| std::cmp::Reverse(*calls));
    let link = |(text, (evidence, calls)): (String, (Evidence, u64))| {
        let text = if only { text } else { format!("{}: {text}", of_calls(calls, seen)) };
        Link::new("decided", evidence, text)
    };
    taken.into_iter().map(link).collect()
}

fn taken(gemm: &Gemm, heuristic: Option<&Heuristic>) -> (Evidence, String) {
    let workspace = gemm.workspace.unwrap_or(0);
    let (Some(index), read) = (gemm.problem.solution, Observation::Argument.evidence()) else {
        let text = match heuristic {
            None => "the program passed no algorithm, or one that the trace does not have".into(),
            Some(_) => {
                format!("the program passed no algorithm that is known, with {workspace} bytes of workspace")
            }
        };
        return (Evidence::Unresolved, text);
    };
    let Some(heuristic) = heuristic else {
        return (read, format!("the program passed the algorithm {index}"));
    };
    let all = heuristic.returned.is_some_and(|returned| returned == heuristic.solutions.len() as u64);
    let text = match (heuristic.solutions.iter().position(|solution| *solution == index), all) {
        (Some(0), _) => {
            format!("the program took the first result, {index}, with {workspace} bytes of workspace")
        }
        (Some(place), _) => format!(
            "the program took result {} of those returned, {index}, with {workspace} bytes of workspace",
            place + 1
        ),
        (None, true) => {
            format!("the program took {index}, which the last heuristic in the trace did not return")
        }
        (None, false) => {
            let kept = heuristic.solutions.len();
            format!(
                "the program took {index}, which is not among the first {kept} results; the trace keeps no more"
            )
        }
    };
    (read, text)
}

/// Why pointers that are aligned to less than an element of a vector load decide nothing here.
fn alignment(seen: &Seen) -> Option<Link> {
    let least = seen.alignment.iter().copied().filter(|bytes| *bytes > 0).min()?;
    let asked = seen.heuristics.iter().any(|(heuristic, _)| heuristic.is_some());
    (asked && least < 16).then(|| {
        let text = format!(
            "pointers aligned to {least} bytes did not decide: the heuristic is called without the pointers"
        );
        Link::new("decided", Evidence::Inferred, text)
            .from("the arguments of hipblasLtMatmulAlgoGetHeuristic")
    })
}

/// The tuning file that the process had set.
fn override_file(process: &Process) -> Option<Link> {
    let file = process.environment.get(OVERRIDE)?;
    let text = format!(
        "{OVERRIDE}={file}: where the file has the problem, its solution is the first result; whether it has is not \
         in the trace"
    );
    Some(Link::new("decided", Evidence::Unresolved, text).from("rocblaslt/src/UserDrivenTuningParser.cpp"))
}
