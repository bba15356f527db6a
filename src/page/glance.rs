//! The first section: what ran, on which GPU, by which path, with evidence classes, and what was
//! lost.

use super::{
    badge::{badge, legend},
    grid::Grid,
};
use maud::{Markup, html};
use rocshim_analysis::units::{date, time};
use rocshim_analysis::{Answer, JOB_RANKS, LIBRARY_FILES, PROCESSES, Run};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    html! {
        (losses(run))
        dl.cards { @for answer in &run.answers.glance { (card(answer)) } }
        (legend())
        (facts(run))
        @if run.summary.ranks.len() > 1 { (Grid::of(&JOB_RANKS, &run.summary.ranks).markup(prefix)) }
        (Grid::of(&PROCESSES, &run.summary.processes).markup(prefix))
        details.more { summary { "Libraries that the processes had, with their versions" } (Grid::of(&LIBRARY_FILES, &run.environment.libraries).markup(prefix)) }
    }
}

fn card(answer: &Answer) -> Markup {
    html! {
        div.card data-question=(answer.question) {
            dt { span { (answer.question) } (badge(answer.evidence)) }
            dd {
                div.answer { @for line in answer.answer.split("; ") { div { (unbroken(line)) } } }
                div.why { (answer.why) }
            }
        }
    }
}

/// Returns the text with non-breaking blanks inside of numbers.
fn unbroken(text: &str) -> String {
    let mut all: Vec<char> = text.chars().collect();
    for at in 1..all.len().saturating_sub(1) {
        if all[at] == ' ' && all[at - 1].is_ascii_digit() && all[at + 1].is_ascii_digit() {
            all[at] = '\u{a0}';
        }
    }
    all.into_iter().collect()
}

/// Renders the banner about what may be missing.
fn losses(run: &Run) -> Markup {
    let warnings = &run.answers.warnings;
    html! {
        @if warnings.is_empty() {
            div.banner.ok data-banner="ok" { p {
                strong { "Nothing was lost. " } "Every thread's events were recounted, and every hook that was called found the real function."
            } }
        } @else {
            div.banner.warn data-banner="warn" {
                p { strong { "Not everything is known. " } "Statements that this affects are “limited” or “unresolved”:" }
                ul { @for warning in warnings { li { (warning) } } }
            }
        }
    }
}

fn facts(run: &Run) -> Markup {
    let environment = &run.environment;
    let listed = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().join(", ");
    let first = run.summary.processes.iter().map(|row| row.first_ns).min().unwrap_or(0);
    let last = run.summary.processes.iter().map(|row| row.last_ns).max().unwrap_or(0);
    html! {
        dl.facts {
            dt { "Host" } dd { (listed(&mut environment.hosts.iter().cloned())) }
            dt { "Begin" } dd {
                @match environment.first_epoch { Some(epoch) => (date(epoch)), None => "not known" }
                ", first call " (time(first)) " later, last return after " (time(last))
            }
            dt { "GPU" } dd {
                @if environment.devices.is_empty() { "not asked for by the program" }
                @for device in &environment.devices {
                    span { "#" (device.ordinal) " " (device.gfx) " " (device.name) " (reported by " (device.how) ") " }
                }
            }
            dt { "Traced by" } dd { "rocshim " (listed(&mut environment.rocshim.iter().cloned())) ", clock " (listed(&mut environment.clocks.iter().cloned())) }
            @if !environment.environment.is_empty() {
                dt { "Environment" } dd {
                    details { summary { (environment.environment.len()) " variables" }
                        @for (name, values) in &environment.environment {
                            div { code { (name) "=" (listed(&mut values.iter().cloned())) } }
                        }
                    }
                }
            }
        }
    }
}
