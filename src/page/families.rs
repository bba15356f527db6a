//! The section on phases: the launches of each phase by kernel family.

use super::{
    figure::{Figure, View, colour, label},
    grid::Grid,
};
use maud::{Markup, html};
use rocshim_analysis::units::counted;
use rocshim_analysis::{FAMILIES_BY_KIND, KIND_RULES, PHASES, Phase, Run};
use rocshim_report::names;
use serde_json::json;

pub(super) fn section(prefix: &str, run: &Run) -> Option<Markup> {
    let phases = &run.phases;
    (!phases.phases.is_empty()).then(|| {
        html! {
            (figure(run).markup(prefix))
            (Grid::of(&PHASES, &phases.kinds).called("kinds", "All phases of a kind together").markup(prefix))
            (Grid::of(&PHASES, &phases.phases).markup(prefix))
            (Grid::of(&KIND_RULES, &phases.kind_rules()).markup(prefix))
        }
    })
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
    let kind_names: Vec<&str> = kinds.iter().map(Phase::name).collect();
    let titles: Vec<String> = kind_names.iter().map(|kind| label(kind)).collect();
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
        data: Grid::of_runs(&FAMILIES_BY_KIND, &run.phases.families_by_kind(), &kind_names),
        narrow: json!({ "height": 40 * kinds.len().max(2) + 120 + 22 * families.len() }),
        zooms: false,
        least_width: 320,
    }
}
