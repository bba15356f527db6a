//! The section on coverage: what the trace can show and what it cannot, hook by hook, and what was
//! lost.

use super::grid::{Align, Cell, Grid};
use maud::{Markup, html};
use rocshim_analysis::units::count;
use rocshim_analysis::{FAILURES, IN_FLIGHT, LIBRARIES, LOSSES, Run};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    let uncalled =
        run.summary.functions.iter().filter(|row| row.calls + row.uncounted + row.looked_up == 0).count();
    html! {
        (questions(run).markup(prefix))
        p.note { "“Nothing was seen” is “confirmed absent” only where every interception point by which it can be called was hooked; else it is limited or unresolved, for the reason given." }
        (Grid::of(&LIBRARIES, &run.summary.libraries).markup(prefix))
        @if !run.summary.losses.is_empty() { (Grid::of(&LOSSES, &run.summary.losses).markup(prefix)) }
        @if !run.summary.in_flight.is_empty() { (Grid::of(&IN_FLIGHT, &run.summary.in_flight).markup(prefix)) }
        @if !run.summary.failures.is_empty() { (Grid::of(&FAILURES, &run.summary.failures).markup(prefix)) }
        details.more {
            summary { "Every hooked function (" (count(run.summary.functions.len() as u64)) ", of which " (count(uncalled as u64)) " were not called)" }
            (functions(run).markup(prefix))
        }
        @for note in &run.summary.notes { p.note { "Not read: " (note) } }
    }
}

fn questions(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "questions",
        "Can it be shown?",
        &[
            ("question", "question", Align::Left),
            ("answer", "this trace says", Align::Left),
            ("evidence", "evidence", Align::Left),
            ("why", "why", Align::Left),
        ],
    );
    for row in &run.answers.questions {
        grid.row(vec![
            Cell::text(row.question),
            Cell::lines(&row.answer),
            Cell::badge(row.evidence),
            Cell::text(&row.why),
        ]);
    }
    grid
}

fn functions(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "functions",
        "Hooked functions",
        &[
            ("function", "function", Align::Left),
            ("library", "library", Align::Left),
            ("state", "state", Align::Left),
            ("calls", "calls", Align::Sum),
            ("points", "intercepted by", Align::Left),
            ("why", "remark", Align::Left),
        ],
    );
    // Those that were called first: the others are the rest of a long list.
    let mut rows: Vec<_> = run.summary.functions.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.calls), &row.function));
    for row in rows {
        let points: Vec<String> = row
            .points
            .iter()
            .filter(|(_, calls)| **calls > 0)
            .map(|(point, calls)| format!("{point} {}", count(*calls)))
            .collect();
        grid.row(vec![
            Cell::code(&row.function),
            Cell::text(&row.library),
            Cell::text(&row.state),
            Cell::number(row.calls),
            Cell::text(points.join(", ")),
            Cell::text(row.why.iter().cloned().collect::<Vec<_>>().join("; ")),
        ]);
    }
    grid
}
