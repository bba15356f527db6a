//! The comparison of two or more runs.

use super::{
    badge::badge,
    figure::{Figure, View, colour, label},
    grid::{Cell, Grid, Side},
};
use maud::{Markup, html};
use rocshim_analysis::units::{count, counted, time};
use rocshim_analysis::{
    BySide, CallCell, CallChange, Comparison, FamilyCell, KernelChange, Presence, Seen, Speed,
};
use rocshim_report::{
    names::{self, function, tidy},
    sections::{conv_problem, types},
};
use serde_json::json;

pub(super) fn section(all: &Comparison) -> Markup {
    html! {
        (sides(all).markup(""))
        (figure(all).markup(""))
        (kernels(all).markup(""))
        @if !all.gemms.is_empty() { (gemms(all).markup("")) }
        @if !all.convolutions.is_empty() { (convolutions(all).markup("")) }
        @if !all.code_objects.is_empty() { (objects(all).markup("")) }
        @if !all.functions.is_empty() { (functions(all).markup("")) }
        p.note { "The first run is the baseline. Whether calls take longer is decided by a Mann-Whitney U test of their durations, with p adjusted for all kernels (Benjamini-Hochberg); below eight calls there are too few." }
    }
}

fn labels(all: &Comparison) -> Vec<&str> {
    all.sides.iter().map(|side| side.side.as_str()).collect()
}

fn sides(all: &Comparison) -> Grid {
    let mut grid = Grid::new(
        "sides",
        "Runs",
        &[
            ("side", "side", Side::Left),
            ("path", "trace", Side::Left),
            ("launches", "launches", Side::Right),
            ("kernels", "kernels", Side::Right),
            ("gemms", "products of BLAS", Side::Right),
            ("convolutions", "convolutions", Side::Right),
            ("fallback_launches", "fallback launches", Side::Right),
            ("graph_launches", "graph launches", Side::Right),
            ("failed", "failed", Side::Right),
            ("lost", "lost", Side::Right),
            ("total_ns", "host time of launches", Side::Right),
            ("limited", "what it has not", Side::Left),
        ],
    );
    for side in &all.sides {
        let limited = html! {
            @match &side.limited { Some(why) => { span.badge.limited { "limited" } " " (why) }, None => { span.badge.confirmed { "confirmed absent" } } }
        };
        grid.row(vec![
            Cell::text(if side.baseline { format!("{} (baseline)", side.side) } else { side.side.clone() }),
            Cell::code(&side.path),
            Cell::number(side.totals.launches),
            Cell::number(side.totals.kernels),
            Cell::number(side.totals.gemms),
            Cell::number(side.totals.convolutions),
            Cell::number(side.fallback_launches),
            Cell::number(side.totals.graph_launches),
            Cell::number(side.totals.failed),
            Cell::number(side.totals.lost),
            Cell::time(side.total_ns),
            Cell::markup(limited, side.limited.as_deref().unwrap_or("confirmed absent")),
        ]);
    }
    grid
}

fn figure(all: &Comparison) -> Figure {
    let names: Vec<String> =
        all.families.iter().map(|row| label(&names::family(row.of, row.family))).collect();
    let view = |name: &'static str, title: &str, of: fn(&FamilyCell) -> u64, entry: fn(u64) -> String| {
        let data = labels(all)
            .iter()
            .enumerate()
            .map(|(at, side)| {
                let values: Vec<u64> =
                    all.families.iter().map(|row| row.sides.get(at).map_or(0, of)).collect();
                let text: Vec<String> = values
                    .iter()
                    .zip(&names)
                    .map(|(value, family)| format!("<b>{family}</b><br>{}: {}", label(side), entry(*value)))
                    .collect();
                json!({
                    "type": "bar", "orientation": "h", "name": label(side), "y": names, "x": values, "hovertext": text, "hoverinfo": "text",
                    "textposition": "none", "marker": { "color": colour(at) },
                })
            })
            .collect();
        View { name, data, layout: json!({ "xaxis": { "title": { "text": title }, "fixedrange": true } }) }
    };
    let layout = json!({
        "height": (16 * all.sides.len() + 14) * names.len().max(2) + 110,
        "margin": { "l": 8, "r": 16, "t": 30, "b": 40 }, "barmode": "group", "bargap": 0.3, "dragmode": false, "hovermode": "closest",
        "legend": { "orientation": "h", "x": 0, "y": 1, "yanchor": "bottom" },
        "yaxis": { "type": "category", "autorange": "reversed", "fixedrange": true, "showgrid": false, "ticksuffix": " " },
        "xaxis": {},
    });
    let words: Vec<String> = all
        .sides
        .iter()
        .map(|side| format!("{}: {}", side.side, counted(side.totals.launches, "launch")))
        .collect();
    Figure {
        key: "compare",
        title: "Kernel families of the runs",
        words: format!("{}, by {} families.", words.join("; "), names.len()),
        note: None,
        layout,
        views: vec![
            view("Launches", "launches", |cell| cell.launches, |launches| counted(launches, "launch")),
            view("Host time", "host time of launch calls, ns", |cell| cell.total_ns, time),
        ],
        data: families(all),
        narrow: json!({}),
        zooms: false,
        least_width: 320,
    }
}

