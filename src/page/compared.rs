//! The section that compares two or more runs: the tables of `rocshim compare`, and the time of
//! each kernel family by run.

use super::{
    figure::{Figure, View, colour, label},
    grid::Grid,
};
use maud::{Markup, html};
use rocshim_analysis::units::{self, counted, time};
use rocshim_analysis::{
    COMPARED_CONVOLUTIONS, COMPARED_FAMILIES, COMPARED_FUNCTIONS, COMPARED_GEMMS, COMPARED_GPU,
    COMPARED_KERNELS, COMPARED_OBJECTS, COMPARED_RANKS, COMPARED_RUNS, ComparedFamily, ComparedKernel,
    Comparison, FamilyCell, LEAST_EFFECT,
};
use rocshim_report::names;
use serde_json::json;

pub(super) fn section(all: &Comparison) -> Markup {
    let runs = labels(all);
    let kernels = Grid::of_runs(&COMPARED_KERNELS, &all.kernels, &runs);
    let has_times = |row: &&ComparedKernel| row.runs.iter().flatten().any(|cell| cell.gpu_calls > 0);
    let on_gpu = Grid::of_runs(&COMPARED_GPU, all.kernels.iter().filter(has_times), &runs);
    let gemms = Grid::of_runs(&COMPARED_GEMMS, &all.gemms, &runs);
    let convolutions = Grid::of_runs(&COMPARED_CONVOLUTIONS, &all.convolutions, &runs);
    let objects = Grid::of_runs(&COMPARED_OBJECTS, &all.code_objects, &runs);
    let functions = Grid::of_runs(&COMPARED_FUNCTIONS, &all.functions, &runs);
    html! {
        (Grid::of(&COMPARED_RUNS, &all.runs).markup(""))
        @if !all.ranks.is_empty() { (Grid::of_runs(&COMPARED_RANKS, &all.ranks, &runs).called("compared_ranks", "Ranks of the runs").markup("")) }
        (figure(all).markup(""))
        (kernels.called("compared_kernels", "Kernels of the runs").markup(""))
        @if all.runs.iter().any(|run| run.gpu_ns.is_some()) {
            (on_gpu.called("compared_gpu", COMPARED_GPU.title).markup(""))
            @for run in all.runs.iter().filter(|run| run.gpu_ns.is_none()) {
                p.note { "No GPU times of " (run.run) ": `rocshim run --gpu-time` records them." }
            }
        } @else { p.note data-none="compared_gpu" { "No GPU times in these traces: `rocshim run --gpu-time` records them." } }
        @if !all.gemms.is_empty() { (gemms.called("compared_gemms", "GEMMs of the runs").markup("")) }
        @if !all.convolutions.is_empty() { (convolutions.called("compared_convolutions", "Convolutions of the runs").markup("")) }
        @if !all.code_objects.is_empty() { (objects.called("compared_objects", COMPARED_OBJECTS.title).markup("")) }
        @if !all.functions.is_empty() { (functions.called("compared_functions", COMPARED_FUNCTIONS.title).markup("")) }
        p.note { "The first run is the baseline. Whether calls take longer is decided by a Mann-Whitney U test of their durations, with p adjusted for all kernels (Benjamini-Hochberg); below eight calls there are too few, and a median that differs by less than " (LEAST_EFFECT) " is no difference." }
    }
}

fn labels(all: &Comparison) -> Vec<&str> {
    all.runs.iter().map(|run| run.run.as_str()).collect()
}

