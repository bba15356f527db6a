//! Renders the page of `rocshim report`: the results of all analyses of one run, or of several runs
//! side by side, in one self-contained HTML file.
//!
//! Layers, lowest first: `badge` (how sure), `grid` (tables), `figure` (what plotly.js draws), then
//! one module for each section: `coverage`, `families`, `glance`, `gpu`, `kernels`, `ladder`,
//! `layers`, `origins`, `ranks`, `shapes`, `products`, `timeline`, `compared`; and `assets`
//! (scripts, styles, and what a browser may run). This crate computes only positions and colours.
//! Names in traces are untrusted text: `maud` escapes every text in HTML, and texts in figures go
//! through `figure::label`.

#![forbid(unsafe_code)]

mod assets;
mod badge;
mod compared;
mod coverage;
mod families;
mod figure;
mod glance;
mod gpu;
mod grid;
mod kernels;
mod ladder;
mod layers;
mod origins;
mod products;
mod ranks;
mod shapes;
mod timeline;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use rocshim_analysis::{Comparison, Run};
use rocshim_trace::file_name;

/// A run that the page shows.
pub struct Shown {
    /// The name of the run, if there are several.
    pub label: Option<String>,
    /// The arguments that named it.
    pub path: String,
    /// The results of its analyses.
    pub run: Run,
}

/// A section of a run: its anchor, its name in the list of contents, and its content.
type Part = (&'static str, &'static str, Markup);

/// Returns a sentence on which times the page shows.
fn clocks(shown: &[Shown]) -> &'static str {
    match shown.iter().any(|one| one.run.summary.gpu.is_some()) {
        true => "times are host times of calls, except those on the GPU where they are called so",
        false => "all times are host times of calls; `rocshim run --gpu-time` records those on the GPU too",
    }
}

/// Returns the whole page.
pub fn page(shown: &[Shown], comparison: Option<&Comparison>) -> String {
    let title = title(shown);
    let runs: Vec<(String, &Shown, Vec<Part>)> = shown
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let prefix = if shown.len() > 1 { format!("run{}-", at + 1) } else { String::new() };
            let parts = parts(&prefix, &one.run);
            (prefix, one, parts)
        })
        .collect();
    let compared = comparison.map(compared::section);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(assets::policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "rocshim " (env!("CARGO_PKG_VERSION")) };
                link rel="icon" href="data:,";
                title { (title) " – rocshim report" }
                style { (PreEscaped(assets::STYLE)) }
            }
            body {
                a.skip href="#content" { "To the content" }
                header.top {
                    h1 { (title) }
                    span.by { "report of rocshim " (env!("CARGO_PKG_VERSION")) "; " (clocks(shown)) }
                    button #theme type="button" { "Theme" }
                }
                div.frame {
                    nav aria-label="Contents" { ul {
                        @if compared.is_some() { li.run { a href="#compare" { "Comparison" } } }
                        @for (prefix, one, parts) in &runs {
                            @if let Some(label) = &one.label { li.run { a href={ "#" (prefix) "run" } { (label) } } }
                            @for (anchor, name, _) in parts { li { a href={ "#" (prefix) (anchor) } { (name) } } }
                        }
                    } }
                    main #content {
                        noscript { p.banner.warn { "Figures, sorting and filters need JavaScript; all numbers are in the tables without it." } }
                        @if let Some(compared) = &compared { section #compare { h2 { "Comparison" } (compared) } }
                        @for (prefix, one, parts) in &runs {
                            div.run {
                                @if let Some(label) = &one.label { h2.name id={ (prefix) "run" } { (label) ": " code { (one.path) } } }
                                @for (anchor, name, part) in parts {
                                    section id={ (prefix) (anchor) } data-section=(anchor) {
                                        h2 { (name) }
                                        (part)
                                    }
                                }
                            }
                        }
                    }
                }
                script { (PreEscaped(assets::plotly())) }
                script { (PreEscaped(assets::SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// Returns the title: what ran, in a line.
fn title(shown: &[Shown]) -> String {
    let mut programs: Vec<&str> = Vec::new();
    for row in shown.iter().flat_map(|one| &one.run.summary.processes) {
        let program = file_name(&row.exe);
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    match programs.as_slice() {
        [] => "no program".into(),
        [first, second, others @ ..] if others.len() > 1 => {
            format!("{first}, {second} and {} more", others.len())
        }
        all => all.join(", "),
    }
}

fn parts(prefix: &str, run: &Run) -> Vec<Part> {
    let parts = [
        ("glance", "At a glance", Some(glance::section(prefix, run))),
        ("ladder", "Server against launches", ladder::section(prefix, run)),
        ("timeline", "Timeline", timeline::section(prefix, run)),
        ("ranks", "Ranks of a job", ranks::section(prefix, run)),
        ("phases", "Phases", families::section(prefix, run)),
        ("kernels", "Kernels", Some(kernels::section(prefix, run))),
        ("gpu", "Time on the GPU", Some(gpu::section(prefix, run))),
        ("products", "Products and convolutions", Some(products::section(prefix, run))),
        ("layers", "Who called whom", Some(layers::section(prefix, run))),
        ("origins", "Code objects, fallback, solvers", Some(origins::section(prefix, run))),
        ("coverage", "What this trace can show", Some(coverage::section(prefix, run))),
        ("replay", "Run it again", origins::replay(run)),
    ];
    parts.into_iter().filter_map(|(anchor, name, part)| Some((anchor, name, part?))).collect()
}

#[cfg(test)]
mod tests;
