//! The figure of GEMM shapes: each by its m, n and k, in the colour of its library.

use super::{
    figure::{Figure, View, colour, label, short_label},
    grid::Grid,
    ladder::powers,
};
use rocshim_analysis::units::{counted, time};
use rocshim_analysis::{CallCounts, GEMMS, GemmRow};
use rocshim_report::names::{function, tidy, to_tile};
use serde_json::{Value, json};

/// Sizes of marks in pixels: for the smallest k and the largest.
const MARKS: [f64; 2] = [11.0, 34.0];

/// A kind of GEMM with its m, n and k.
type Point<'a> = (&'a GemmRow, [i64; 3]);

pub(super) fn figure(rows: &[GemmRow]) -> Figure {
    let known: Vec<Point> = rows
        .iter()
        .filter_map(|row| Some((row, [row.problem.m?, row.problem.n?, row.problem.k?])))
        .filter(|(_, sizes)| sizes.iter().all(|size| *size > 0))
        .collect();
    let ks = || known.iter().map(|(_, [.., k])| (*k as f64).ln());
    let span = (ks().fold(f64::INFINITY, f64::min), ks().fold(0.0, f64::max));
    let size = |k: i64| {
        let part = if span.1 > span.0 { ((k as f64).ln() - span.0) / (span.1 - span.0) } else { 0.5 };
        MARKS[0] + (MARKS[1] - MARKS[0]) * part
    };
    let view = |name: &'static str, of: fn(&GemmRow) -> String| {
        let mut groups: Vec<(String, Vec<&Point>)> = Vec::new();
        for row in &known {
            let group = of(row.0);
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((group, vec![row])),
            }
        }
        let trace = |(at, (group, rows)): (usize, &(String, Vec<&Point>))| -> Value {
            json!({
                "type": "scatter", "mode": "markers", "name": short_label(group, 46),
                "x": rows.iter().map(|(_, [_, n, _])| n).collect::<Vec<_>>(),
                "y": rows.iter().map(|(_, [m, ..])| m).collect::<Vec<_>>(),
                "hovertext": rows.iter().map(|(row, sizes)| hover(row, sizes)).collect::<Vec<_>>(), "hoverinfo": "text",
                "marker": {
                    "color": colour(at), "opacity": 0.75, "line": { "color": "@ink", "width": 1 },
                    "size": rows.iter().map(|(_, [.., k])| (size(*k) * 10.0).round() / 10.0).collect::<Vec<_>>(),
                },
            })
        };
        View { name, data: groups.iter().enumerate().map(trace).collect(), layout: json!({}) }
    };
    let largest = known.iter().flat_map(|(_, [m, n, _])| [*m, *n]).max().unwrap_or(1);
    let axis = |text: &str| json!({ "type": "log", "title": { "text": text }, "tickvals": powers(2.0 * largest as f64), "exponentformat": "none" });
    let layout = json!({
        "height": 460, "margin": { "l": 8, "r": 12, "t": 12, "b": 40 }, "hovermode": "closest", "dragmode": "zoom", "showlegend": true,
        "legend": { "orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom", "itemsizing": "constant" },
        "xaxis": axis("n (columns)"), "yaxis": axis("m (rows)"),
    });
    let unknown = rows.len() - known.len();
    let rest = if unknown > 0 {
        format!(" {} without known sizes: in the table.", counted(unknown as u64, "product"))
    } else {
        String::new()
    };
    Figure {
        key: "gemm_map",
        title: "Matrix products by m, n and k",
        words: format!(
            "{} with known sizes as marks: n to the right, m upwards, larger marks for larger k.{rest}",
            counted(known.len() as u64, "kind of product").replace("kind of products", "kinds of product")
        ),
        note: Some(format!(
            "The larger the mark, the larger k (its logarithm).{rest} A kind of product is its function, sizes, types and solution."
        )),
        layout,
        views: vec![
            view("Kernel", |row| kernels_of(&row.counts)),
            view("Solution", solution),
            view("Function", |row| function(&row.function)),
        ],
        data: Grid::of(&GEMMS, known.iter().map(|(row, _)| *row)).called("gemm_marks", "Marks of the map"),
        narrow: json!({}),
        zooms: false,
        least_width: 340,
    }
}

/// The kernels launched inside calls: the first by name, with how many others there are.
fn kernels_of(counts: &CallCounts) -> String {
    let mut names = counts.kernels.iter().map(|inside| {
        let name = inside.demangled.as_deref().unwrap_or(&inside.kernel);
        to_tile(name).map_or_else(|| tidy(name).into_owned(), str::to_string)
    });
    match (names.next(), counts.kernels.len()) {
        (None, _) => "no kernel seen".into(),
        (Some(name), 1) => name,
        (Some(name), all) => format!("{name} and {} more", all - 1),
    }
}

fn solution(row: &GemmRow) -> String {
    match row.problem.solution {
        Some(solution) if solution > 0 => format!("solution {solution}"),
        _ => "the library's choice".into(),
    }
}

fn hover(row: &GemmRow, [m, n, k]: &[i64; 3]) -> String {
    format!(
        "<b>m {m}, n {n}, k {k}</b> {}<br>{}<br>{}, {}<br>{}<br>{}",
        label(&row.problem.types_in_short()),
        label(&function(&row.function)),
        counted(row.counts.calls, "call"),
        time(row.counts.total_ns),
        label(&kernels_of(&row.counts)),
        solution(row),
    )
}
