//! The section on the ranks of a job: what `rocshim ranks` finds, and each rank's own time in each
//! step.

use super::{
    figure::{Figure, View, label},
    grid::Grid,
};
use maud::{Markup, html};
use rocshim_analysis::units::{counted, time};
use rocshim_analysis::{RANK_FINDINGS, RANKS, Ranks, Run, STRAGGLER_RULE, StepRow};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The most ranks of the figure: those with the longest own time.
const DRAWN: usize = 128;
/// The most steps of the figure: the last ones.
const STEPS: u64 = 256;

pub(super) fn section(prefix: &str, run: &Run) -> Option<Markup> {
    let ranks = run.ranks.as_ref()?;
    Some(html! {
        @if ranks.findings.is_empty() { p.lead { "No rank stands out." } }
        @else { (Grid::of(&RANK_FINDINGS, &ranks.findings).called("rank_findings", "Findings on the ranks").markup(prefix)) }
        @if let Some(figure) = figure(ranks) { (figure.markup(prefix)) }
        @for note in &ranks.notes { p.note { (note) } }
    })
}

/// Ranks × steps; `None` without steps.
fn figure(ranks: &Ranks) -> Option<Figure> {
    let last = ranks.steps.iter().map(|row| row.step).max()?;
    let shown = slowest(ranks);
    let steps: Vec<&StepRow> = ranks.steps.iter().filter(|row| row.step + STEPS > last).collect();
    // Of all ranks, also of those that are not drawn.
    let mut of_step: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    steps.iter().for_each(|row| of_step.entry(row.step).or_default().push(row.time.own_ns));
    let median = |own: &mut Vec<u64>| {
        own.sort_unstable();
        own[(own.len() - 1) / 2].max(1)
    };
    let medians: BTreeMap<u64, u64> = of_step.iter_mut().map(|(step, own)| (*step, median(own))).collect();
    let times: BTreeMap<(u32, u64), &StepRow> =
        steps.iter().map(|row| ((row.rank, row.step), *row)).collect();
    let (mut ratios, mut texts): (Vec<Vec<Option<f64>>>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    for rank in &shown {
        let cells = medians.iter().map(|(step, median)| {
            let row = times.get(&(*rank, *step))?;
            let ratio = row.time.own_ns as f64 / *median as f64;
            let words = format!(
                "rank {rank}, step {step}: {} outside of collectives, {ratio:.2} of the median; {} in them",
                time(row.time.own_ns),
                time(row.time.in_ns)
            );
            Some(((ratio * 1000.0).round() / 1000.0, label(&words)))
        });
        let (of_rank, words) =
            cells.map(|cell| cell.map_or((None, String::new()), |(r, w)| (Some(r), w))).unzip();
        ratios.push(of_rank);
        texts.push(words);
    }
    let names: Vec<String> = shown.iter().map(|rank| format!("rank {rank}")).collect();
    let data = json!({
        "type": "heatmap", "x": medians.keys().collect::<Vec<_>>(), "y": names, "z": ratios,
        "text": texts, "hoverinfo": "text", "xgap": 1, "ygap": 1,
        "zmin": 0.75, "zmax": 1.5, "colorscale": [[0, "@zone-b"], [0.333, "@zone-a"], [1, "@c7"]],
        "colorbar": { "title": { "text": "of median" }, "thickness": 12 },
    });
    let height = 90 + 16 * shown.len().max(6);
    let left = ranks.ranks.len() - shown.len();
    let cut = if left > 0 {
        format!(" {} with shorter times are not drawn.", counted(left as u64, "rank"))
    } else {
        String::new()
    };
    Some(Figure {
        key: "ranks",
        title: "Time outside of collectives, for each rank and step",
        words: format!(
            "{} in {}: each cell is a rank's time outside of collectives in a step, relative to the median rank's of that step.{cut}",
            counted(shown.len() as u64, "rank"),
            counted(medians.len() as u64, "step")
        ),
        note: Some(format!("The others wait for a rank whose row is red. Inferred: {STRAGGLER_RULE}.")),
        layout: json!({
            "height": height, "margin": { "l": 8, "r": 12, "t": 12, "b": 8 }, "dragmode": false,
            "xaxis": { "title": { "text": "step" }, "fixedrange": true, "showgrid": false },
            "yaxis": { "type": "category", "autorange": "reversed", "fixedrange": true, "showgrid": false, "automargin": true },
        }),
        views: View::only(vec![data]),
        data: Grid::of(&RANKS, &ranks.ranks).called("rank_rows", "Ranks"),
        narrow: json!({}),
        zooms: false,
        least_width: 340,
    })
}

/// The ranks that are drawn, by number: where there are too many, those with the longest own times.
fn slowest(ranks: &Ranks) -> Vec<u32> {
    let with_steps: BTreeSet<u32> = ranks.steps.iter().map(|row| row.rank).collect();
    let mut rows: Vec<_> = ranks.ranks.iter().filter(|row| with_steps.contains(&row.rank)).collect();
    rows.sort_by(|a, b| b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)));
    let mut shown: Vec<u32> = rows.iter().take(DRAWN).map(|row| row.rank).collect();
    shown.sort_unstable();
    shown
}
