//! The section on phases: the launches of each phase by kernel family.

use super::{
    badge::badge,
    figure::{Figure, View, colour, label},
    grid::{Align, Cell, Grid},
};
use maud::{Markup, html};
use rocshim_analysis::units::{count, counted, range};
use rocshim_analysis::{Phase, Run};
use rocshim_report::names;
use serde_json::json;
use std::collections::BTreeMap;

pub(super) fn section(prefix: &str, run: &Run) -> Option<Markup> {
    let phases = &run.phases;
    (!phases.phases.is_empty()).then(|| {
        html! {
            (figure(run).markup(prefix))
            (table("kinds", "All phases of a kind together", &phases.kinds).markup(prefix))
            (table("phases", "Phases, in time", &phases.phases).markup(prefix))
            details.more open { summary { "Why each phase was classified so" }
                ul { @for ((kind, why), (evidence, passes)) in rules(run) {
                    li { strong { (kind) } " " (badge(evidence)) " " (why) " (" (counted(passes, "pass")) ")" }
                } }
            }
        }
    })
}

fn rules(run: &Run) -> BTreeMap<(&str, &str), (rocshim_analysis::Evidence, u64)> {
    let mut rules = BTreeMap::new();
    for phase in &run.phases.phases {
        rules.entry((phase.kind.name(), phase.why)).or_insert((phase.evidence, 0)).1 += phase.passes;
    }
    rules
}

/// A family's name, and its number of a colour: that of its place among all.
fn names(kinds: &[Phase]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for family in kinds.iter().flat_map(|kind| &kind.families) {
        let name = names::family(family.of, family.family);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn figure(run: &Run) -> Figure {
    let kinds = &run.phases.kinds;
    let families = names(kinds);
    let titles: Vec<String> = kinds.iter().map(|kind| label(kind.name())).collect();
    let mut data = Vec::new();
    for (at, name) in families.iter().enumerate() {
        let launches: Vec<u64> = kinds
            .iter()
            .map(|kind| {
                let row = kind.families.iter().find(|row| names::family(row.of, row.family) == *name);
                row.map_or(0, |row| row.launches)
            })
            .collect();
        let text: Vec<String> = launches
            .iter()
            .zip(&titles)
            .map(|(launches, kind)| {
                format!("<b>{}</b> in {kind}<br>{}", label(name), counted(*launches, "launch"))
            })
            .collect();
        data.push(json!({
            "type": "bar", "orientation": "h", "name": label(name), "y": titles, "x": launches, "hovertext": text,
            "hoverinfo": "text", "textposition": "none", "marker": { "color": colour(at), "line": { "color": "@ground", "width": 1 } },
        }));
    }
    let legend_rows = families.len().div_ceil(4).max(1);
    let layout = json!({
        "height": 40 * kinds.len().max(2) + 90 + 24 * legend_rows,
        "margin": { "l": 8, "r": 16, "t": 8, "b": 40 },
        "barmode": "stack", "bargap": 0.35, "hovermode": "closest", "dragmode": false,
        "legend": { "orientation": "h", "x": 0, "y": -0.0, "yref": "container", "yanchor": "bottom", "traceorder": "normal" },
        "yaxis": { "type": "category", "autorange": "reversed", "fixedrange": true, "showgrid": false, "ticksuffix": " " },
        "xaxis": { "fixedrange": true },
    });
    let share = json!({ "barnorm": "percent", "xaxis": { "title": { "text": "share of the launches" }, "ticksuffix": " %", "fixedrange": true } });
    let launches = json!({ "xaxis": { "title": { "text": "launches" }, "fixedrange": true } });
    let words: Vec<String> = kinds
        .iter()
        .map(|kind| {
            let most = kind
                .families
                .first()
                .map_or(String::new(), |row| format!(", most of them {}", names::family(row.of, row.family)));
            format!(
                "{}: {} of {}{most}",
                kind.name(),
                counted(kind.launches, "launch"),
                counted(kind.families.len() as u64, "family").replace("familys", "families")
            )
        })
        .collect();
    Figure {
        key: "families",
        title: "Kernel families by phase",
        words: format!("{}.", words.join("; ")),
        note: Some("Families are inferred from the kernels' names.".into()),
        layout,
        views: vec![
            View { name: "Share", data: data.clone(), layout: share },
            View { name: "Launches", data, layout: launches },
        ],
        data: by_kind(kinds),
        narrow: json!({ "height": 40 * kinds.len().max(2) + 120 + 22 * families.len() }),
        zooms: false,
        least_width: 320,
    }
}

fn by_kind(kinds: &[Phase]) -> Grid {
    let mut grid = Grid::new(
        "phase_families",
        "Launches by phase and family",
        &[
            ("phase", "phase", Align::Left),
            ("family", "family", Align::Left),
            ("launches", "launches", Align::Sum),
            ("by_graphs", "by graphs", Align::Sum),
        ],
    );
    for kind in kinds {
        for row in &kind.families {
            grid.row(vec![
                Cell::text(kind.name()),
                Cell::text(names::family(row.of, row.family)),
                Cell::number(row.launches),
                Cell::number(row.by_graphs),
            ]);
        }
    }
    grid
}

fn table(key: &'static str, caption: &str, phases: &[Phase]) -> Grid {
    let mut grid = Grid::new(
        key,
        caption,
        &[
            ("begin_ns", "begin", Align::Right),
            ("pid", "process", Align::Right),
            ("request", "request", Align::Right),
            ("name", "phase", Align::Left),
            ("evidence", "evidence", Align::Left),
            ("passes", "passes", Align::Sum),
            ("columns", "ne11", Align::Left),
            ("tokens", "tokens", Align::Sum),
            ("launches", "launches", Align::Sum),
            ("launches_per_token", "a token", Align::Right),
            ("host_ns", "in calls", Align::Sum),
            ("wait_ns", "waiting", Align::Sum),
            ("between_ns", "between passes", Align::Sum),
            ("products", "products", Align::Left),
        ],
    );
    for phase in phases {
        let products: Vec<String> = phase
            .families
            .iter()
            .filter(|row| row.is_product())
            .map(|row| format!("{} {}", row.family.unwrap_or_default(), count(row.launches)))
            .collect();
        grid.row(vec![
            Cell::time(phase.begin_ns),
            phase.pid.map_or_else(Cell::none, |pid| Cell::of(pid.to_string(), pid)),
            Cell::maybe(phase.request),
            Cell::text(phase.name()),
            Cell::badge(phase.evidence),
            Cell::number(phase.passes),
            Cell::text(columns(phase)),
            Cell::maybe(phase.tokens),
            Cell::number(phase.launches),
            phase
                .launches_per_token
                .map_or_else(Cell::none, |a_token| Cell::of(format!("{a_token:.1}"), a_token)),
            Cell::time(phase.host_ns),
            Cell::time(phase.wait_ns),
            Cell::time(phase.between_ns),
            Cell::text(products.join(", ")),
        ]);
    }
    grid
}

/// `512 x3, 276`.
fn columns(phase: &Phase) -> String {
    let words: Vec<String> = phase
        .columns
        .iter()
        .map(|columns| {
            let range = range(columns.least, columns.most);
            if columns.passes > 1 { format!("{range} ×{}", columns.passes) } else { range }
        })
        .collect();
    match words.len() {
        0 => "–".into(),
        1..=8 => words.join(", "),
        all => format!("{}, … ({all} different)", words[..6].join(", ")),
    }
}
