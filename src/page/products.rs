//! The section on GEMMs and convolutions: their sizes, and the kernels and solvers that computed
//! them.

use super::{
    figure::{Figure, View, colour, label},
    grid::Grid,
    shapes,
};
use maud::{Markup, html};
use rocshim_analysis::units::{count, counted, range};
use rocshim_analysis::{COLUMNS, CONVOLUTIONS, ColumnsRow, GEMMS, MMVQ_COLUMNS, Run, SPANS};
use rocshim_report::names::tidy;
use serde_json::json;
use std::collections::BTreeMap;

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    let summary = &run.summary;
    html! {
        @if !summary.columns.is_empty() { (columns(&summary.columns).markup(prefix)) }
        @if summary.gemms.iter().any(|row| row.problem.m.is_some()) { (shapes::figure(&summary.gemms).markup(prefix)) }
        @if summary.gemms.is_empty() { p data-none="gemms" { "No call of a BLAS library made a matrix product." } }
        @else { (Grid::of(&GEMMS, &summary.gemms).markup(prefix)) }
        @if summary.convolutions.is_empty() { p data-none="convolutions" { "No convolution was asked for, run or searched." } }
        @else { (Grid::of(&CONVOLUTIONS, &summary.convolutions).markup(prefix)) }
        @if !summary.spans.is_empty() { (Grid::of(&SPANS, &summary.spans).markup(prefix)) }
    }
}

/// Renders ggml's matrix multiplications by their columns.
fn columns(rows: &[ColumnsRow]) -> Figure {
    let mut places: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let (place, name) = (range(row.least, row.most), base(row));
        if !places.contains(&place) {
            places.push(place);
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let trace = |(at, name): (usize, &String)| {
        let of = || rows.iter().filter(|row| base(row) == *name);
        // Kernels of one name with equal columns share a bar.
        let mut bars: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        of().for_each(|row| *bars.entry((row.least, row.most)).or_default() += row.launches);
        let places: Vec<String> = bars.keys().map(|(least, most)| range(*least, *most)).collect();
        let hover = |(place, launches): (&String, &u64)| {
            format!("<b>{}</b><br>ne11 {place}: {}", label(name), counted(*launches, "launch"))
        };
        let text: Vec<String> = places.iter().zip(bars.values()).map(hover).collect();
        json!({
            "type": "bar", "name": label(name), "x": places, "y": bars.values().collect::<Vec<_>>(), "hovertext": text, "hoverinfo": "text",
            "text": bars.values().map(|launches| count(*launches)).collect::<Vec<_>>(), "textposition": "outside", "cliponaxis": false,
            "textfont": { "color": "@ink" }, "marker": { "color": colour(at) },
        })
    };
    let data = names.iter().enumerate().map(trace).collect();
    let tallest = rows.iter().map(|row| row.launches).sum::<u64>() as f64;
    let above = rows.iter().filter(|row| row.least > MMVQ_COLUMNS).map(|row| range(row.least, row.most));
    let first_above = above.filter_map(|place| places.iter().position(|known| *known == place)).min();
    let edge = first_above.map_or(places.len() as f64 - 0.5, |at| at as f64 - 0.5);
    let note = |x: f64, anchor: &str, text: &str| json!({ "x": x, "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": anchor, "text": text, "showarrow": false, "font": { "size": 11 } });
    let mut notes = Vec::new();
    if edge > 0.0 {
        notes.push(note(edge - 0.05, "right", "MMVQ zone"));
    }
    if first_above.is_some() {
        notes.push(note(edge + 0.05, "left", "MMQ zone"));
    }
    let layout = json!({
        "height": 340, "margin": { "l": 8, "r": 12, "t": 34, "b": 40 }, "barmode": "group", "bargap": if places.len() < 5 { 0.6 } else { 0.3 },
        "dragmode": false, "hovermode": "closest",
        "legend": { "orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom", "traceorder": "normal" }, "showlegend": true,
        "xaxis": { "type": "category", "categoryorder": "array", "categoryarray": places, "title": { "text": "columns (ne11)" }, "fixedrange": true, "showgrid": false },
        "yaxis": { "type": "log", "title": { "text": "launches (logarithmic)" }, "range": [(0.7_f64).log10(), (tallest * 1.5).log10()], "tickvals": decades(tallest), "fixedrange": true },
        "annotations": notes,
        "shapes": [{ "type": "line", "x0": edge, "x1": edge, "y0": 0, "y1": 1, "yref": "paper", "line": { "color": "@c7", "width": 1.5, "dash": "dash" } }],
    });
    let all: u64 = rows.iter().map(|row| row.launches).sum();
    Figure {
        key: "columns",
        title: "ggml's matrix products by their columns (ne11)",
        words: format!(
            "{} of matrix products of {} different numbers of columns, from {} to {}.",
            counted(all, "launch"),
            count(places.len() as u64),
            places.first().map_or("", String::as_str),
            places.last().map_or("", String::as_str)
        ),
        note: Some(format!(
            "Up to {MMVQ_COLUMNS} columns ggml multiplies quantised weights as vectors (MMVQ), beyond that as matrices (MMQ, or BLAS); the dashed line is between."
        )),
        layout,
        views: View::only(data),
        data: Grid::of(&COLUMNS, rows),
        narrow: json!({}),
        zooms: false,
        least_width: 320,
    }
}

/// 1, 10, 100, … up to `most`.
fn decades(most: f64) -> Vec<u64> {
    (0..19).map(|power| 10_u64.pow(power)).take_while(|value| *value as f64 <= most).collect()
}

/// A kernel's name without template arguments.
fn base(row: &ColumnsRow) -> String {
    let name = tidy(row.demangled.as_deref().unwrap_or(&row.kernel));
    name.split('<').next().unwrap_or_default().to_string()
}
