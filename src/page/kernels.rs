//! Kernels and their families, over the whole run.

use super::grid::{Cell, Grid, Side};
use maud::{Markup, html};
use rocshim_analysis::Run;
use rocshim_analysis::units::dims;
use rocshim_report::names;

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    html! {
        (families(run).markup(prefix))
        (kernels(run).markup(prefix))
        @if !run.summary.graphs.is_empty() { (graphs(run).markup(prefix)) }
    }
}

fn families(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "families",
        "Families of kernels",
        &[
            ("family", "family", Side::Left),
            ("what", "what it does", Side::Left),
            ("evidence", "evidence", Side::Left),
            ("kernels", "kernels", Side::Right),
            ("launches", "launches", Side::Sum),
            ("by_graphs", "by graphs", Side::Sum),
            ("failed", "failed", Side::Sum),
            ("total_ns", "host time", Side::Sum),
            ("share", "share", Side::Right),
        ],
    );
    for row in &run.summary.families {
        grid.row(vec![
            Cell::text(names::family(row.of, row.family)),
            Cell::text(row.what.unwrap_or_default()),
            Cell::badge(row.evidence),
            Cell::number(row.kernels),
            Cell::number(row.launches),
            Cell::number(row.by_graphs),
            Cell::number(row.failed),
            Cell::time(row.total_ns),
            Cell::share(row.share),
        ]);
    }
    grid
}

fn kernels(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "kernels",
        "Kernels",
        &[
            ("name", "kernel", Side::Left),
            ("launches", "launches", Side::Sum),
            ("by_graphs", "by graphs", Side::Sum),
            ("captured", "into graphs", Side::Sum),
            ("failed", "failed", Side::Sum),
            ("total_ns", "host time", Side::Sum),
            ("share", "share", Side::Right),
            ("shape", "grid × block", Side::Left),
            ("first_ns", "first", Side::Right),
            ("last_ns", "last", Side::Right),
        ],
    );
    for row in &run.summary.kernels {
        let others = if row.shapes > 1 { format!(" +{}", row.shapes - 1) } else { String::new() };
        grid.row(vec![
            Cell::kernel(&row.name, row.demangled.as_deref()),
            Cell::number(row.launches),
            Cell::number(row.by_graphs),
            Cell::number(row.captured),
            Cell::number(row.failed),
            Cell::time(row.total_ns),
            Cell::share(row.share),
            Cell::text(format!("{} × {}{others}", dims(row.shape.grid), dims(row.shape.block))),
            row.first_ns.map_or_else(Cell::none, Cell::time),
            row.last_ns.map_or_else(Cell::none, Cell::time),
        ]);
    }
    grid
}

fn graphs(run: &Run) -> Grid {
    let mut grid = Grid::new(
        "graphs",
        "Graphs that were launched",
        &[
            ("pid", "process", Side::Right),
            ("graph", "graph", Side::Right),
            ("launches", "launches of it", Side::Sum),
            ("kernels", "kernels in each", Side::Right),
            ("executed", "kernels executed", Side::Sum),
            ("total_ns", "host time", Side::Sum),
            ("evidence", "evidence", Side::Left),
            ("why", "why", Side::Left),
        ],
    );
    for row in &run.summary.graphs {
        grid.row(vec![
            Cell::of(row.pid.to_string(), row.pid),
            Cell::maybe(row.graph.map(u64::from)),
            Cell::number(row.launches),
            Cell::number(row.kernels),
            Cell::number(row.executed),
            Cell::time(row.total_ns),
            Cell::badge(row.evidence),
            Cell::text(row.why.as_deref().unwrap_or("the runtime listed them")),
        ]);
    }
    grid
}
