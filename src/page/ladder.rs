//! The section on a server's requests: the tokens reported for each, and the columns launched for
//! it.

use super::{
    figure::{Figure, View, label},
    grid::Grid,
};
use maud::{Markup, html};
use rocshim_analysis::units::counted;
use rocshim_analysis::{Chunk, Claim, MMVQ_COLUMNS, Proxy, ProxyRequest, REQUESTS, Run, STATED_TIMES};
use rocshim_report::{NO_PROXY_TIMES, proxy_tally};
use serde_json::{Value, json};

pub(super) fn section(prefix: &str, run: &Run) -> Option<Markup> {
    let proxy = run.proxy.as_ref()?;
    Some(html! {
        p.lead data-tally {
            (counted(proxy.requests.len() as u64, "request")) ". "
            @for (what, of) in STATEMENTS { strong { (what) ": " } (proxy_tally(proxy, of)) ". " }
        }
        (figure(proxy).markup(prefix))
        (Grid::of(&REQUESTS, &proxy.requests).markup(prefix))
        @if !proxy.others.is_empty() {
            p.note { "Passes in the time of no request: "
                (proxy.others.iter().map(|(kind, passes)| format!("{} {kind}", counted(*passes, "pass"))).collect::<Vec<_>>().join(", ")) "." }
        }
        @if proxy.requests.iter().any(|row| row.times.is_some()) { (Grid::of(&STATED_TIMES, &proxy.stated_times()).markup(prefix)) }
        @else { p.note data-none="proxy_times" { (NO_PROXY_TIMES) } }
        @for note in &proxy.notes { p.note { (note) } }
    })
}

type Statement = fn(&ProxyRequest) -> &Claim;

/// The statements about every request.
const STATEMENTS: [(&str, Statement); 3] =
    [("Prompt", |row| &row.prompt), ("Path", |row| &row.path), ("Generated", |row| &row.generated)];

/// `8 tokens, cold`; with its number where it has no name or another one has the same.
fn name(row: &ProxyRequest, all: &[ProxyRequest]) -> String {
    let of = |row: &ProxyRequest| row.response.label.clone();
    match of(row) {
        Some(label) if all.iter().filter(|other| of(other).as_ref() == Some(&label)).count() == 1 => label,
        Some(label) => format!("{label} #{}", row.response.number),
        None => format!("request #{}", row.response.number),
    }
}

