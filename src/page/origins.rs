//! Where kernels came from: code objects, Tensile's fallback library; and the problems as commands
//! that run each again.

use super::{
    badge::badge,
    grid::{Cell, Grid, Side},
};
use maud::{Markup, html};
use rocshim_analysis::Run;
use rocshim_analysis::units::{count, counted, time};
use rocshim_report::sections::{place, targets};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    let fallback = &run.summary.fallback;
    let used = run.summary.code_objects.iter().filter(|row| row.launches > 0).count();
    html! {
        p {
            strong { "Fallback: " }
            @match fallback.kernels.as_slice() { [] => "no launch out of Tensile's fallback library was seen ", _ => "launches out of Tensile's fallback library " }
            (badge(fallback.evidence)) " " (fallback.why)
            @if fallback.unknown > 0 { "; of " (counted(fallback.unknown, "product launch")) " the library is not known" }
            "."
        }
        @if !fallback.kernels.is_empty() { (fallbacks(run).markup(prefix)) }
        p {
            strong { "Loaded is not dispatched: " } "of " (count(run.summary.code_objects.len() as u64)) " code objects that were loaded, kernels of "
            span data-dispatched=(used) { (count(used as u64)) } " were launched."
        }
        (objects(run, true).markup(prefix))
        details.more { summary { "Code objects that were loaded and never dispatched from" } (objects(run, false).markup(prefix)) }
        @if !run.summary.sweeps.is_empty() { (sweeps(run).markup(prefix)) }
    }
}

fn fallbacks(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "fallback",
        "Launches out of the fallback library",
        &[
            ("kernel", "kernel", Side::Left),
            ("launches", "launches", Side::Sum),
            ("file", "file", Side::Left),
            ("evidence", "evidence", Side::Left),
        ],
    );
    for row in &run.summary.fallback.kernels {
        grid.row(vec![
            Cell::kernel(&row.kernel, None),
            Cell::number(row.launches),
            row.file.as_ref().map_or_else(Cell::none, Cell::code),
            Cell::badge(row.evidence),
        ]);
    }
    grid
}

fn objects(run: &Run, dispatched: bool) -> Grid {
    let mut grid = Grid::new(
        if dispatched { "code_objects" } else { "idle_objects" },
        if dispatched { "Code objects dispatched from" } else { "Loaded, not dispatched from" },
        &[
            ("object", "code object", Side::Left),
            ("launches", "launches", Side::Sum),
            ("kernels", "kernels launched", Side::Right),
            ("bytes", "size", Side::Right),
            ("targets", "targets", Side::Left),
            ("fallback", "fallback file", Side::Left),
            ("evidence", "evidence", Side::Left),
            ("path", "file", Side::Left),
        ],
    );
    for row in run.summary.code_objects.iter().filter(|row| (row.launches > 0) == dispatched) {
        let why = row.why.as_ref().or(row.unmatched.as_ref());
        let evidence = html! { (badge(row.evidence)) @if let Some(why) = why { " " (why) } };
        grid.row(vec![
            Cell::code(place(row)),
            Cell::number(row.launches),
            Cell::number(row.kernels),
            Cell::bytes(row.bytes),
            Cell::text(targets(row)),
            Cell::text(match row.fallback {
                Some(true) => "yes",
                Some(false) => "no",
                None => "–",
            }),
            Cell::markup(evidence, row.evidence),
            row.file.as_ref().or(row.path.as_ref()).map_or_else(Cell::none, Cell::code),
        ]);
    }
    grid
}

fn sweeps(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "sweeps",
        "Sweeps through solutions",
        &[
            ("function", "function", Side::Left),
            ("sweeps", "sweeps", Side::Sum),
            ("solutions", "solutions in the largest", Side::Right),
            ("calls", "calls", Side::Sum),
            ("launches", "launches", Side::Sum),
            ("evidence", "evidence", Side::Left),
            ("rule", "rule", Side::Left),
        ],
    );
    for row in &run.summary.sweeps {
        grid.row(vec![
            Cell::code(&row.function),
            Cell::number(row.sweeps),
            Cell::number(row.solutions),
            Cell::number(row.calls),
            Cell::number(row.launches),
            Cell::badge(row.evidence),
            Cell::text(row.rule),
        ]);
    }
    grid
}

/// Commands, where there are some.
pub(super) fn replay(run: &Run) -> Option<Markup> {
    let replay = &run.replay;
    (!replay.lines.is_empty() || !replay.without.is_empty()).then(|| {
        html! {
            p { "Each problem as a command for the libraries' own benchmark programs, longest host time first; alpha and beta are not recorded: 1 and 0." }
            @if !replay.lines.is_empty() {
                pre tabindex="0" role="group" aria-label="Commands that run the problems again" data-replay=(replay.lines.len()) {
                    @for row in &replay.lines { "# " (counted(row.calls, "call")) ", " (time(row.total_ns)) "\n" (row.line) "\n" }
                }
            }
            @for row in &replay.without { p.note { "No line for " (counted(row.calls, "call")) " of " (row.why) "." } }
        }
    })
}