/// Who has it: for each side but the baseline.
fn seen<'a>(all: &Comparison, presences: impl Iterator<Item = Option<&'a Presence>>) -> Cell {
    let baseline = &all.sides[0].side;
    let mut words = Vec::new();
    for (side, presence) in all.sides[1..].iter().zip(presences) {
        let Some(presence) = presence else { continue };
        let entry = match presence.seen {
            Seen::Both => "both".to_string(),
            Seen::Gone => format!("only {baseline}, not {}", side.side),
            Seen::New => format!("only {}, not {baseline}", side.side),
            Seen::Neither => "neither".to_string(),
        };
        words.push((entry, presence));
    }
    let value: Vec<&str> = words.iter().map(|(entry, _)| entry.as_str()).collect();
    let value = value.join("; ");
    let shown = html! {
        @for (entry, presence) in &words {
            div { (entry) @if presence.seen != Seen::Both { " " (badge(presence.evidence)) @if let Some(why) = &presence.why { " " (why) } } }
        }
    };
    Cell::wide(shown, value)
}

fn each<T>(sides: &BySide<T>, of: impl Fn(&T) -> Cell) -> Vec<Cell> {
    sides.iter().map(|cell| cell.map_or_else(Cell::none, &of)).collect()
}

fn kernels(all: &Comparison) -> Grid {
    let mut grid = Grid::new(
        "compared_kernels",
        "Kernels: launches on each side",
        &[("name", "kernel", Side::Left), ("seen", "who launched it", Side::Left)],
    )
    .sides(&labels(all))
    .then(&[("times", "its calls", Side::Left), ("counterpart", "in its place", Side::Left)]);
    for row in &all.kernels {
        let mut cells = vec![
            Cell::kernel(&row.name, row.demangled.as_deref()),
            seen(all, row.versus.iter().map(|versus| versus.map(|versus| &versus.presence))),
        ];
        cells.extend(each(&row.sides, |cell| Cell::number(cell.launches)));
        let times: Vec<String> = row.versus.iter().flatten().map(speed).collect();
        cells.push(Cell::text(times.join("; ")));
        let counterparts: Vec<_> =
            row.versus.iter().flatten().filter_map(|versus| versus.counterpart.as_ref()).collect();
        let shown = html! {
            @for other in &counterparts {
                div { code { (tidy(other.demangled.as_deref().unwrap_or(&other.name))) } " " (badge(other.evidence)) " " (other.rule) ": " (other.why) }
            }
        };
        cells.push(Cell::markup(
            shown,
            counterparts.iter().map(|other| other.name.as_str()).collect::<Vec<_>>().join(" "),
        ));
        grid.row(cells);
    }
    grid
}

/// Whether calls took longer, and how sure that is.
fn speed(versus: &KernelChange) -> String {
    let entry = match versus.times.speed {
        Speed::Slower => "slower",
        Speed::Faster => "faster",
        Speed::NoDifference => "no difference",
        Speed::TooFewCalls => return "too few calls".into(),
        Speed::NotTimed => return "–".into(),
    };
    let ratio = versus.times.median_ratio.map_or(String::new(), |ratio| format!(", median ×{ratio:.2}"));
    let q = versus.times.q.map_or(String::new(), |q| format!(", q {q:.3}"));
    format!("{entry}{ratio}{q}")
}

