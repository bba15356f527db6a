//! The chain of a hipBLASLt GEMM: the query and result of its heuristic, and what ran.

use super::{
    rows::{Change, Link},
    seen::{Gemm, Seen},
};
use crate::{Evidence, evidence::observations::Observation};

/// Adds what was possible, what was chosen, and what decided.
pub(super) fn explain(gemm: &Gemm, seen: &Seen, links: &mut Vec<Link>, changes: &mut Vec<Change>) {
    let workspace = gemm.workspace.unwrap_or(0);
    let Some(heuristic) = &seen.heuristic else {
        let why = match gemm.problem.solution {
            Some(_) => {
                "no heuristic for this problem is in the trace: the program has its algorithm from elsewhere"
            }
            None => "no heuristic for this problem is in the trace: the library picks by itself",
        };
        links.push(Link::new("possible", Evidence::Unresolved, why));
        let text = match gemm.problem.solution {
            Some(index) => format!("the program passed the algorithm {index}"),
            None => "the program passed no algorithm, or one that the trace does not have".to_owned(),
        };
        let evidence = if gemm.problem.solution.is_some() {
            Observation::Argument.evidence()
        } else {
            Evidence::Unresolved
        };
        links.push(Link::new("decided", evidence, text));
        return;
    };
    let returned = heuristic.returned.map_or("an unknown number".to_owned(), |returned| returned.to_string());
    let indices = heuristic.solutions.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    let first = match (heuristic.solutions.is_empty(), heuristic.needs) {
        (true, _) => String::new(),
        (false, needs) => format!(": {indices}; the first needs {needs} bytes of workspace"),
    };
    let text = format!(
        "hipblasLtMatmulAlgoGetHeuristic was asked for {} and returned {returned}{first}",
        heuristic.requested
    );
    links.push(Link::new("possible", Observation::Returned.evidence(), text));
    links.push(decided(gemm, heuristic, workspace));
    if heuristic.returned == Some(heuristic.requested) {
        changes.push(Change {
            what: format!("a request of more than {} results", heuristic.requested),
            effect: "more algorithms to choose from; the heuristic returned as many as it was asked for"
                .into(),
        });
    }
    changes.push(Change {
        what: "another workspace limit in the preference".into(),
        effect: "algorithms that need more workspace are offered, or left out".into(),
    });
    changes.push(Change {
        what: "HIPBLASLT_TUNING_OVERRIDE_FILE".into(),
        effect: "the file's solution for this problem comes first".into(),
    });
}

fn decided(gemm: &Gemm, heuristic: &super::seen::Heuristic, workspace: u64) -> Link {
    let Some(index) = gemm.problem.solution else {
        let text =
            format!("the program passed no algorithm that is known, with {workspace} bytes of workspace");
        return Link::new("decided", Evidence::Unresolved, text);
    };
    let place = heuristic.solutions.iter().position(|solution| *solution == index);
    let listed = heuristic.returned.is_some_and(|returned| returned == heuristic.solutions.len() as u64);
    match (place, listed) {
        (Some(0), _) => {
            let text =
                format!("the program took the first result, {index}, with {workspace} bytes of workspace");
            Link::new("decided", Observation::Argument.evidence(), text)
        }
        (Some(place), _) => {
            let text = format!("the program took result {} of those returned, {index}", place + 1);
            Link::new("decided", Observation::Argument.evidence(), text)
        }
        (None, true) => {
            let text =
                format!("the program took {index}, which the last heuristic in the trace did not return");
            Link::new("decided", Observation::Argument.evidence(), text)
        }
        (None, false) => {
            let text = format!("the program took {index}; the trace keeps the first 8 results alone");
            Link::new("decided", Observation::Argument.evidence(), text)
        }
    }
}
