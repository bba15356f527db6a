//! The library calls that are known by their name.

use super::{calls::launched, label};
use crate::{section::Part, table::Style};
use rocshim_analysis::{SPANS, SpanRow, Summary};

/// The most kernels listed under a call; the others are counted.
const INSIDE: usize = 2;

pub(crate) fn spans(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&SPANS, &summary.spans)
        .grouped(|row| (false, row.library.strip_suffix(".so").unwrap_or(&row.library).to_string()))
        .under(|row| inside(row, style))
        .remark("launches: those seen inside; a library may also launch from a thread of its own")
        .section(style)
}

fn inside(row: &SpanRow, style: &Style) -> Vec<String> {
    let shown = if style.rows.is_some() { INSIDE } else { usize::MAX };
    let kernel = |k: &rocshim_analysis::Inside| launched(k, &label(&k.kernel, k.demangled.as_deref(), style));
    let mut lines: Vec<String> = row.kernels.iter().take(shown).map(kernel).collect();
    if row.kernels.len() > shown {
        lines.push(format!("launched {} more kernels, with --all", row.kernels.len() - shown));
    }
    lines
}
