//! The section of convolutions, and the lines below any library call: the kernels launched inside.

use super::label;
use crate::{section::Part, table::Style};
use rocshim_analysis::units::count;
use rocshim_analysis::{CONVOLUTIONS, CallCounts, ConvRow, Inside, Summary};

/// How sure MIOpen's solvers and their names are.
pub(super) const SOLVER_NAMES: &str = "solver ids: confirmed; their names: inferred, from MIOpen's id table";

/// The most kernels listed under a call; the others are counted.
const INSIDE: usize = 4;

pub(crate) fn convolutions(summary: &Summary, style: &Style) -> Option<String> {
    let has_name =
        |row: &ConvRow| row.solver.is_some() || row.offered.iter().any(|offer| offer.solver.is_some());
    let is_named = summary.convolutions.iter().any(has_name);
    Part::new(&CONVOLUTIONS, &summary.convolutions)
        .grouped(|row| (false, row.problem.in_words()))
        .under(|row| inside(&row.counts, style))
        .remarks(is_named.then(|| SOLVER_NAMES.into()))
        .section(style)
}

/// A kernel's name, and of a Tensile one how it was written, for what, and into how many parts it
/// splits the inner dimension. Of two that look the same then, each has its whole name.
fn what(kernel: &Inside, beside: &[Inside], style: &Style) -> String {
    let name = |kernel: &Inside| label(&kernel.kernel, kernel.demangled.as_deref(), style);
    let Some(tensile) = kernel.tensile.as_ref().filter(|tensile| tensile.is_product()) else {
        return name(kernel);
    };
    let mut words = vec![name(kernel)];
    words.extend(tensile.language.clone());
    words
        .extend(tensile.isa.as_ref().map(|isa| if isa == "any" { "any target".into() } else { isa.clone() }));
    words.extend(tensile.split.filter(|split| *split > 1).map(|split| format!("split {split}")));
    let is_alike = |other: &&Inside| other.tensile.is_some() && name(other) == words[0];
    match beside.iter().filter(is_alike).count() {
        0 | 1 => words.join(" "),
        _ => kernel.kernel.clone(),
    }
}

/// `launched 3, failed to launch 1 x kernel`.
pub(super) fn launched(kernel: &Inside, name: &str) -> String {
    let all_tried = kernel.trials > 0 && kernel.trials == kernel.launches;
    let parts = [
        (kernel.launches, if all_tried { "tried" } else { "launched" }),
        (kernel.captured, "captured into a graph"),
        (kernel.failed, "failed to launch"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!("{what} {}", count(*number))).collect();
    format!("{} x {name}", parts.join(", "))
}

/// The kernels inside, and what is unsure about them.
pub(super) fn inside(counts: &CallCounts, style: &Style) -> Vec<String> {
    let shown = if style.rows.is_some() { INSIDE } else { usize::MAX };
    let mut lines: Vec<String> =
        counts.kernels.iter().take(shown).map(|k| launched(k, &what(k, &counts.kernels, style))).collect();
    if counts.kernels.len() > shown {
        lines.push(format!("launched {} more kernels, with --all", counts.kernels.len() - shown));
    }
    lines.extend(
        (counts.trials > 0).then(|| format!("autotuning trials: {} of the calls", count(counts.trials))),
    );
    lines.extend(counts.why.as_ref().map(|why| format!("{}: {why}", counts.evidence)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_that_failed_is_not_said_to_be_launched() {
        let kernel = |launches, failed, captured, trials| Inside {
            kernel: "k".into(),
            demangled: None,
            launches,
            failed,
            captured,
            trials,
            tensile: None,
        };
        assert_eq!(launched(&kernel(3, 0, 0, 3), "k"), "tried 3 x k");
        assert_eq!(launched(&kernel(0, 2, 0, 0), "k"), "failed to launch 2 x k");
        assert_eq!(
            launched(&kernel(3, 1, 4, 0), "k"),
            "launched 3, captured into a graph 4, failed to launch 1 x k"
        );
    }
}
