//! The section on kernels and their families, over the whole run.

use super::grid::Grid;
use maud::{Markup, html};
use rocshim_analysis::{FAMILIES, GRAPHS, KERNELS, Run};

pub(super) fn section(prefix: &str, run: &Run) -> Markup {
    html! {
        (Grid::of(&FAMILIES, &run.summary.families).markup(prefix))
        (Grid::of(&KERNELS, &run.summary.kernels).markup(prefix))
        @if !run.summary.graphs.is_empty() { (Grid::of(&GRAPHS, &run.summary.graphs).markup(prefix)) }
    }
}