fn families(all: &Comparison) -> Grid {
    let mut grid = Grid::new(
        "compared_families",
        "Families: launches on each side",
        &[("family", "family", Side::Left), ("evidence", "evidence", Side::Left)],
    )
    .sides(&labels(all))
    .then(&[("change", "more launches", Side::Left), ("time", "host time", Side::Left)]);
    for row in &all.families {
        let mut cells = vec![Cell::text(names::family(row.of, row.family)), Cell::badge(row.evidence)];
        cells.extend(each(&row.sides, |cell| Cell::number(cell.launches)));
        let changes: Vec<String> = row
            .versus
            .iter()
            .flatten()
            .map(|versus| {
                let ratio = versus.launches_ratio.map_or(String::new(), |ratio| format!(" (×{ratio:.2})"));
                format!("{:+}{ratio}", versus.launches)
            })
            .collect();
        cells.push(Cell::text(changes.join("; ")));
        let times: Vec<String> =
            row.sides.iter().map(|cell| cell.map_or("–".into(), |cell| time(cell.total_ns))).collect();
        cells.push(Cell::text(times.join(" | ")));
        grid.row(cells);
    }
    grid
}

/// What a run did, and by which kernels.
fn call_cell(cell: &CallCell) -> Cell {
    let shown = html! {
        (count(cell.calls))
        @for chosen in &cell.chosen { div.wide { (chosen) } }
        @for (kernel, launches) in &cell.kernels { div.wide { (count(*launches)) " × " code { (rocshim_report::names::to_tile(kernel).unwrap_or(kernel)) } } }
    };
    Cell::markup(shown, cell.calls)
}

fn way(versus: &BySide<CallChange>) -> Cell {
    let changed = |entry: &CallChange| (entry.chosen.changed, entry.kernels.changed);
    let entry: Vec<&str> = versus
        .iter()
        .flatten()
        .map(|versus| match changed(versus) {
            _ if versus.presence.seen != Seen::Both => "–",
            (true, true) => "another solution and other kernels",
            (true, false) => "another solution",
            (false, true) => "other kernels",
            (false, false) => "the same",
        })
        .collect();
    Cell::text(entry.join("; "))
}

fn gemms(all: &Comparison) -> Grid {
    let mut grid = Grid::new(
        "compared_gemms",
        "Matrix products: calls, solutions and kernels of each side",
        &[("problem", "product", Side::Left), ("seen", "who made it", Side::Left)],
    )
    .sides(&labels(all))
    .then(&[("way", "by which kernels", Side::Left)]);
    for row in &all.gemms {
        let size = |size: Option<i64>| size.map_or("?".to_string(), |size| size.to_string());
        let problem = format!(
            "{} m {} n {} k {} {}",
            function(&row.function),
            size(row.problem.m),
            size(row.problem.n),
            size(row.problem.k),
            types(&row.problem.types, &row.problem.compute)
        );
        let mut cells = vec![
            Cell::text(problem),
            seen(all, row.versus.iter().map(|versus| versus.map(|versus| &versus.presence))),
        ];
        cells.extend(each(&row.sides, call_cell));
        cells.push(way(&row.versus));
        grid.row(cells);
    }
    grid
}

fn convolutions(all: &Comparison) -> Grid {
    let mut grid = Grid::new(
        "compared_convolutions",
        "Convolutions: calls, solvers and kernels of each side",
        &[("problem", "convolution", Side::Left), ("seen", "who ran it", Side::Left)],
    )
    .sides(&labels(all))
    .then(&[("way", "by which kernels", Side::Left)]);
    for row in &all.convolutions {
        let mut cells = vec![
            Cell::text(conv_problem(&row.problem)),
            seen(all, row.versus.iter().map(|versus| versus.map(|versus| &versus.presence))),
        ];
        cells.extend(each(&row.sides, call_cell));
        cells.push(way(&row.versus));
        grid.row(cells);
    }
    grid
}

fn objects(all: &Comparison) -> Grid {
    let mut grid = Grid::new(
        "compared_objects",
        "Code objects that not all sides dispatched from",
        &[("object", "code object", Side::Left), ("seen", "who dispatched from it", Side::Left)],
    )
    .sides(&labels(all));
    for row in &all.code_objects {
        let mut cells = vec![Cell::code(&row.object), seen(all, row.versus.iter())];
        cells.extend(each(&row.sides, |launches| Cell::number(*launches)));
        grid.row(cells);
    }
    grid
}

fn functions(all: &Comparison) -> Grid {
    let mut grid = Grid::new(
        "compared_functions",
        "Library functions that not all sides called",
        &[("function", "function", Side::Left), ("seen", "who called it", Side::Left)],
    )
    .sides(&labels(all));
    for row in &all.functions {
        let mut cells = vec![Cell::code(function(&row.function)), seen(all, row.versus.iter())];
        cells.extend(each(&row.sides, |calls| Cell::number(*calls)));
        grid.row(cells);
    }
    grid
}
