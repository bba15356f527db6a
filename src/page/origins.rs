//! Sections of the page on origins: the code objects that kernels were launched from, kernels of
//! Tensile's fallback library, and a command for each GEMM or convolution that repeats it alone.

use super::{badge::badge, grid::Grid};
use maud::{Markup, html};
use rocshim_analysis::units::{count, counted, time};
use rocshim_analysis::{CODE_OBJECTS, FALLBACK_KERNELS, Run, SWEEPS};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    let fallback = &run.summary.fallback;
    let (used, idle): (Vec<_>, Vec<_>) = run.summary.code_objects.iter().partition(|row| row.launches > 0);
    html! {
        p {
            strong { "Fallback: " }
            @match fallback.kernels.as_slice() { [] => "no launch out of Tensile's fallback library was seen ", _ => "launches out of Tensile's fallback library " }
            (badge(fallback.evidence)) " " (fallback.why)
            @if fallback.unknown > 0 { "; of " (counted(fallback.unknown, "product launch")) " the library is not known" }
            "."
        }
        @if !fallback.kernels.is_empty() { (Grid::of(&FALLBACK_KERNELS, &fallback.kernels).called("fallback", "Launches out of the fallback library").markup(prefix)) }
        p {
            strong { "Loaded is not dispatched: " } "of " (count(run.summary.code_objects.len() as u64)) " code objects that were loaded, kernels of "
            span data-dispatched=(used.len()) { (count(used.len() as u64)) } " were launched."
        }
        (Grid::of(&CODE_OBJECTS, used).called("code_objects", "Code objects dispatched from").markup(prefix))
        details.more { summary { "Code objects that were loaded and never dispatched from" } (Grid::of(&CODE_OBJECTS, idle).called("idle_objects", "Loaded, not dispatched from").markup(prefix)) }
        @if !run.summary.sweeps.is_empty() { (Grid::of(&SWEEPS, &run.summary.sweeps).markup(prefix)) }
    }
}

/// Commands, where there are some.
pub(super) fn replay(run: &Run) -> Option<Markup> {
    let replay = &run.replay;
    (!replay.lines.is_empty() || !replay.without.is_empty()).then(|| {
        html! {
            p { "Each problem as a command for the libraries' own benchmark programs, longest host time first; alpha and beta are not recorded: 1 and 0." }
            @if !replay.lines.is_empty() {
                pre tabindex="0" role="group" aria-label="Commands that run the problems again" data-replay=(replay.lines.len()) {
                    @for row in &replay.lines { "# " (counted(row.calls, "call")) ", " (time(row.total_ns)) "\n" (row.line) "\n" }
                }
            }
            @for row in &replay.without { p.note { "No line for " (counted(row.calls, "call")) " of " (row.why) "." } }
        }
    })
}
