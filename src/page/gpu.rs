//! The section on GPU times, as the HIP runtime reported them: phases, kernels, rates, queues.

use super::grid::Grid;
use maud::{Markup, html};
use rocshim_analysis::{
    GPU_KERNELS, GPU_OVERLAPS, GPU_PHASES, GPU_PRODUCTS, GPU_QUEUES, GPU_SHARES, GPU_TRANSFERS, Run,
};
use rocshim_report::{MISSING_GPU_TIMES, gpu_remarks};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    let Some(gpu) = &run.summary.gpu else {
        return html! { p data-none="gpu" { (sentence(MISSING_GPU_TIMES)) } };
    };
    let shares = [
        ("gpu_families", "The kernels' time by family", &gpu.families),
        (
            "gpu_code_objects",
            "The kernels' time by code object; those of graphs are under their graph",
            &gpu.code_objects,
        ),
        ("gpu_graphs", "The kernels' time by graph", &gpu.graphs),
    ];
    let timed = run.phases.phases.iter().filter(|phase| phase.gpu.is_some());
    html! {
        @for remark in gpu_remarks(gpu) { p.note { (sentence(&remark)) } }
        @if timed.clone().next().is_some() { (Grid::of(&GPU_PHASES, timed).markup(prefix)) }
        (Grid::of(&GPU_KERNELS, &gpu.kernels).markup(prefix))
        @for (key, caption, rows) in shares {
            @if !rows.is_empty() { (Grid::of(&GPU_SHARES, rows).called(key, caption).markup(prefix)) }
        }
        @if !gpu.products.is_empty() { (Grid::of(&GPU_PRODUCTS, &gpu.products).markup(prefix)) }
        @if !gpu.transfers.is_empty() { (Grid::of(&GPU_TRANSFERS, &gpu.transfers).markup(prefix)) }
        @if !gpu.queues.is_empty() { (Grid::of(&GPU_QUEUES, &gpu.queues).markup(prefix)) }
        @if !gpu.overlaps.is_empty() { (Grid::of(&GPU_OVERLAPS, &gpu.overlaps).markup(prefix)) }
    }
}

/// Returns the text as a sentence: with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
