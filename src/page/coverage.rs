//! What this trace can show and what it cannot: the questions, the hooks, what was lost.

use super::grid::{Cell, Grid, Side};
use maud::{Markup, html};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{LibraryRow, Run};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    let uncalled =
        run.summary.functions.iter().filter(|row| row.calls + row.uncounted + row.looked_up == 0).count();
    html! {
        (questions(run).markup(prefix))
        p.note { "“Nothing was seen” is “confirmed absent” only where every interception point by which it can be called was hooked; else it is limited or unresolved, for the reason given." }
        (libraries(run).markup(prefix))
        @if !run.summary.losses.is_empty() { (losses(run).markup(prefix)) }
        @if !run.summary.in_flight.is_empty() { (in_flight(run).markup(prefix)) }
        @if !run.summary.failures.is_empty() { (failures(run).markup(prefix)) }
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
            ("question", "question", Side::Left),
            ("answer", "this trace says", Side::Left),
            ("evidence", "evidence", Side::Left),
            ("why", "why", Side::Left),
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

fn libraries(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "libraries",
        "Was it called?",
        &[
            ("library", "library", Side::Left),
            ("calls", "calls", Side::Sum),
            ("functions_called", "functions called", Side::Right),
            ("functions", "hooked", Side::Right),
            ("loaded_in", "loaded in", Side::Left),
            ("evidence", "evidence", Side::Left),
            ("why", "why", Side::Left),
        ],
    );
    for row in &run.summary.libraries {
        grid.row(vec![
            Cell::code(row.library.trim_end_matches(".so")),
            Cell::number(row.calls),
            Cell::number(row.functions_called),
            Cell::number(row.functions),
            Cell::of(loaded(row), row.loaded_in),
            Cell::badge(row.evidence),
            Cell::text(&row.why),
        ]);
    }
    grid
}

fn loaded(row: &LibraryRow) -> String {
    format!("{} of {}", count(row.loaded_in), counted(row.processes, "process"))
}

fn losses(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "losses",
        "Lost events",
        &[
            ("pid", "process", Side::Right),
            ("tid", "thread", Side::Right),
            ("reason", "reason", Side::Left),
            ("lost", "lost", Side::Sum),
            ("gaps", "stretches", Side::Sum),
            ("first_ns", "first", Side::Right),
            ("last_ns", "last", Side::Right),
        ],
    );
    for row in &run.summary.losses {
        grid.row(vec![
            Cell::of(row.pid.to_string(), row.pid),
            Cell::of(row.tid.to_string(), row.tid),
            Cell::text(&row.reason),
            Cell::number(row.lost),
            Cell::number(row.gaps),
            Cell::time(row.first_ns),
            Cell::time(row.last_ns),
        ]);
    }
    grid
}

fn in_flight(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "in_flight",
        "In flight when the process died",
        &[
            ("pid", "process", Side::Right),
            ("tid", "thread", Side::Right),
            ("function", "function", Side::Left),
            ("what", "what", Side::Left),
            ("t_ns", "entered", Side::Right),
        ],
    );
    for row in &run.summary.in_flight {
        grid.row(vec![
            Cell::of(row.pid.to_string(), row.pid),
            Cell::of(row.tid.to_string(), row.tid),
            Cell::code(&row.function),
            Cell::text(&row.what),
            Cell::time(row.t_ns),
        ]);
    }
    grid
}

fn failures(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "failures",
        "Calls that failed",
        &[
            ("function", "function", Side::Left),
            ("status", "status", Side::Left),
            ("calls", "calls", Side::Sum),
        ],
    );
    for row in &run.summary.failures {
        let status = row.status.map_or("left by an exception".into(), |status| status.to_string());
        grid.row(vec![
            Cell::code(&row.function),
            Cell::text(format!("{status} {}", row.name.unwrap_or_default())),
            Cell::number(row.calls),
        ]);
    }
    grid
}

fn functions(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "functions",
        "Hooked functions",
        &[
            ("function", "function", Side::Left),
            ("library", "library", Side::Left),
            ("state", "state", Side::Left),
            ("calls", "calls", Side::Sum),
            ("points", "intercepted by", Side::Left),
            ("why", "remark", Side::Left),
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