fn figure(proxy: &Proxy) -> Figure {
    let names: Vec<String> = proxy.requests.iter().map(|row| label(&name(row, &proxy.requests))).collect();
    let said: Vec<Option<u64>> = proxy.requests.iter().map(|row| row.response.prompt_tokens).collect();
    let seen: Vec<Option<Chunk>> = proxy.requests.iter().map(ProxyRequest::columns).collect();
    let largest = said
        .iter()
        .flatten()
        .chain(seen.iter().flatten().map(|chunk| &chunk.most))
        .max()
        .copied()
        .unwrap_or(1);
    let mut data = vec![links(&names, &said, &seen), server(proxy, &names, &said)];
    let outcomes = [
        ("confirmed", "@c2", "circle"),
        ("contradicted", "@c7", "x"),
        ("inferred", "@c0", "diamond"),
        ("limited", "@c5", "triangle-up"),
        ("unresolved", "@c4", "circle-open"),
    ];
    let outcome_of = |at: usize| proxy.requests[at].prompt.verdict;
    for (word, colour, symbol) in outcomes {
        let of: Vec<usize> = (0..names.len()).filter(|at| outcome_of(*at).word() == word).collect();
        let Some(outcome) = of.first().map(|at| outcome_of(*at)) else { continue };
        if of.iter().all(|at| seen[*at].is_none()) {
            continue;
        }
        data.push(json!({
            "type": "scatter", "mode": "markers", "name": format!("launched, {outcome}"),
            "x": of.iter().map(|at| &names[*at]).collect::<Vec<_>>(),
            "y": of.iter().map(|at| seen[*at].map(|chunk| chunk.most)).collect::<Vec<_>>(),
            "error_y": {
                "type": "data", "symmetric": false, "thickness": 1.5, "color": colour,
                "array": of.iter().map(|_| 0).collect::<Vec<_>>(),
                "arrayminus": of.iter().map(|at| seen[*at].map_or(0, |chunk| chunk.most - chunk.least)).collect::<Vec<_>>(),
            },
            "hovertext": of.iter().map(|at| hover(&proxy.requests[*at])).collect::<Vec<_>>(), "hoverinfo": "text",
            "marker": { "color": colour, "symbol": symbol, "size": 10 },
        }));
    }
    let edge = MMVQ_COLUMNS as f64 + 0.5;
    let top = (largest as f64 * 1.8).max(16.0);
    let zone = |y0: f64, y1: f64, colour: &str| json!({ "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": y0, "y1": y1, "fillcolor": colour, "line": { "width": 0 }, "layer": "below" });
    let line = json!({ "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": edge, "y1": edge, "line": { "color": "@c7", "width": 1.5, "dash": "dash" } });
    let note = |y: f64, text: &str, anchor: &str| json!({ "xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": y, "yanchor": anchor, "text": text, "showarrow": false, "font": { "size": 11 } });
    let layout = json!({
        "height": 460, "margin": { "l": 8, "r": 12, "t": 34, "b": 8 }, "hovermode": "closest", "dragmode": false,
        "legend": { "orientation": "h", "x": 0, "y": 1, "yanchor": "bottom" },
        "xaxis": { "type": "category", "categoryorder": "array", "categoryarray": names, "tickangle": -45, "fixedrange": true, "showgrid": false },
        "yaxis": { "type": "log", "title": { "text": "tokens, columns (ne11)" }, "range": [(0.45_f64).log10(), top.log10()], "tickvals": powers(top), "fixedrange": true },
        "shapes": [zone(0.1, edge, "@zone-a"), zone(edge, 1e9, "@zone-b"), line],
        "annotations": [
            note(0.0, &format!("MMVQ: up to {MMVQ_COLUMNS} columns"), "bottom"),
            note(1.0, &format!("MMQ: from {} columns on", MMVQ_COLUMNS + 1), "top"),
        ],
    });
    Figure {
        key: "ladder",
        title: "Tokens evaluated as reported by the server, and columns launched",
        words: format!(
            "{}: rings are the prompt tokens that the server counts, filled marks the columns (ne11) that were launched, in the colour and shape of the verdict. Prompt: {}.",
            counted(proxy.requests.len() as u64, "request"),
            proxy_tally(proxy, |row| &row.prompt)
        ),
        note: Some("A mark within its ring: the server's number is what was launched. A line between them: it is not.".into()),
        layout,
        views: View::only(data),
        data: Grid::of(&REQUESTS, &proxy.requests).called("ladder_marks", "Marks of the ladder"),
        narrow: json!({}),
        zooms: false,
        least_width: (names.len() as u32 * 26).clamp(340, 1_400),
    }
}

/// 1, 2, 4, … up to `most`.
pub(super) fn powers(most: f64) -> Vec<u64> {
    (0..40).map(|power| 1 << power).take_while(|value| *value as f64 <= most).collect()
}

/// Returns lines from the reported to the launched numbers.
fn links(names: &[String], said: &[Option<u64>], seen: &[Option<Chunk>]) -> Value {
    let (mut x, mut y): (Vec<Value>, Vec<Value>) = Default::default();
    for ((name, said), seen) in names.iter().zip(said).zip(seen) {
        if let (Some(said), Some(chunk)) = (said, seen) {
            x.extend([json!(name), json!(name), Value::Null]);
            y.extend([json!(said), json!(chunk.most), Value::Null]);
        }
    }
    json!({ "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip", "showlegend": false, "line": { "color": "@muted", "width": 1.5 } })
}

fn server(proxy: &Proxy, names: &[String], said: &[Option<u64>]) -> Value {
    json!({
        "type": "scatter", "mode": "markers", "name": "reported by the server", "x": names, "y": said,
        "hovertext": proxy.requests.iter().map(hover).collect::<Vec<_>>(), "hoverinfo": "text",
        "marker": { "color": "@ink", "symbol": "circle-open", "size": 17, "line": { "width": 1.6 } },
    })
}

fn hover(row: &ProxyRequest) -> String {
    let claim = |what: &str, claim: &Claim| {
        format!(
            "{what}: {} reported, {} launched, <b>{}</b><br>{}",
            label(&claim.reported),
            label(&claim.observed),
            claim.verdict,
            label(&claim.why)
        )
    };
    format!(
        "<b>{}</b><br>{}<br>{}",
        label(row.response.label.as_deref().unwrap_or("request")),
        claim("prompt", &row.prompt),
        claim("path", &row.path)
    )
}
