//! The layers picture: application, library, HIP, code object, and the calls between them.

use super::{
    figure::{Figure, View, label, short_label},
    grid::Grid,
};
use maud::{Markup, html};
use rocshim_analysis::units::count;
use rocshim_analysis::{EDGES, Edge, Flow, Layer, Node, Run};
use serde_json::{Value, json};

/// Sizes in pixels: space for an incoming arrow, minimum height of a node, gap between two nodes.
const ARROW: f64 = 17.0;
const LEAST: f64 = 30.0;
const BETWEEN: f64 = 12.0;
/// Half of a node's width.
const HALF: f64 = 76.0;

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    html! {
        @if run.flow.edges.is_empty() { p { "No call was seen." } } @else { (figure(&run.flow).markup(prefix)) }
    }
}

/// A node in the figure: the centre of its box, and the positions of its incoming arrows.
struct Spot<'a> {
    node: &'a Node,
    x: f64,
    y: f64,
}

/// Returns the horizontal position of a layer as a fraction of the width.
fn across(layer: Layer) -> f64 {
    match layer {
        Layer::Application => 0.08,
        Layer::Library => 0.34,
        Layer::Hip => 0.62,
        Layer::CodeObject => 0.92,
    }
}

fn incoming<'a>(flow: &'a Flow, node: &'a Node) -> impl Iterator<Item = &'a Edge> {
    flow.edges.iter().filter(move |edge| edge.to == *node)
}

fn height_of(flow: &Flow, node: &Node) -> f64 {
    (incoming(flow, node).count() as f64 * ARROW).max(LEAST) + BETWEEN
}

/// Places the nodes: libraries above HIP, so that calls from the application to HIP cross no
/// library.
fn spots(flow: &Flow) -> (Vec<Spot<'_>>, f64) {
    let column = |layer: Layer| flow.nodes.iter().filter(move |node| node.layer == layer);
    let height = |layer: Layer| column(layer).map(|node| height_of(flow, node)).sum::<f64>();
    let (libraries, hip) = (height(Layer::Library), height(Layer::Hip));
    let whole = (libraries + hip).max(height(Layer::CodeObject)).max(height(Layer::Application)).max(80.0);
    let mut spots = Vec::new();
    for layer in [Layer::Application, Layer::Library, Layer::Hip, Layer::CodeObject] {
        let mut y = match layer {
            Layer::Application | Layer::CodeObject => (whole - height(layer)) / 2.0,
            Layer::Library => 0.0,
            // Below the libraries, centred in the remaining height.
            Layer::Hip => libraries + (whole - libraries - hip) / 2.0,
        };
        for node in column(layer) {
            let height = height_of(flow, node);
            spots.push(Spot { node, x: across(layer), y: y + height / 2.0 });
            y += height;
        }
    }
    (spots, whole)
}

