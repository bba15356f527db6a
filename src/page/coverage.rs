//! The section on coverage: which calls the trace can show and which not, hook by hook, and what
//! was lost.

use super::grid::Grid;
use maud::{Markup, html};
use rocshim_analysis::units::count;
use rocshim_analysis::{FAILURES, FUNCTIONS, IN_FLIGHT, LIBRARIES, LOSSES, QUESTIONS, Run};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    let uncalled =
        run.summary.functions.iter().filter(|row| row.calls + row.uncounted + row.looked_up == 0).count();
    // Those that were called first: the others are the rest of a long list.
    let mut functions: Vec<_> = run.summary.functions.iter().collect();
    functions.sort_by_key(|row| (std::cmp::Reverse(row.calls), &row.function));
    html! {
        (Grid::of(&QUESTIONS, &run.answers.questions).markup(prefix))
        p.note { "“Nothing was seen” is “confirmed absent” only where every interception point by which it can be called was hooked; else it is limited or unresolved, for the reason given." }
        (Grid::of(&LIBRARIES, &run.summary.libraries).markup(prefix))
        @if !run.summary.losses.is_empty() { (Grid::of(&LOSSES, &run.summary.losses).markup(prefix)) }
        @if !run.summary.in_flight.is_empty() { (Grid::of(&IN_FLIGHT, &run.summary.in_flight).markup(prefix)) }
        @if !run.summary.failures.is_empty() { (Grid::of(&FAILURES, &run.summary.failures).markup(prefix)) }
        details.more {
            summary { "Every hooked function (" (count(run.summary.functions.len() as u64)) ", of which " (count(uncalled as u64)) " were not called)" }
            (Grid::of(&FUNCTIONS, functions).markup(prefix))
        }
        @for note in &run.summary.notes { p.note { "Not read: " (note) } }
    }
}
