//! Warnings about what may be missing from a run: one sentence for each.

use crate::units::{counted, time};
use crate::{Summary, Verdict, Verified};

/// True when nothing is missing.
pub(super) fn warnings(summary: &Summary, verified: &[Verified]) -> Vec<String> {
    let totals = &summary.totals;
    let mut all: Vec<String> = Vec::new();
    let mut add = |is_so: bool, sentence: &dyn Fn() -> String| {
        if is_so {
            all.push(sentence());
        }
    };
    add(totals.lost > 0, &|| {
        let mut reasons: Vec<&str> = summary.losses.iter().map(|row| row.reason.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        format!("{} were lost, and counted in place: {}.", counted(totals.lost, "event"), reasons.join(", "))
    });
    for one in verified.iter().filter(|one| one.verdict == Verdict::Wrong) {
        add(true, &|| format!("{} does not add up: {}.", one.trace, one.wrong.join("; ")));
    }
    add(totals.running > 0, &|| {
        format!("{} still running: its trace is not complete.", are(totals.running, "process"))
    });
    add(totals.stopped_ns > 0, &|| format!("Recording was stopped for {}.", time(totals.stopped_ns)));
    add(totals.late > 0, &|| format!("{} came after recording had ended.", counted(totals.late, "call")));
    add(totals.in_flight > 0, &|| {
        format!("{} had not returned when the process died.", counted(totals.in_flight, "call"))
    });
    let unbound: Vec<&str> = summary
        .functions
        .iter()
        .filter(|row| row.state == "unbound")
        .map(|row| row.function.as_str())
        .collect();
    add(!unbound.is_empty(), &|| {
        format!("Called, but the real function was not found: {}.", unbound.join(", "))
    });
    let open: Vec<String> = summary
        .libraries
        .iter()
        .filter_map(|row| {
            Some(format!(
                "Calls of {} can have passed the hooks by: {}.",
                row.library,
                row.open_way.as_ref()?
            ))
        })
        .collect();
    open.iter().for_each(|sentence| add(true, &|| sentence.clone()));
    add(totals.unlisted_graph_launches > 0, &|| {
        format!("The kernels of {} are not known.", counted(totals.unlisted_graph_launches, "graph launch"))
    });
    add(totals.unnamed_launches > 0, &|| {
        format!("{} of kernels whose names are not known.", are(totals.unnamed_launches, "launch"))
    });
    for note in &summary.notes {
        add(true, &|| format!("A file was not read: {note}."));
    }
    all
}

/// `1 process is`, `3 processes are`.
fn are(number: u64, one: &str) -> String {
    format!("{} {}", counted(number, one), if number == 1 { "is" } else { "are" })
}