fn figure(flow: &Flow) -> Figure {
    let (spots, whole) = spots(flow);
    let (mut shapes, mut notes): (Vec<Value>, Vec<Value>) = Default::default();
    let most = flow.edges.iter().map(|edge| edge.calls).max().unwrap_or(1);
    for spot in &spots {
        let mut arrows: Vec<&Edge> = incoming(flow, spot.node).collect();
        let from = |edge: &Edge| spots.iter().find(|spot| *spot.node == edge.from);
        arrows.sort_by(|a, b| {
            from(a).map_or(0.0, |spot| spot.y).total_cmp(&from(b).map_or(0.0, |spot| spot.y))
        });
        let first = spot.y - (arrows.len() as f64 - 1.0) * ARROW / 2.0;
        for (at, edge) in arrows.into_iter().enumerate() {
            let Some(from) = from(edge) else { continue };
            let y = first + at as f64 * ARROW;
            let width = 1.0 + 4.0 * (edge.calls as f64).ln_1p() / (most as f64).ln_1p();
            let bend = if from.x < spot.x { (spot.x - from.x - 0.06) / 2.0 } else { -0.2 };
            shapes.push(json!({
                "type": "path", "layer": "below", "opacity": 0.55, "line": { "color": "@c0", "width": (width * 10.0).round() / 10.0 },
                "path": format!("M {:.3} {:.1} C {:.3} {:.1} {:.3} {y:.1} {:.3} {y:.1}", from.x, from.y, from.x + bend, from.y, spot.x - 0.12 - bend.abs() / 2.0, spot.x - 0.12),
            }));
            notes.push(json!({
                "x": spot.x, "y": y, "ax": -30, "ay": 0, "axref": "pixel", "ayref": "pixel", "text": "", "showarrow": true, "arrowhead": 2,
                "arrowsize": 1, "arrowwidth": 1.6, "arrowcolor": "@c0", "xshift": -HALF,
            }));
            notes.push(json!({
                "x": spot.x, "y": y, "xshift": -HALF - 30.0, "xanchor": "right", "yanchor": "middle", "showarrow": false, "borderpad": 1,
                "text": count(edge.calls), "font": { "size": 11 }, "bgcolor": "@ground",
                "hovertext": format!("{} → {}: {}", label(&edge.from.name), label(&edge.to.name), count(edge.calls)),
            }));
        }
    }
    for spot in &spots {
        notes.push(json!({
            "x": spot.x, "y": spot.y, "showarrow": false, "width": 2.0 * HALF - 12.0, "borderpad": 5, "borderwidth": 1, "bordercolor": "@muted",
            "bgcolor": "@raised", "height": (incoming(flow, spot.node).count() as f64 * ARROW).max(LEAST) - 12.0, "font": { "size": 11.5 },
            "text": short_label(&spot.node.name, 20), "hovertext": label(&spot.node.name), "captureevents": true,
        }));
    }
    for layer in [Layer::Application, Layer::Library, Layer::Hip, Layer::CodeObject] {
        notes.push(json!({ "x": across(layer), "y": -18, "showarrow": false, "text": format!("<b>{}</b>", layer.name()) }));
        if layer == Layer::Library && !spots.iter().any(|spot| spot.node.layer == layer) {
            notes.push(json!({ "x": across(layer), "y": 14, "showarrow": false, "text": "none was called", "font": { "color": "@muted" } }));
        }
    }
    let layout = json!({
        "height": whole + 60.0, "margin": { "l": 4, "r": 4, "t": 4, "b": 8 }, "dragmode": false, "hovermode": "closest", "showlegend": false,
        "xaxis": { "range": [0, 1], "visible": false, "fixedrange": true },
        "yaxis": { "range": [whole + 4.0, -34], "visible": false, "fixedrange": true },
        "shapes": shapes, "annotations": notes,
    });
    // Without a data trace plotly.js draws no axes for the shapes.
    let data = vec![
        json!({ "type": "scatter", "x": [0, 1], "y": [0, whole], "mode": "markers", "marker": { "opacity": 0, "color": "@c0" }, "hoverinfo": "skip" }),
    ];
    let merged = if flow.merged > 0 {
        format!(" {} nodes with fewest calls of a layer share a box.", count(flow.merged))
    } else {
        String::new()
    };
    let strongest = flow.edges.iter().max_by_key(|edge| edge.calls);
    Figure {
        key: "layers",
        title: "Application → library → HIP → code object",
        words: strongest.map_or(String::new(), |edge| {
            format!(
                "{} arrows; the most calls, {}, went from {} to {}.",
                count(flow.edges.len() as u64),
                count(edge.calls),
                edge.from.name,
                edge.to.name
            )
        }),
        note: Some(format!(
            "Each arrow has its number of calls that make an event (to a code object: of executed launches); the caller is the call that encloses it.{merged}"
        )),
        layout,
        views: View::only(data),
        data: Grid::of(&EDGES, &flow.edges),
        narrow: json!({}),
        zooms: false,
        least_width: 900,
    }
}