fn figure(all: &Comparison) -> Figure {
    let names: Vec<String> =
        all.families.iter().map(|row| label(&names::family(row.of, row.family))).collect();
    let view = |name: &'static str, title: &str, of: fn(&FamilyCell) -> u64, entry: fn(u64) -> String| {
        let data = labels(all)
            .iter()
            .enumerate()
            .map(|(at, run)| {
                let values: Vec<u64> =
                    all.families.iter().map(|row| row.runs.get(at).map_or(0, of)).collect();
                let text: Vec<String> = values
                    .iter()
                    .zip(&names)
                    .map(|(value, family)| format!("<b>{family}</b><br>{}: {}", label(run), entry(*value)))
                    .collect();
                json!({
                    "type": "bar", "orientation": "h", "name": label(run), "y": names, "x": values, "hovertext": text, "hoverinfo": "text",
                    "textposition": "none", "marker": { "color": colour(at) },
                })
            })
            .collect();
        View { name, data, layout: json!({ "xaxis": { "title": { "text": title }, "fixedrange": true } }) }
    };
    let changed = changed(all);
    let mut views: Vec<View> = (!changed.is_empty()).then(|| changes(all, &changed)).into_iter().collect();
    views.extend([
        view("Launches", "launches", |cell| cell.launches, |launches| counted(launches, "launch")),
        view("Host time", "host time of launch calls, ns", |cell| cell.total_ns, time),
    ]);
    let layout = json!({
        "height": (16 * all.runs.len() + 14) * names.len().max(2) + 110,
        "margin": { "l": 8, "r": 16, "t": 30, "b": 40 }, "barmode": "group", "bargap": 0.3, "dragmode": false, "hovermode": "closest",
        "legend": { "orientation": "h", "x": 0, "y": 1, "yanchor": "bottom" },
        "yaxis": { "type": "category", "autorange": "reversed", "fixedrange": true, "showgrid": false, "ticksuffix": " " },
        "xaxis": {},
    });
    let words: Vec<String> = all
        .runs
        .iter()
        .map(|run| format!("{}: {}", run.run, counted(run.totals.launches, "launch")))
        .collect();
    Figure {
        key: "compare",
        title: "Kernel families of the runs",
        words: format!(
            "{}, by {} families. {}",
            words.join("; "),
            names.len(),
            if changed.is_empty() { "None has other launches than in the baseline." } else { CHANGED }
        ),
        note: None,
        layout,
        views,
        data: Grid::of_runs(&COMPARED_FAMILIES, &all.families, &labels(all))
            .called("compared_families", "Kernel families of the runs"),
        narrow: json!({}),
        zooms: false,
        least_width: 320,
    }
}

const CHANGED: &str = "The figure begins with the families that have other launches than in the baseline.";

/// Families whose number of launches differs from the baseline's in some run, largest change first.
fn changed(all: &Comparison) -> Vec<&ComparedFamily> {
    let largest = |row: &ComparedFamily| {
        row.versus.iter().flatten().map(|change| change.launches.unsigned_abs()).max().unwrap_or(0)
    };
    let mut rows: Vec<&ComparedFamily> = all.families.iter().filter(|row| largest(row) > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(largest(row)));
    rows
}

/// The view of what differs: launches of each other run more, or fewer, than the baseline's.
fn changes(all: &Comparison, changed: &[&ComparedFamily]) -> View {
    let names: Vec<String> = changed.iter().map(|row| label(&names::family(row.of, row.family))).collect();
    let bars = |(at, run): (usize, &&str)| {
        let change = |row: &&ComparedFamily| row.versus.get(at).map_or(0, |change| change.launches);
        let values: Vec<i64> = changed.iter().map(change).collect();
        let text = |(value, family): (&i64, &String)| {
            format!("<b>{family}</b><br>{}: {}", label(run), units::change(*value, None))
        };
        let text: Vec<String> = values.iter().zip(&names).map(text).collect();
        json!({
            "type": "bar", "orientation": "h", "name": label(run), "y": names, "x": values, "hovertext": text,
            "hoverinfo": "text", "textposition": "none", "marker": { "color": colour(at + 1) },
        })
    };
    let title = format!("launches more than in {}", all.runs[0].run);
    View {
        name: "Change",
        data: labels(all)[1..].iter().enumerate().map(bars).collect(),
        layout: json!({ "xaxis": { "title": { "text": title }, "fixedrange": true } }),
    }
}
