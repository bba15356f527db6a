//! The time on the GPU, as the HIP runtime reported it: phases, kernels, rates, queues.

use super::grid::{Align, Cell, Grid};
use maud::{Markup, html};
use rocshim_analysis::units::time;
use rocshim_analysis::{
    GPU_KERNELS, GPU_PRODUCTS, GPU_QUEUES, GPU_SHARES, GPU_TRANSFERS, GpuTimes, OverlapRow, Phase, Run,
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
    html! {
        @for remark in gpu_remarks(gpu) { p.note { (sentence(&remark)) } }
        @if run.phases.phases.iter().any(|phase| phase.gpu.is_some()) { (phases(&run.phases.phases).markup(prefix)) }
        (Grid::of(&GPU_KERNELS, &gpu.kernels).markup(prefix))
        @for (key, caption, rows) in shares {
            @if !rows.is_empty() { (Grid::of(&GPU_SHARES, rows).called(key, caption).markup(prefix)) }
        }
        @if !gpu.products.is_empty() { (Grid::of(&GPU_PRODUCTS, &gpu.products).markup(prefix)) }
        @if !gpu.transfers.is_empty() { (Grid::of(&GPU_TRANSFERS, &gpu.transfers).markup(prefix)) }
        @if !gpu.queues.is_empty() { (Grid::of(&GPU_QUEUES, &gpu.queues).markup(prefix)) }
        @if !gpu.overlaps.is_empty() { (overlaps(gpu).markup(prefix)) }
    }
}

/// The text with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn phases(phases: &[Phase]) -> Grid {
    let mut grid = Grid::new(
        "gpu_phases",
        "Phases: each from the entry of its first launch to the end of its last command",
        &[
            ("begin_ns", "begin", Align::Right),
            ("request", "request", Align::Right),
            ("name", "phase", Align::Left),
            ("evidence", "evidence", Align::Left),
            ("busy_ns", "busy", Align::Sum),
            ("not_launched_ns", "not launched", Align::Sum),
            ("held_ns", "held", Align::Sum),
            ("span_ns", "to the last command", Align::Right),
            ("busy_per_token_ns", "busy a token", Align::Right),
            ("elapsed_per_token_ns", "elapsed a token", Align::Right),
            ("bound", "bound by", Align::Left),
            ("bound_why", "why", Align::Left),
        ],
    );
    for phase in phases {
        let Some(gpu) = &phase.gpu else { continue };
        let per_token = |ns: Option<f64>| ns.map_or_else(Cell::none, |ns| Cell::time(ns.round() as u64));
        grid.row(vec![
            Cell::time(phase.begin_ns),
            Cell::maybe(phase.request),
            Cell::text(phase.name()),
            Cell::badge(gpu.evidence),
            Cell::time(gpu.busy_ns),
            Cell::time(gpu.not_launched_ns),
            Cell::time(gpu.held_ns),
            Cell::time(gpu.span_ns),
            per_token(gpu.busy_per_token_ns),
            per_token(gpu.elapsed_per_token_ns),
            Cell::text(gpu.bound.map_or_else(|| gpu.bound_evidence.to_string(), |bound| bound.to_string())),
            Cell::text(gpu.bound_why),
        ]);
    }
    grid
}

fn overlaps(gpu: &GpuTimes) -> Grid {
    let mut grid = Grid::new(
        "gpu_overlaps",
        "Queues that were busy at the same time",
        &[
            ("pid", "process", Align::Right),
            ("device", "device", Align::Right),
            ("queues", "queues", Align::Left),
            ("total_ns", "both busy", Align::Sum),
        ],
    );
    for OverlapRow { pid, device, queues: [first, second], total_ns } in &gpu.overlaps {
        grid.row(vec![
            Cell::of(pid.to_string(), pid),
            Cell::of(device.to_string(), device),
            Cell::text(format!("{first} and {second}")),
            Cell::of(time(*total_ns), total_ns),
        ]);
    }
    grid
}
